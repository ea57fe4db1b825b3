"""Ports of access control: principals, sessions, denied tries and password hashing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.values.permissions import DeniedTry, Principal
from supervisor.core.values.sessions import Session

DENIED_KEPT = 10_000
"""Denied tries that are kept; older ones are deleted."""


class Access(Protocol):
    """Principals, sessions and denied tries; any process may write these, not only the leader."""

    def add(self, principal: Principal) -> bool:
        """Insert a principal; False, changing nothing, if the name was ever used."""
        ...

    def get(self, name: str) -> Principal | None:
        """Return one principal, revoked or not."""
        ...

    def all(self) -> list[Principal]:
        """Return every principal, by name."""
        ...

    def put(self, principal: Principal) -> bool:
        """Replace the principal if the stored version is one lower; else change nothing.

        The result says whether the row was replaced.
        """
        ...

    def begin_session(self, session: Session, most: int) -> None:
        """Insert a session, and delete those of its principal beyond the `most` used last."""
        ...

    def session(self, digest: str) -> Session | None:
        """Return one session, ended or not."""
        ...

    def use_session(self, digest: str, now: datetime) -> None:
        """Store that a session was used, unless a later use is stored; a missing one stays so."""
        ...

    def end_session(self, digest: str) -> bool:
        """Delete a session; False: there was none."""
        ...

    def delete_sessions(self, used_before: datetime, begun_before: datetime, limit: int) -> int:
        """Delete sessions that were used last, or begun, before a time; return how many."""
        ...

    def deny(self, tries: Sequence[DeniedTry]) -> None:
        """Append denied tries, and delete all but the newest 10,000."""
        ...

    def denied(self, limit: int) -> list[DeniedTry]:
        """Return denied tries, newest first."""
        ...


class Passwords(Protocol):
    """A password hash that is slow on purpose: one call occupies a processor for a while."""

    def hash(self, password: str) -> str:
        """Return a text that holds parameters, salt and hash."""
        ...

    def verify(self, secret: str, password: str) -> bool:
        """Return whether `secret`, a result of `hash`, belongs to this password."""
        ...
