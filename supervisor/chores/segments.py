"""The end of a segment's life: out of its table, a grace time, then the deletion of its file.

    mark_unused ─► event in `segments` ── grace ──► condemn ─► event in `segment-files` ─► delete
                                           └─ used again, or marked anew: nothing happens

A file is deleted only after the exports of its table no longer name it.  If an export is late, so
that it named the file beyond the grace time, the file stays for some time more, for readers that
have opened the exported table: see `READERS`.

Condemning and the second event are written with the position of the first queue, so a condemned
segment is never put back.  Each wait has a queue, as a queue is FIFO: in one queue the retry of a
failed deletion would wait for another grace time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from supervisor.chores.duty import QueueHandler, Wiring
from supervisor.chores.file_lists import listed, pages
from supervisor.chores.task_output import folder_of
from supervisor.control.export_outbox import announce, awaited, still_naming
from supervisor.control.tables import require_table
from supervisor.control.warehouse_owner import require_mounted
from supervisor.core.model.listed_segments import (
    EVERY_SEGMENT,
    ListedSegment,
    SegmentKey,
    SegmentWindow,
)
from supervisor.core.model.rows import AuditEntry
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName, container_of
from supervisor.core.tables.exports import copies_of
from supervisor.core.values.errors import QueueDead, TooManyOutstandingBytes
from supervisor.core.values.intervals import Interval
from supervisor.core.values.page_cursors import page_behind, place_of
from supervisor.core.values.table_names import rows_table
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling, Later, Retry
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.ports.tables.warehouse import Warehouse

log = structlog.get_logger()

SEGMENTS, SEGMENT_FILES = "segments", "segment-files"
"""Names of the two queues; each supervisor's container has its own."""
UNUSED, CONDEMNED = "segment_unused", "segment_file"
"""Kinds of the events of the two queues; the key is the segment's id."""
_LIST = "segments"
_FREED_AT = "freedAt"
"""Field of a condemned file's event: since when no export names it, if one was late; else empty."""
READERS = timedelta(hours=1)
"""How long a file is kept for readers after a late export stopped naming it; at most the grace."""
PER_TRANSACTION = 1_000
"""The maximum of segments that one transaction marks."""


@dataclass(frozen=True)
class SegmentSelection:
    """A selection of segments of a table; a criterion without a value selects all."""

    ids: Sequence[str] | None = None
    interval: Interval | None = None
    """Only segments wholly inside this interval."""
    ended_by: datetime | None = None
    """Only segments whose interval ended by then."""

    def of(self, tx: Transaction, data_source: str, *, used: bool) -> list[SegmentKey]:
        """Return the selected segments that are used, or not; condemned ones are never included."""
        return tx.segments.keys(
            data_source,
            used=used,
            start=None if self.interval is None else self.interval.start,
            end=self.ended_by if self.interval is None else self.interval.end,
            ids=self.ids,
        )

    def __str__(self) -> str:
        if self.ids is not None:
            return f"{len(self.ids)} ids"
        if self.interval is not None:
            return str(self.interval)
        return "all" if self.ended_by is None else f"ended by {self.ended_by.isoformat()}"


def _any(_: Sequence[SegmentKey]) -> None:
    """Accept whatever is selected."""


def _always(_: Transaction) -> bool:
    return True


