"""Spec versions in memory."""

import importlib.metadata
from datetime import datetime

from supervisor.adapters.memory_rows import Tables
from supervisor.core.errors import SpecUnreadable, StateMoved
from supervisor.core.happenings import spec_told
from supervisor.core.model import SpecVersion
from supervisor.core.spec import SupervisorSpec
from supervisor.ports_happenings import Tell

RELEASE = importlib.metadata.version("tidegate")


class MemorySpecs:
    """See `ports.Specs`."""

    def __init__(self, tables: Tables, tell: Tell) -> None:
        self._rows = tables.specs
        self._tell = tell

    def append(
        self,
        supervisor_id: str,
        spec: SupervisorSpec | None,
        now: datetime,
        author: str,
        *,
        after: int | None = None,
    ) -> SpecVersion:
        """Add the next version (None: a tombstone) and return it.

        Raises:
            StateMoved: the newest version is not `after` (0: there is none); nothing is added.
        """
        before = self._rows.get_row(supervisor_id) or ()
        newest = before[-1].version if before else 0
        if after not in {None, newest}:
            raise StateMoved(f"{supervisor_id} has version {newest}, not {after}")
        added = SpecVersion(supervisor_id, newest + 1, now, spec, author, RELEASE)
        self._rows.put(supervisor_id, (*before, added))
        was = before[-1].spec if before else None
        told = spec_told(
            added, before=was is not None, was_suspended=was is not None and was.suspended
        )
        self._tell(told)
        return added

    def newest(self, supervisor_id: str) -> SpecVersion | None:
        """Return the newest version, tombstones included; None if the id was never used."""
        versions = self._rows.get_row(supervisor_id)
        return versions[-1] if versions else None

    def newest_stored(self, supervisor_id: str) -> SpecVersion | SpecUnreadable | None:
        """Return as `newest`: what is in memory, this release has written."""
        return self.newest(supervisor_id)

    def version(self, supervisor_id: str, version: int) -> SpecVersion | None:
        """Return one version."""
        versions = self._rows.get_row(supervisor_id) or ()
        return next((row for row in versions if row.version == version), None)

    def all_newest(self) -> list[SpecVersion]:
        """Return the newest version of every id, tombstones included, by id."""
        return [self._rows[supervisor_id][-1] for supervisor_id in sorted(self._rows)]

    def newest_or_unreadable(self) -> list[SpecVersion | SpecUnreadable]:
        """Return as `all_newest`: what is in memory, this release has written."""
        return [*self.all_newest()]

    def history(self, supervisor_id: str, limit: int | None = None) -> list[SpecVersion]:
        """Return the versions of one id, newest first."""
        return list(reversed(self._rows.get_row(supervisor_id) or ()))[:limit]

    def history_stored(self, supervisor_id: str) -> list[SpecVersion | SpecUnreadable]:
        """Return as `history`: what is in memory, this release has written."""
        return [*self.history(supervisor_id)]

    def forget(self, supervisor_id: str, up_to: int) -> None:
        """Delete versions up to `up_to`; a newer one, stored meanwhile, stays."""
        kept = tuple(r for r in self._rows.get_row(supervisor_id) or () if r.version > up_to)
        if kept:
            self._rows.put(supervisor_id, kept)
        else:
            self._rows.drop(supervisor_id)
