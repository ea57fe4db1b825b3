"""The handler of the queues `export-<format>`: it makes exported tables equal to the tables.

    open the exported table ─► read sequence and keys, as leader ─► files ─► difference ─► commit
                                                    └─► copies of files whose column types have
                                                        changed, where the copy is missing

The order is the fence.  A commit succeeds only against the version that was opened.  So between two
commits of one exported table the list is read: the later commit has the newer list, even if a
deposed overlord makes it.  A change that it misses has an event of its own, which the next leader
handles.  Each term begins with a commit, after which no deposed overlord can name a file too much.
After a crash or a lost answer, the next comparison finds what is left to do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from supervisor.chores.duty import Duty, QueueHandler, Wiring
from supervisor.chores.each_table import each_table
from supervisor.chores.file_lists import listed
from supervisor.chores.wake import PERIOD
from supervisor.control.declared_types import declared_of
from supervisor.control.export_outbox import EXPORTS, FENCE, announce_fence, sequence_of, since_of
from supervisor.control.warehouse_owner import require_mounted
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.tables.exports import (
    KIND,
    Export,
    ExportChange,
    ExportedFile,
    ExportVersion,
    change_of,
    files_of,
    queue_name,
)
from supervisor.core.values.errors import ExportUnavailable, NotExportable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.ports.tables.exports import Copies, TableFormat
from supervisor.ports.tables.warehouse import Warehouse

log = structlog.get_logger()

COPIED_BYTES = 2 * 1024**3
"""The published bytes that are copied per batch: far fewer than fit the handler's time limit."""


