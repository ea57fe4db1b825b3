"""The archive of events and audit entries, as lists and the stream read it.

    table           newest ──────► trimmed + 1
    archive                        trimmed ──────► the oldest that the report store has

Who wants more than the tables have reads the archive; nobody else waits for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Generic, TypeVar

from supervisor.core.history.archive import entry_of, event_of
from supervisor.core.history.lifecycle_events import NumberedEvent
from supervisor.core.history.windows import EventWindow
from supervisor.core.model.rows import AuditEntry
from supervisor.ports.reports.reports import NumberedQuery, ReportStore
from supervisor.ports.store import Store
from tasks.reporting.record import RecordType, ReportRecord

T = TypeVar("T")

SCANNED_MAX = 2_000
"""Records that a page looks at: each is read as a whole, so a window takes more pages."""
CLOCKS_DIFFER = timedelta(hours=1)
"""Numbers are in the order of commits: one leader's clock may be behind that of the last."""


@dataclass(frozen=True)
class Stretch(Generic[T]):
    """What one look has, newest first."""

    rows: Sequence[tuple[int, T]]
    down_to: int
    """All numbers above it were looked at; 0: nothing older is there."""


@dataclass(frozen=True)
class AuditWindow:
    """The audit entries of a list; what is left out narrows nothing."""

    supervisor_id: str | None = None
    action: str | None = None
    actor: str | None = None

    def admits(self, entry: AuditEntry) -> bool:
        """Whether an entry is one of the window."""
        owners = {entry.subject, entry.detail.get("supervisor")}
        return (
            (self.supervisor_id is None or self.supervisor_id in owners)
            and self.action in {None, entry.action}
            and self.actor in {None, entry.actor}
        )


EVERY_ENTRY = AuditWindow()


@dataclass(frozen=True)
class ArchiveReader:
    """Reads what has left the tables; one instance per process.

    Each method raises `StoreAway` and `StoreRefuses`: their text is the reason.
    """

    reports: ReportStore
    store: Store

    def events(self, window: EventWindow, start: int, limit: int) -> Stretch[NumberedEvent]:
        """Return at most `limit` events of a window with lower numbers than `start`."""
        query = replace(self._of(RecordType.EVENT), supervisor=window.supervisor_id, below=start)
        if window.end is not None:
            newest = self.reports.number_at(query, window.end + CLOCKS_DIFFER)
            query = replace(query, below=min(start, newest + 1))
        most = SCANNED_MAX if window.narrow else limit + 1
        events = self._newest(query, most, event_of)
        rows = [(each.number, each) for each in events if window.admits(each.happening)]
        down_to = events[-1].number - 1 if len(events) == most else 0
        if window.begin is not None and events:
            over = events[-1].happening.at < window.begin - CLOCKS_DIFFER
            down_to = 0 if over else down_to
        return _stretch(rows, start, limit, down_to)

    def after(self, number: int, up_to: int, limit: int) -> list[NumberedEvent]:
        """Return at most `limit` events with higher numbers, ascending, up to one number."""
        query = replace(self._of(RecordType.EVENT), above=number, below=up_to + 1)
        return [event_of(each) for each in self.reports.numbered(query, limit)]

    def entries(self, window: AuditWindow, start: int, limit: int) -> Stretch[AuditEntry]:
        """Return at most `limit` audit entries of a window with lower numbers than `start`."""
        query = replace(self._of(RecordType.AUDIT), below=start)
        most = limit + 1 if window == EVERY_ENTRY else SCANNED_MAX
        entries = self._newest(query, most, lambda each: (each.place, entry_of(each)))
        rows = [(number, entry) for number, entry in entries if window.admits(entry)]
        return _stretch(rows, start, limit, entries[-1][0] - 1 if len(entries) == most else 0)

    def _newest(
        self, query: NumberedQuery, limit: int, read: Callable[[ReportRecord], T]
    ) -> list[T]:
        records = self.reports.numbered(replace(query, newest_first=True), limit)
        return [read(each) for each in records]

    def _of(self, kind: RecordType) -> NumberedQuery:
        with self.store.reading() as tx:
            return NumberedQuery(kind, tx.installation.name())


def _stretch(rows: list[tuple[int, T]], start: int, limit: int, down_to: int) -> Stretch[T]:
    if len(rows) <= limit:
        return Stretch(rows, down_to)
    return Stretch(rows[:limit], (rows[limit - 1][0] if limit else start) - 1)


def joined(parts: Sequence[Stretch[T]], start: int, limit: int) -> tuple[list[T], int | None]:
    """Return the rows of several looks at the same numbers, each once, newest first.

    With them the number before which the next page begins; None: there is none.
    """
    down_to = max(part.down_to for part in parts)
    rows = {number: row for part in parts for number, row in part.rows if number > down_to}
    numbers = sorted(rows, reverse=True)
    if len(numbers) > limit:
        following = numbers[limit - 1] if limit else start
        return [rows[number] for number in numbers[:limit]], following
    return [rows[number] for number in numbers], down_to + 1 if down_to else None