@dataclass(frozen=True)
class SegmentLife:
    """Takes segments out of their tables, and puts them back; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    grace: timedelta
    """The time from `mark_unused` to the deletion of the file; until then it can be put back."""
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    @property
    def config(self) -> QueueConfig:
        """Return the configuration of the queue of unused segments."""
        return QueueConfig(delay=self.grace, max_items_at_once=500)

    def page(
        self,
        data_source: str,
        limit: int | None,
        cursor: str | None,
        window: SegmentWindow = EVERY_SEGMENT,
    ) -> tuple[list[ListedSegment], str | None]:
        """Return at most `limit` segments of a table, by interval, and the cursor behind them.

        Raises:
            DataSourceNotFound: there is no such table.
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:
            require_table(tx, data_source)
            # Deleted ones too: the cursor's may have gone.
            every = tx.segments.keys(data_source, start=window.begin, end=window.end, deleted=True)
        begin = place_of(_LIST, cursor, [each.id for each in every])
        found = [each for each in every[begin:] if window.fits(each)]
        shown, following = page_behind(found, [each.id for each in found], limit, _LIST)
        return listed(self.store, shown), following

    def mark_unused(
        self,
        data_source: str,
        selection: SegmentSelection,
        author: str,
        *,
        still: Callable[[Transaction], bool] = _always,
        judge: Callable[[Sequence[SegmentKey]], None] = _any,
    ) -> int:
        """Take segments out of their table; return how many were part of it.

        Each transaction marks at most 1,000 segments of one supervisor.  A transaction in which
        `still` is False marks none.  If a queue refuses, its supervisor's segments stay.  `judge`
        is called with the selected ones first, and raises if they are not what is wanted.

        Raises:
            DataSourceNotFound: there is no such table.
            TooManyOutstandingBytes, QueueDead: from the first queue that refused; segments of other
                supervisors are marked all the same.
            LeaseLost, Unavailable: segments that were marked before stay marked.
        """
        changed = 0
        refused: TooManyOutstandingBytes | QueueDead | None = None
        for ids in self._ids(data_source, selection, judge, used=True):
            try:
                with self.store.leading(self.term()) as tx:
                    if still(tx):
                        changed += self._mark_unused(tx, data_source, ids, author)
                self.failpoint("mark-unused:committed")
            except (TooManyOutstandingBytes, QueueDead) as error:
                refused = refused or error
        if refused is not None:
            raise refused
        return changed

    def _mark_unused(
        self, tx: Transaction, data_source: str, ids: Sequence[str], author: str
    ) -> int:
        now = self.clock.now()
        marked = tx.segments.mark_unused(ids, now)
        self.leave(tx, marked, now)
        _audit(tx, AuditEntry(now, author, "mark-unused", data_source), marked)
        if marked:
            announce(tx, data_source, now)
            self.failpoint("mark-unused:in-transaction")
        return len(marked)

    def leave(self, tx: Transaction, marked: Sequence[ListedSegment], now: datetime) -> None:
        """Queue the deletion of segments in the transaction that took them out.

        Raises:
            TooManyOutstandingBytes, QueueDead: the queue refuses.
        """
        for segment in marked:
            assert segment.unused_at is not None
            body = {"unusedAt": segment.unused_at.isoformat()}
            queue = QueueName(container_of(segment.supervisor_id), SEGMENTS)
            tx.events.add(queue, QueuedEvent(UNUSED, segment.id, body), self.config, now)

    def mark_used(
        self,
        data_source: str,
        selection: SegmentSelection,
        author: str,
        *,
        judge: Callable[[Sequence[SegmentKey]], None] = _any,
    ) -> int:
        """Put uncondemned segments back into their table; return how many were out of it.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: segments that were put back before stay so.
        """
        changed = 0
        for ids in self._ids(data_source, selection, judge, used=False):
            with self.store.leading(self.term()) as tx:
                back, now = tx.segments.mark_used(ids), self.clock.now()
                _audit(tx, AuditEntry(now, author, "mark-used", data_source), back)
                if back:
                    announce(tx, data_source, now)
                    self.failpoint("mark-used:in-transaction")
            self.failpoint("mark-used:committed")
            changed += len(back)
        return changed

    def selected(
        self, data_source: str, selection: SegmentSelection, *, used: bool
    ) -> list[SegmentKey]:
        """Return the selected segments that are part of the table, or that were taken out.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost: this overlord does not lead.
        """
        self.term()
        with self.store.reading() as tx:
            require_table(tx, data_source)
            return selection.of(tx, data_source, used=used)

    def _ids(
        self,
        data_source: str,
        selection: SegmentSelection,
        judge: Callable[[Sequence[SegmentKey]], None],
        *,
        used: bool,
    ) -> Iterator[tuple[str, ...]]:
        """Yield the ids of the selected segments, in batches of one transaction each."""
        chosen = self.selected(data_source, selection, used=used)
        judge(chosen)
        by_supervisor: dict[str, list[str]] = {}
        for key in chosen:
            by_supervisor.setdefault(key.supervisor_id, []).append(key.id)
        for _, ids in sorted(by_supervisor.items()):
            for some in pages(ids, PER_TRANSACTION):
                yield tuple(some)


def _audit(tx: Transaction, entry: AuditEntry, changed: Sequence[ListedSegment]) -> None:
    if not changed:
        return
    rows = sum(segment.file.rows for segment in changed)
    begin = min(segment.file.interval_start for segment in changed)
    end = max(segment.file.interval_end for segment in changed)
    detail = {"segments": str(len(changed)), "rows": str(rows), "within": str(Interval(begin, end))}
    if len(changed) == 1:
        detail["segment"] = changed[0].id
    tx.audit.write(replace(entry, detail={**entry.detail, **detail}))


# -- queue handlers --------------------------------------------------------------------------------