@dataclass
class CompareAll:
    """Has every export compared once in each term, to find lost changes."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    _term: int = 0
    """The last term in which this ran."""
    _left: list[tuple[str, ExportFormat]] = field(default_factory=list)
    """Table and format of the exports whose comparison is not queued yet in that term."""

    def run_once(self) -> None:
        """Queue one event for each export, unless it was done in this term.

        A table that fails holds up no other one; the next call tries it again.

        Raises:
            LeaseLost, Unavailable: the next call queues what is left.
        """
        term = self.term()
        if term != self._term:
            with self.store.reading() as tx:
                self._left = [(each.data_source, each.format) for each in tx.exports.all()]
            self._term = term
        work = ((left[0], partial(self._announce, term, left)) for left in tuple(self._left))
        each_table(DUTY.name, work)

    def _announce(self, term: int, left: tuple[str, ExportFormat]) -> int:
        with self.store.leading(term) as tx:
            announce_fence(tx, *left, self.clock.now())
        if left in self._left:  # another run of this duty, at the start of a term, was faster
            self._left.remove(left)
        return 1


@dataclass(frozen=True)
class _Published:
    """The state of a table at the time of the comparison."""

    export: Export | None
    sequence: int
    keys: Sequence[SegmentKey]


@dataclass(frozen=True)
class Exporting:
    """The export handler of one format; without state, and safe to run twice at once."""

    format: ExportFormat
    tables: TableFormat
    warehouse: Warehouse
    copies: Copies
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Export the latest state of one table; all events of a queue are about the same table.

        Raises:
            LeaseLost: another overlord leads; nothing was committed.
            ExportUnavailable, StorageUnavailable: the batch is repeated.
        """
        require_mounted(self.warehouse, context.store)
        tables = {event.key for event in events}
        if len(tables) != 1 or any(event.kind != KIND for event in events):
            return Handled([Fail("not an event of this table's export")] * len(events))
        [data_source] = tables
        try:
            return self._follow(data_source, events, context)
        except NotExportable as error:
            return self._stuck(data_source, str(error), events, context)

    def _follow(self, data_source: str, events: Sequence[QueuedEvent], context: Context) -> Handled:
        opened = self.tables.open(data_source)  # before the list is read: see the head
        seen = self._look(data_source, context)
        done: list[Handling] = [EventDone()] * len(events)
        if seen.export is None or not seen.export.enabled:
            return Handled(done)
        segments = listed(context.store, seen.keys)
        wanted = files_of(data_source, segments, declared_of(context.store, segments))
        change = self._with_copies(data_source, wanted, opened.held, context)
        standing = opened.standing
        fences = standing.version is not None and any(event.body.get(FENCE) for event in events)
        if not change.empty or fences:
            self.failpoint("export:decided")
            with context.store.leading(context.term):
                pass  # a deposed overlord need not try
            standing = opened.commit(change, seen.sequence, context.now)
            self.failpoint("export:committed")
            self._log_export(data_source, len(change.add), len(change.remove), standing)

        def write(tx: Transaction) -> None:
            export = tx.exports.locked(data_source, self.format)  # a spec may switch it meanwhile
            if export is not None:
                tx.exports.put(export.advanced_to(seen.sequence, standing, context.now))

        return Handled(done, write)

    def _with_copies(
        self,
        data_source: str,
        wanted: Sequence[ExportedFile],
        held: Mapping[str, int],
        context: Context,
    ) -> ExportChange:
        """Return the difference to export, after making missing copies, a bounded number at a time.

        A copy that the exported table names is made again if it is missing or has another size.  If
        the new copy has another size, the table names it anew.

        Raises:
            ExportUnavailable: more copies are left, or the process ends; finished ones stay.
        """
        change = change_of(held, wanted)
        copied = [file for file in wanted if file.casts]
        sizes = {file.path: self.copies.size_of(data_source, file) for file in copied}
        due = [
            file
            for file in copied
            if (size := sizes[file.path]) is None or size != held.get(file.path, size)
        ]
        copied_bytes = 0
        for number, file in enumerate(due):
            if copied_bytes >= COPIED_BYTES or context.stopping():
                left = len(due) - number
                raise ExportUnavailable(f"columns have grown: {left} files are to be rewritten")
            sizes[file.path] = self.copies.make(data_source, file)
            copied_bytes += file.size_bytes
            self.failpoint("export:copied")
        again = [file for file in due if held.get(file.path, sizes[file.path]) != sizes[file.path]]
        added = (
            replace(file, size_bytes=sizes.get(file.path) or file.size_bytes)
            for file in (*change.add, *again)
        )
        return ExportChange(tuple(added), (*change.remove, *(file.path for file in again)))

    def _look(self, data_source: str, context: Context) -> _Published:
        with context.store.leading(context.term) as tx:
            export = tx.exports.get(data_source, self.format)
            sequence = sequence_of(tx, data_source, self.format)
            return _Published(export, sequence, tx.segments.keys(data_source, used=True))

    def _stuck(
        self, data_source: str, problem: str, events: Sequence[QueuedEvent], context: Context
    ) -> Handled:
        """Set one event per problem aside for people; the export's row stands for the others."""
        with context.store.reading() as tx:
            before = tx.exports.get(data_source, self.format)
        is_known = before is not None and before.problem == problem
        answers: list[Handling] = [EventDone()] * len(events)
        if not is_known:
            answers[0] = Fail(problem)
            log.error(
                "an export stands still", data_source=data_source, format=self.format, why=problem
            )
        since = since_of(events, context.now)

        def write(tx: Transaction) -> None:
            export = tx.exports.locked(data_source, self.format)  # a spec may switch it meanwhile
            if export is not None:
                tx.exports.put(export.stuck(problem, since))

        return Handled(answers, write)

    def _log_export(
        self, data_source: str, added: int, removed: int, standing: ExportVersion
    ) -> None:
        log.info(
            "exported",
            data_source=data_source,
            format=self.format,
            version=standing.version,
            added=added,
            removed=removed,
        )


def _exporting(table_format: ExportFormat, wiring: Wiring) -> Exporting | None:
    tables = wiring.formats.get(table_format)
    if tables is None:
        return None
    return Exporting(table_format, tables, wiring.warehouse, wiring.copies, wiring.reach)


DUTY = Duty(  # once a term, and again if it failed
    "compare-exports",
    lambda w: CompareAll(w.store, w.clock, w.term),
    lambda _: PERIOD,
    at_once=True,
)
HANDLERS = tuple(
    QueueHandler(queue_name(each), partial(_exporting, each), lambda _: EXPORTS)
    for each in ExportFormat
)
