"""What happened, in memory."""

from dataclasses import replace
from itertools import islice

from supervisor.adapters.memory_rows import Tables
from supervisor.core.happenings import Happening, Numbered

KEPT = 100_000
TRIM_EVERY = 1_000


class MemoryHappenings:
    """See `ports_happenings.Happenings`."""

    def __init__(self, tables: Tables, *, writable: bool = True, kept: int = KEPT) -> None:
        """Begin without drafts; what is not `writable` takes none."""
        self._tables = tables
        self._rows = tables.happenings
        self._writable = writable
        self._kept = kept
        self._drafts: list[Happening] = []

    def tell(self, happening: Happening) -> None:
        """Write it with this transaction."""
        assert self._writable, "a transaction that reads does not write"
        self._drafts.append(happening)

    def flush(self) -> None:
        """Number and keep what was told; the store calls it as the last thing."""
        newest = self.newest()
        for number, told in enumerate(self._drafts, newest + 1):
            self._rows.put(number, replace(told, group=self._group(told)))
        newest += len(self._drafts)
        if newest - self.trimmed() >= self._kept + min(TRIM_EVERY, self._kept):
            for number in [each for each in self._rows if each <= newest - self._kept]:
                self._rows.drop(number)

    def after(self, number: int, limit: int, *, supervisor_id: str | None = None) -> list[Numbered]:
        """Return those with higher numbers, ascending."""
        found = (each for each in self._of(supervisor_id) if each.number > number)
        return list(islice(found, limit))

    def before(
        self, number: int | None, limit: int, *, supervisor_id: str | None = None
    ) -> list[Numbered]:
        """Return those with lower numbers, or all, newest first."""
        found = [n for n in self._of(supervisor_id) if number is None or n.number < number]
        return found[::-1][:limit]

    def trimmed(self) -> int:
        """Return up to which number they were dropped."""
        return next(iter(self._rows), 1) - 1

    def newest(self) -> int:
        """Return the number of the last one."""
        return next(reversed(list(self._rows)), 0)

    def _of(self, supervisor_id: str | None) -> list[Numbered]:
        return [
            Numbered(number, row)
            for number, row in self._rows.items()
            if supervisor_id in {None, row.supervisor_id}
        ]

    def _group(self, told: Happening) -> int | None:
        if told.group is not None or told.generation_id is None:
            return told.group
        live, ended = self._tables.live, self._tables.ended
        found = live.get_row(told.generation_id) or ended.get_row(told.generation_id)
        return None if found is None else found.group
