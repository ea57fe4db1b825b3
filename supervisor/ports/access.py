"""What the control of access needs: rows of principals and of denied tries, and passwords."""

from collections.abc import Sequence
from typing import Protocol

from supervisor.core.values.permissions import DeniedTry, Principal

DENIED_KEPT = 10_000
"""Denied tries that are kept; older ones are deleted."""


class Access(Protocol):
    """Principals and denied tries; not a leader's rows: any process may write them."""

    def add(self, principal: Principal) -> bool:
        """Insert; False, changing nothing, if the name was ever used."""
        ...

    def get(self, name: str) -> Principal | None:
        """Return one, revoked ones too."""
        ...

    def all(self) -> list[Principal]:
        """Return every one, by name."""
        ...

    def put(self, principal: Principal) -> bool:
        """Replace the row of this name if its version is the one before; else change nothing."""
        ...

    def deny(self, tries: Sequence[DeniedTry]) -> None:
        """Append, and delete all but the newest 10,000."""
        ...

    def denied(self, limit: int) -> list[DeniedTry]:
        """Return the newest first."""
        ...


class Passwords(Protocol):
    """Hashes passwords slowly, on purpose; a call takes a processor for a while."""

    def hash(self, password: str) -> str:
        """Return a text that holds parameters, salt and hash."""
        ...

    def verify(self, secret: str, password: str) -> bool:
        """Tell whether this is the password of a text that `hash` made."""
        ...
