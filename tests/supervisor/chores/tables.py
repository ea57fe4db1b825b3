"""Published tables with the end of their life: a leader, its queues, a warehouse in memory."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.forget import FORGOTTEN, Forgetting, SupervisorGone
from supervisor.chores.retention import RetentionKeeper
from supervisor.chores.segments import (
    SEGMENT_FILES,
    SEGMENTS,
    SegmentFiles,
    SegmentLife,
    SegmentsUnused,
)
from supervisor.core.model.rows import AuditEntry, GenerationState, Segment, TaskStatus
from supervisor.core.queue.events import CLUSTER, QueueConfig, QueueName, QueueRow, container_of
from supervisor.core.values.table_names import errors_table
from supervisor.eventqueue.handling import Handler
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.ports.store import Store
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    P0,
    TOPIC_ID,
    attempt,
    end_at,
    opening,
    publication,
    segment,
    take_lease,
)
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.yard import owned

TABLE = "table"
DAY = timedelta(days=1)
GRACE = 30 * DAY
DELAY = timedelta(minutes=1)
NOW = timedelta(0)


@dataclass
class Tables:
    """A leader over `store`; nothing runs until it is told to."""

    store: Store
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOON))
    warehouse: MemoryWarehouse = field(default_factory=MemoryWarehouse)

    def __post_init__(self) -> None:
        owned(self.warehouse, self.store)
        self.term = take_lease(self.store)
        common = (self.store, self.clock, lambda: self.term)
        self.segments = SegmentLife(*common, GRACE)
        self.retention = RetentionKeeper(*common, self.segments)
        self.forgetting = Forgetting(*common, DELAY)
        self.files = QueueConfig(delay=DELAY)

    def publish(
        self,
        files: int = 1,
        supervisor_id: str = CLICKS,
        *,
        ago: timedelta = NOW,
        path: str = "",
        errors: bool = False,
    ) -> list[Segment]:
        """Publish a range in so many files: of the hour before NOON, and of hours before it.

        With `errors` they are of the errors table.
        """
        with self.store.leading(self.term) as tx:
            newest = tx.generations.newest(supervisor_id)
            number = 1 if newest is None else newest.ordinal + 1
            generation, task = f"{supervisor_id}:{number}", f"task-{supervisor_id}-{number}"
            start, end = {P0: 10 * (number - 1)}, {P0: 10 * number}
            segments = [
                _segment(path or f"{TABLE}/data/{task}/{{number}}.parquet", number=n, ago=ago)
                for n in range(files)
            ]
            segments = [
                replace(
                    each,
                    id=f"{task}/{n}",
                    data_source=errors_table(TABLE) if errors else TABLE,
                    supervisor_id=supervisor_id,
                    generation_id=generation,
                    task_id=task,
                )
                for n, each in enumerate(segments)
            ]
            tx.generations.open(supervisor_id, TABLE, opening(generation, number, start), NOON)
            tx.tasks.start(replace(attempt(task, generation), supervisor_id=supervisor_id))
            tx.generations.begin_handoff(generation, 0, must_end=True, why="", now=NOON)
            tx.generations.fix_end(end_at(generation, 1, end), NOON)
            tx.offsets.initialise(supervisor_id, TOPIC_ID, start)
            tx.offsets.advance(supervisor_id, start, end, {"topic": TOPIC_ID})
            row = replace(publication(generation, task), start=start, end=end, rows=10 * files)
            tx.segments.add(replace(row, supervisor_id=supervisor_id), segments)
            tx.generations.close(generation, GenerationState.PUBLISHED, NOON)
            tx.tasks.end(task, TaskStatus.SUCCESS, "published", NOON)
        for each in segments:
            self.warehouse.write(each.file.path)
        return segments

    def give_up(self, supervisor_id: str = CLICKS, *, settled: bool = True) -> str:
        """A range that ends without a publication, with one task; return the task's id."""
        with self.store.leading(self.term) as tx:
            newest = tx.generations.newest(supervisor_id)
            number = 1 if newest is None else newest.ordinal + 1
            generation, task = f"{supervisor_id}:{number}", f"task-{supervisor_id}-{number}"
            tx.generations.open(supervisor_id, TABLE, opening(generation, number, {P0: 0}), NOON)
            tx.tasks.start(replace(attempt(task, generation), supervisor_id=supervisor_id))
            tx.tasks.end(task, TaskStatus.FAILED, "a story", NOON)
            tx.generations.close(generation, GenerationState.DISCARDED, NOON)
            if settled:
                tx.tasks.folder_deleted(task, NOON)
        return task

    # -- what is seen ----------------------------------------------------------------------------

    def of_table(self, table: str = TABLE) -> list[str]:
        """The ids of the segments that readers of the table see."""
        with self.store.reading() as tx:
            return sorted(each.id for each in tx.segments.of_data_source(table))

    def holds(self, *segments: Segment) -> list[bool]:
        """Which of these files are there."""
        return [self.warehouse.holds(each.file.path) for each in segments]

    def queue(self, name: str, supervisor_id: str = CLICKS) -> QueueRow:
        """Where a queue of a supervisor stands."""
        with self.store.reading() as tx:
            found = tx.events.find(QueueName(container_of(supervisor_id), name))
        assert found is not None
        return found

    def audit(self) -> list[AuditEntry]:
        """What was changed, oldest first."""
        with self.store.reading() as tx:
            return tx.audit.recent(1_000)[::-1]

    # -- what happens ----------------------------------------------------------------------------

    def pass_time(self, by: timedelta) -> None:
        """Move the clock, then let the queues handle all that is due."""
        self.clock.advance(by)
        self.run()

    def run(self, supervisor_ids: tuple[str, ...] = (CLICKS, "others")) -> None:
        """Handle what is due, in every queue."""
        unused, files = SegmentsUnused(self.files), SegmentFiles(self.warehouse)
        for each in supervisor_ids:
            container = container_of(each)
            self.drain(QueueName(container, SEGMENTS), unused, self.segments.config)
            self.drain(QueueName(container, SEGMENT_FILES), files, self.files)
        gone = QueueName(CLUSTER, FORGOTTEN.name)
        self.drain(gone, SupervisorGone(row_batch=2), self.forgetting.config)

    def drain(self, queue: QueueName, handler: Handler, config: QueueConfig) -> None:
        """Handle what is due in one queue."""
        kit = ProcessorParts(self.store, self.clock, lambda: self.term, Meters())
        processor = EventProcessor(queue, config, handler, kit)
        while processor.run_once() == timedelta(0):
            pass


def _segment(path: str, *, number: int, ago: timedelta) -> Segment:
    return segment(path.format(number=number), NOON - HOUR * (number + 1) - ago)
