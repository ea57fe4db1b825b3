"""A world whose tasks write real files, and whose table is exported over them."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.adapters.tables.delta import DeltaFormat
from supervisor.adapters.tables.iceberg import IcebergFormat
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.adapters.tables.widened_copies import LocalCopies
from supervisor.chores.exports import CompareAll, Exporting
from supervisor.chores.segments import (
    SEGMENT_FILES,
    SEGMENTS,
    SegmentFiles,
    SegmentLife,
    SegmentSelection,
    SegmentsUnused,
)
from supervisor.control.export_outbox import EXPORTS, announce_repaired, follow
from supervisor.control.leadership import Leadership
from supervisor.core.queue.events import FailedEvent, QueueConfig, QueueName, QueueRow, container_of
from supervisor.core.tables.exports import (
    Export,
    ExportChange,
    ExportedFile,
    ExportVersion,
    queue_of,
)
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.ports.store import Store
from supervisor.ports.tables.exports import TableFormat
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import PublishOutcome, PublishRequest, SegmentFile
from tasks.contract.offsets import Offsets
from tests.supervisor.core.snapshots import HOUR, TOPIC, spec
from tests.supervisor.world import GC_DELAY, World, publish_request
from tests.supervisor.yard import owned

DELTA, ICEBERG = ExportFormat.DELTA, ExportFormat.ICEBERG
GRACE = timedelta(days=30)
Ids = Counter[tuple[int, int]]
"""(partition, offset) -> rows: what the tables of a story hold."""
Extra = dict[str, pa.Array]
"""Column -> values, one per row."""


class Harbour(World):
    """One supervisor, its files, and the handlers of its exports, run by hand."""

    columns: tuple[Column, ...] = ()
    """What tasks tell of their files' columns."""

    def __init__(self, store: Store, root: Path, *formats: ExportFormat) -> None:
        """Begin with nothing published; the table is to be exported in these formats."""
        self.root = root
        root.mkdir(exist_ok=True)
        self.warehouse = owned(LocalWarehouse(root), store)
        super().__init__(store, None)
        self.catalog_url = f"sqlite:///{root.parent / 'catalog.db'}"
        self.formats: dict[ExportFormat, TableFormat] = {
            DELTA: DeltaFormat(root),
            ICEBERG: IcebergFormat(root, self.catalog_url),
        }
        self.ask_for(*formats)

    def ask_for(self, *formats: ExportFormat) -> None:
        """Store a spec that asks for these exports."""
        wanted = spec(task_count=1)
        schema = wanted.data_schema.model_copy(update={"exports": formats})
        self.set_spec(wanted.model_copy(update={"data_schema": schema}))
        with self.store.leading(self.leadership.term()) as tx:
            follow(tx, TOPIC, self.clock.now())

    # -- what happens --------------------------------------------------------------------------

    def publish_range(self, records: int = 3, extra: Callable[[int], Extra] | None = None) -> str:
        """Read so many records of each partition, publish them as one file; return its path.

        `extra` gives further columns for so many rows.
        """
        self.write(records)
        for _ in range(3):
            self.settle()
            self.sync()
            self.read(records)
        self.clock.advance(HOUR)
        for _ in range(3):
            self.settle()
            self.sync()
        [(hand, replica)] = self.ready_to_publish()
        request = publish_request(replica.wanted, hand.incarnation)
        files = [self._written(file, request, extra) for file in request.segments]
        update = {"segments": tuple(files), "columns": self.columns}
        request = request.model_copy(update=update)
        answer = self.publishing.publish(request.task_id, replica.wanted.token, request)
        assert answer.outcome is PublishOutcome.COMMITTED
        replica.stopped = True
        return files[0].path

    def _written(
        self, file: SegmentFile, request: PublishRequest, extra: Callable[[int], Extra] | None
    ) -> SegmentFile:
        ids = ids_of(request.start, request.end)
        place = self.root / file.path
        place.parent.mkdir(parents=True)
        columns = {
            "__time": pa.array([file.time_min] * len(ids), pa.timestamp("us", "UTC")),
            "name": pa.array([f"row {offset}" for _, offset in ids]),
            "__partition": pa.array([partition for partition, _ in ids], pa.int32()),
            "__offset": pa.array([offset for _, offset in ids], pa.int64()),
        }
        pq.write_table(pa.table({**columns, **(extra(len(ids)) if extra else {})}), place)
        return file.model_copy(update={"size_bytes": place.stat().st_size})

    def mark(self, *paths: str, used: bool) -> None:
        """Take files out of the table, or put them back."""
        with self.store.reading() as tx:
            found = tx.segments.choose(TOPIC)
        ids = [segment.id for segment in found if segment.file.path in paths]
        life = self.segments
        (life.mark_used if used else life.mark_unused)(TOPIC, SegmentSelection(ids=ids), "me")

    def export(self, table_format: ExportFormat = DELTA) -> timedelta | None:
        """Handle what waits in the queue of one export, as a process that remembers nothing."""
        processor = self.processor(table_format)
        while (again := processor.run_once()) == timedelta(0):
            pass
        return again

    def compare_all(self) -> None:
        """Begin a term as an overlord does."""
        CompareAll(self.store, self.clock, self.leadership.term).run_once()

    def die(self, table_format: ExportFormat = DELTA) -> None:
        """Have an export's queue found damaged."""
        with self.store.leading(self.leadership.term()) as tx:
            tx.events.declare_dead(self.queue(table_format), 1, "damaged")

    def repair(self, table_format: ExportFormat = DELTA) -> None:
        """Make a dead queue live again, as an operator does."""
        Operations(
            self.store,
            self.clock,
            self.leadership.term,
            Meters(),
            wake=lambda _: None,
            config_of=lambda _: EXPORTS,
            repaired=announce_repaired,
        ).repair(queue_of(TOPIC, table_format), "ann")

    def end_lives(self, after: timedelta) -> None:
        """Let time pass, then handle what is due of unused segments and their files."""
        self.clock.advance(after)
        container, files = container_of(TOPIC), QueueConfig(delay=GC_DELAY)
        for name, handler, config in (
            (SEGMENTS, SegmentsUnused(files), self.segments.config),
            (SEGMENT_FILES, SegmentFiles(self.warehouse, GRACE), files),
        ):
            kit = ProcessorParts(self.store, self.clock, self.leadership.term, Meters())
            processor = EventProcessor(QueueName(container, name), config, handler, kit)
            while processor.run_once() == timedelta(0):
                pass

    def processor(
        self, table_format: ExportFormat = DELTA, leadership: Leadership | None = None
    ) -> EventProcessor:
        """The queue's consumer, of whoever leads now or of another overlord."""
        copies = LocalCopies(self.root)
        handler = Exporting(table_format, self.formats[table_format], self.warehouse, copies)
        term = (leadership or self.leadership).term()
        kit = ProcessorParts(self.store, self.clock, lambda: term, Meters())
        return EventProcessor(queue_of(TOPIC, table_format), EXPORTS, handler, kit)

    @property
    def segments(self) -> SegmentLife:
        """The verbs of segments' end."""
        return SegmentLife(self.store, self.clock, self.leadership.term, GRACE)

    # -- what is seen --------------------------------------------------------------------------

    def published(self) -> dict[str, Ids]:
        """The used files of the table, below the warehouse, with the rows that lie in each."""
        with self.store.reading() as tx:
            found = tx.segments.of_data_source(TOPIC)
        return {s.file.path: ids_in(pq.read_table(self.root / s.file.path)) for s in found}

    def row(self, table_format: ExportFormat = DELTA) -> Export:
        """What the metadata database says of an export."""
        with self.store.reading() as tx:
            found = tx.exports.get(TOPIC, table_format)
        assert found is not None
        return found

    def queue(self, table_format: ExportFormat = DELTA) -> QueueRow:
        """Where its queue stands."""
        with self.store.reading() as tx:
            found = tx.events.find(queue_of(TOPIC, table_format))
        assert found is not None
        return found

    def failed(self) -> list[FailedEvent]:
        """What was set aside, in all queues."""
        with self.store.reading() as tx:
            return tx.events.failed(None, 100)


class Shelf:
    """An exported table that holds nothing and takes everything."""

    held: Mapping[str, int] = MappingProxyType({})
    standing = ExportVersion()

    def open(self, _: str) -> "Shelf":
        return self

    def commit(self, change: ExportChange, sequence: int, now: datetime) -> ExportVersion:
        assert (change.empty, now.tzinfo is None) == (False, False)
        return ExportVersion(sequence, TOPIC)


class NoCopies:
    """Of a table whose columns have not grown."""

    def size_of(self, data_source: str, file: ExportedFile) -> int | None:
        raise AssertionError(f"{file.path} of {data_source} is no copy")

    def make(self, data_source: str, file: ExportedFile) -> int:
        raise AssertionError(f"{file.path} of {data_source} is no copy")


def ids_of(start: Offsets, end: Offsets) -> list[tuple[int, int]]:
    """The records of a range."""
    return [(p.partition, at) for p in sorted(start) for at in range(start[p], end[p])]


def ids_in(rows: pa.Table) -> Ids:
    """The records that became rows."""
    columns = (rows.column(name).to_pylist() for name in ("__partition", "__offset"))
    return Counter(zip(*columns, strict=True))
