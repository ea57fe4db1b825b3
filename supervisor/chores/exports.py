"""Makes exported tables equal to the published list; handles the queues `export-<format>`.

    open the exported table ─► read sequence and list, as leader ─► what differs ─► one commit
                                                    └─► copies, where a column has another type by
                                                        now and there is none, or no more

The order is the fence.  A commit goes through only against the very version that was opened, so
between two commits of one table lies a reading of the list: the later commit has the newer list,
whoever makes it, also an overlord that was deposed in between.  What it leaves out has an event
of its own, which the next leader handles; what it has too much cannot come after the commit with
which each term begins.  After a crash or a lost answer the same look finds
what is left to do, or nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from supervisor.chores.duty import Duty, QueueHandler, Wiring
from supervisor.chores.wake import PERIOD
from supervisor.control.declared_types import declared_of
from supervisor.control.export_outbox import EXPORTS, FENCE, announce_all, sequence_of, since_of
from supervisor.control.warehouse_owner import require_mounted
from supervisor.core.model.rows import Segment
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
from supervisor.ports.exports import Copies, TableFormat
from supervisor.ports.store import Clock, Store, Transaction
from supervisor.ports.warehouse import Warehouse

log = structlog.get_logger()

COPIED_BYTES = 2 * 1024**3
"""Of so many, as published, copies are made at a time: far less than the handler's time is for."""


@dataclass
class CompareAll:
    """Has every export looked at once in each term: whatever got lost, is found here."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    _done: int = 0
    """The last term in which it was queued."""

    def run_once(self) -> None:
        """Queue one event for each export, unless this term has it already.

        Raises:
            LeaseLost, Unavailable: nothing was queued; the next call tries again.
        """
        term = self.term()
        if term == self._done:
            return
        with self.store.leading(term) as tx:
            announce_all(tx, self.clock.now())
        self._done = term


@dataclass(frozen=True)
class _Published:
    """A table as it was when it was looked at."""

    export: Export | None
    sequence: int
    segments: Sequence[Segment]
    declared: frozenset[str]
    """Columns that a spec declares as texts or numbers, where files have both."""


@dataclass(frozen=True)
class Exporting:
    """The handler of one format; holds no state, and may run twice at once."""

    format: ExportFormat
    tables: TableFormat
    warehouse: Warehouse
    copies: Copies
    failpoint: Callable[[str], None] = lambda _: None
    """Told of each place passed; a test may end the process there (failpoints)."""

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Bring one table up to date; every event of a queue is about the same one.

        Raises:
            LeaseLost: another overlord leads; nothing was committed.
            ExportUnavailable, StorageUnavailable: the batch comes again.
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
        opened = self.tables.open(data_source)  # before the list is read: see above
        seen = self._look(data_source, context)
        done: list[Handling] = [EventDone()] * len(events)
        if seen.export is None or not seen.export.enabled:
            return Handled(done)
        wanted = files_of(data_source, seen.segments, seen.declared)
        change = self._with_copies(data_source, wanted, opened.held, context)
        standing = opened.standing
        fences = standing.version is not None and any(event.body.get(FENCE) for event in events)
        if not change.empty or fences:
            self.failpoint("export:decided")
            with context.store.leading(context.term):
                pass  # who was deposed meanwhile need not even try
            standing = opened.commit(change, seen.sequence, context.now)
            self.failpoint("export:committed")
            self._log_export(data_source, len(change.add), len(change.remove), standing)

        def write(tx: Transaction) -> None:
            export = tx.exports.get(data_source, self.format)
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
        """Return what differs, after making the copies that are not there, some at a time.

        One that the exported table names is made again where it is gone, or has another size than
        is named; if it comes out with another size, that is named anew.

        Raises:
            ExportUnavailable: more are to be made, or the process ends; those that are there stay.
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
            segments = tx.segments.of_data_source(data_source)
            return _Published(export, sequence, segments, declared_of(tx, segments))

    def _stuck(
        self, data_source: str, problem: str, events: Sequence[QueuedEvent], context: Context
    ) -> Handled:
        """Set one event aside for people, per problem; the others wait in the row for its end."""
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
            export = tx.exports.get(data_source, self.format)
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
