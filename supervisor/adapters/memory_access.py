"""Principals and denied tries, in memory."""

from collections.abc import Sequence

from supervisor.adapters.memory_rows import Tables
from supervisor.core.access import DeniedTry, Principal
from supervisor.ports_access import DENIED_KEPT


class MemoryAccess:
    """See `ports_access.Access`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.principals
        self._denied = tables.denied

    def add(self, principal: Principal) -> bool:
        """Insert; False, changing nothing, if the name was ever used."""
        if principal.name in self._rows:
            return False
        self._rows.put(principal.name, principal)
        return True

    def get(self, name: str) -> Principal | None:
        """Return one, revoked ones too."""
        return self._rows.get_row(name)

    def all(self) -> list[Principal]:
        """Return every one, by name."""
        return [self._rows[name] for name in sorted(self._rows)]

    def put(self, principal: Principal) -> bool:
        """Replace the row of this name if its version is the one before; else change nothing."""
        before = self._rows.get_row(principal.name)
        if before is None or before.version != principal.version - 1:
            return False
        self._rows.put(principal.name, principal)
        return True

    def deny(self, tries: Sequence[DeniedTry]) -> None:
        """Append, and delete all but the newest 10,000."""
        newest = max(self._denied, default=0)
        for each in tries:
            newest += 1
            self._denied.put(newest, each)
        for old in [each for each in self._denied if each <= newest - DENIED_KEPT]:
            self._denied.drop(old)

    def denied(self, limit: int) -> list[DeniedTry]:
        """Return the newest first."""
        return [self._denied[number] for number in sorted(self._denied, reverse=True)[:limit]]
