"""Repository port of spec versions.

A spec may be costly to read.  Work that needs only ids or tables reads no spec: its cost must not
grow with what is in specs.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from supervisor.core.model.rows import PresentVersion, SpecHead, SpecVersion, TerminatedSupervisor
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable


class Specs(Protocol):
    """Append-only spec versions with tombstones."""

    def append(
        self,
        supervisor_id: str,
        spec: SupervisorSpec | None,
        now: datetime,
        author: str,
        *,
        after: int | None = None,
        submitted: bool = False,
    ) -> SpecVersion:
        """Add the next version (None: a tombstone) and return it.

        `submitted` marks a submitted task; further versions are marked too, up to a tombstone.

        Raises:
            StateMoved: the newest version is not `after` (0: there is none); nothing is added.
        """
        ...

    def newest(self, supervisor_id: str) -> SpecVersion | None:
        """Return the newest version, tombstones included; None if the id was never used.

        Raises:
            SpecUnreadable: this release cannot read that version.
        """
        ...

    def newest_stored(self, supervisor_id: str) -> SpecVersion | SpecUnreadable | None:
        """Return as `newest`, but an unreadable version as its reason."""
        ...

    def version(self, supervisor_id: str, version: int) -> SpecVersion | None:
        """Return one version.

        Raises:
            SpecUnreadable: this release cannot read that version.
        """
        ...

    def versions(
        self, numbers: Collection[tuple[str, int]]
    ) -> dict[tuple[str, int], SpecVersion | SpecUnreadable]:
        """Return (id, version) -> the version, for those that exist; in few queries.

        A version that this release cannot read is there as its reason.
        """
        ...

    def all_newest(self) -> list[SpecVersion]:
        """Return the newest version of every id, tombstones included, by id.

        Versions that this release cannot read are left out, so that the other supervisors run.
        """
        ...

    def newest_or_unreadable(self, *, awake: bool = False) -> list[SpecVersion | SpecUnreadable]:
        """Return as `all_newest`, but each unreadable version as its reason.

        With `awake`, only of supervisors that are neither terminated nor at rest.
        """
        ...

    def heads(self) -> list[SpecHead]:
        """Return the number of the newest version of every id, by id, without reading its spec."""
        ...

    def present(self) -> list[PresentVersion]:
        """Return the newest versions of all supervisors that are not terminated, by id.

        The cost is that of these alone, however many versions and tombstones there are.
        """
        ...

    def terminated(self) -> list[TerminatedSupervisor]:
        """Return how each terminated supervisor ended, in no order; one statement, no spec read."""
        ...

    def awake(self) -> list[SpecHead]:
        """Return the heads of supervisors that are neither terminated nor at rest, by id.

        The cost is that of these alone, however many others there are.
        """
        ...

    def at_rest(self, since: datetime | None = None) -> list[SpecHead]:
        """Return the heads of supervisors at rest since that time or later, by id; None: of all."""
        ...

    def ended_tasks(self, until: datetime, limit: int, *, lock: bool = False) -> list[SpecHead]:
        """Return the heads of submitted tasks at rest since `until` or earlier, oldest first.

        With `lock`, which a reading transaction refuses, they stay as they are up to its end.
        """
        ...

    def rest(self, supervisor_id: str, version: int, now: datetime) -> bool:
        """Put a supervisor to rest; False: its newest version is another one, or is at rest.

        Nothing looks at it again before a new version or `awaken`.  The row is locked up to the
        commit, so a reset either comes first and is seen, or ends the rest.
        """
        ...

    def awaken(self, supervisor_id: str) -> None:
        """End the rest of a supervisor, if it is at rest."""
        ...

    def tables(self) -> dict[str, str | None]:
        """Return supervisor -> the table of its newest spec, without reading the rest of the spec.

        Tombstones are left out.  None: a spec of a newer release, with no table at the usual place.
        """
        ...

    def tables_of(self, supervisor_id: str, limit: int | None = None) -> list[str | None]:
        """Return the table of each version that has a spec, newest first; None as in `tables`."""
        ...

    def tables_ever(self, supervisor_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """Return supervisor -> every known table that a version has named; one statement.

        An id that was never used, or is forgotten, is left out.
        """
        ...

    def first_at(self, supervisor_id: str) -> datetime | None:
        """Return when the oldest version was stored; None: the id was never used, or is forgotten.

        What is older under this id is of another supervisor, which was forgotten.
        """
        ...

    def history(self, supervisor_id: str, limit: int | None = None) -> list[SpecVersion]:
        """Return the versions of one id, newest first.

        Raises:
            SpecUnreadable: this release cannot read one of them.
        """
        ...

    def forget(self, supervisor_id: str, up_to: int) -> None:
        """Delete versions up to `up_to`; a newer version, stored meanwhile, stays."""
        ...