@dataclass(frozen=True)
class SegmentsUnused:
    """Handles `segment_unused` after the grace time: condemns segments that are still unused."""

    files: QueueConfig
    """The configuration of the queue of condemned files."""

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Answer at once; all writes happen with the new position, exactly once."""
        answers: list[Handling] = []
        due: list[tuple[QueuedEvent, datetime]] = []
        for event in events:
            unused_at = _unused_at(event)
            if unused_at is None:
                answers.append(Fail("its body lacks the time when the segment was marked unused"))
            else:
                answers.append(EventDone())
                due.append((event, unused_at))

        def condemn(tx: Transaction) -> None:
            for event, unused_at in due:
                self._condemn(tx, event, unused_at, context.now)

        return Handled(answers, condemn)

    def _condemn(
        self, tx: Transaction, event: QueuedEvent, unused_at: datetime, now: datetime
    ) -> None:
        segment = tx.segments.listed([event.key]).get(event.key)
        if segment is None or not tx.segments.condemn(event.key, unused_at, now):
            return  # used again, or marked unused at another time, with an event of its own
        queue = QueueName(container_of(segment.supervisor_id), SEGMENT_FILES)
        body: dict[str, str | int] = {**awaited(tx, segment.data_source)}
        if still_naming(tx, segment.data_source, body):
            body[_FREED_AT] = ""  # late already, even if it catches up before the deletion is due
        tx.events.add(queue, QueuedEvent(CONDEMNED, event.key, body), self.files, now, exempt=True)


def _unused_at(event: QueuedEvent) -> datetime | None:
    text = event.body.get("unusedAt")
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return at if event.kind == UNUSED and at is not None and at.tzinfo else None


@dataclass(frozen=True)
class SegmentFiles:
    """Handles `segment_file`: deletes the file of a condemned segment; safe to repeat."""

    warehouse: Warehouse
    grace: timedelta = READERS
    """The grace time of segments: readers of a late export are waited for no longer than that."""

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Delete the files one after the other.

        Raises:
            StorageUnavailable: nothing is deleted, and no attempt is counted.
        """
        require_mounted(self.warehouse, context.store)
        return Handled([self._delete(event, context) for event in events])

    def _delete(self, event: QueuedEvent, context: Context) -> Handling:
        with context.store.reading() as tx:
            segment = tx.segments.listed([event.key]).get(event.key)
            naming = [] if segment is None else still_naming(tx, segment.data_source, event.body)
        if event.kind != CONDEMNED or segment is None:
            return Fail(f"there is no segment {event.key}, or this is another kind of event")
        if segment.deleted_at is None:
            return Fail(f"segment {event.key} is not condemned: its file stays")
        if naming:
            why = f"exports that may still name it: {', '.join(naming)}"
            return Later({**event.body, _FREED_AT: ""}, why)
        if (waits := self._for_readers(event, context.now)) is not None:
            return waits
        folder = _written_in(segment)
        if not segment.file.path.startswith(f"{folder}/"):
            return Fail(f"{segment.file.path} does not lie in its writer's folder {folder}")
        try:
            self.warehouse.delete_file(segment.file.path)
            self.warehouse.prune(folder)
            copies = copies_of(segment.file.path)
            for copy in self.warehouse.files_under(copies):
                self.warehouse.delete_file(copy)
            self.warehouse.prune(copies)
        except OSError as error:
            require_mounted(self.warehouse, context.store)  # raises if all is away: the batch waits
            return Retry(f"{segment.file.path} cannot be deleted: {error.strerror or error}")
        log.info("deleted the file of an unused segment", path=segment.file.path)
        return EventDone()

    def _for_readers(self, event: QueuedEvent, now: datetime) -> Later | None:
        """Return what keeps a file for those who opened an exported table before it caught up."""
        text = event.body.get(_FREED_AT)
        if not isinstance(text, str):
            return None  # the exports were in time: the grace time was for their readers too
        freed_at = datetime.fromisoformat(text) if text else now
        if now - freed_at >= min(READERS, self.grace):
            return None
        why = "an export was late: readers of its version before may still read the file"
        return Later({**event.body, _FREED_AT: freed_at.isoformat()}, why)


def _written_in(segment: ListedSegment) -> str:
    """Return the folder of a file's writer.

    A task writes its bad records into its own folder, beside its rows; a compaction of an errors
    table has a folder in that table.
    """
    written_by_task = segment.compaction_id is None
    table = rows_table(segment.data_source) if written_by_task else segment.data_source
    return folder_of(table, segment.written_by)


def segments_of(wiring: Wiring) -> SegmentLife:
    """Return the segment verbs of one overlord."""
    return SegmentLife(wiring.store, wiring.clock, wiring.term, wiring.segment_grace, wiring.reach)


def _files_config(wiring: Wiring) -> QueueConfig:
    return QueueConfig(delay=wiring.gc_delay)


UNUSED_HANDLER = QueueHandler(
    SEGMENTS,
    lambda w: SegmentsUnused(_files_config(w)),
    lambda w: segments_of(w).config,
)
FILES_HANDLER = QueueHandler(
    SEGMENT_FILES, lambda w: SegmentFiles(w.warehouse, w.segment_grace), _files_config
)
