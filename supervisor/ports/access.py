"""Ports of access control: principals, denied tries and password hashing."""

from collections.abc import Sequence
from typing import Protocol

from supervisor.core.values.permissions import DeniedTry, Principal

DENIED_KEPT = 10_000
"""Denied tries that are kept; older ones are deleted."""


class Access(Protocol):
    """Principals and denied tries; any process may write these rows, not only the leader."""

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
