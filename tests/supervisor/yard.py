"""A warehouse, and the world whose tasks write there; the queues' real processor, run by hand."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.chores.sweep import Sweep, Swept
from supervisor.chores.task_output import TaskOutput, folder_of
from supervisor.control.end_task import KIND, TASK_OUTPUT, task_output_of
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.queue.events import CLUSTER, FailedEvent, QueuedEvent, QueueName, StoredEvent
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.ports.store import Store
from tasks.contract.messages import PublishOutcome
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.scenarios.publishers import task_of
from tests.supervisor.world import ENDINGS, GC_DELAY, Hand, Replica, World

QUEUE = task_output_of(TOPIC)
CLUSTER_QUEUE = QueueName(CLUSTER, TASK_OUTPUT)
SECOND = timedelta(seconds=1)
LOOKS_MAX = 1_000
NOBODYS = "index_kafka_clicks_0123456789abcde_aaaabbbb"
"""A name that a task could have, and none has."""


Owned = TypeVar("Owned", bound=LocalWarehouse | MemoryWarehouse)


def owned(warehouse: Owned, store: Store) -> Owned:
    """A warehouse that belongs to the metadata database of this story."""
    with store.reading() as tx:
        warehouse.mark(tx.installation.name())
    return warehouse


@dataclass
class Yard:
    """What all yards can do, whatever the warehouse is."""

    world: World
    warehouse: LocalWarehouse | MemoryWarehouse
    waits_s: list[float] = field(default_factory=list)
    """What the processor answered: when to look again."""

    def folder(self, replica: Replica) -> str:
        return folder_of(TOPIC, replica.wanted.task_id)

    def ends(self, replica: Replica, outcome: PublishOutcome | None = None) -> None:
        """End a task as failed."""
        with self.world.store.leading(self.world.leadership.term()) as tx:
            task = tx.tasks.get(replica.wanted.task_id)
            assert task is not None
            keep = outcome is PublishOutcome.STALE
            now = self.world.clock.now()
            ENDINGS.end(tx, task, TaskStatus.FAILED, "killed", now, keep_files=keep)
            if outcome is not None:
                tx.tasks.store_outcome(replica.wanted.task_id, outcome, published=False)

    def stops(self, hand: Hand, replica: Replica) -> None:
        """The worker confirms that it runs the task no more."""
        hand.heard.pop(replica.wanted.task_id, None)

    def waits(self, by: timedelta = GC_DELAY) -> "Yard":
        """Let time pass, then handle what is due."""
        self.world.clock.advance(by)
        return self.handles()

    def handles(self) -> "Yard":
        """Handle what is due now, in both queues."""
        for queue in (QUEUE, CLUSTER_QUEUE):
            processor = self.processor(queue)
            for _ in range(LOOKS_MAX):
                again = processor.run_once()
                if again != timedelta(0):
                    break
            else:
                raise AssertionError("the queue never rests")
            if again is not None:
                self.waits_s.append(again.total_seconds())
        return self

    def processor(self, queue: QueueName) -> EventProcessor:
        """The queue's consumer, as in a process that remembers nothing."""
        handler = TaskOutput(self.warehouse, self.world.hands)
        term = self.world.leadership.term
        kit = ProcessorParts(self.world.store, self.world.clock, term, Meters())
        return EventProcessor(queue, ENDINGS.config, handler.handle, kit)

    def sweeps(self) -> Swept:
        """Search the warehouse once."""
        world = self.world
        term = world.leadership.term
        return Sweep(world.store, self.warehouse, world.clock, term, ENDINGS).run_once()

    def queues(self, key: str, queue: QueueName = QUEUE, kind: str = KIND) -> None:
        """Add an event by hand."""
        with self.world.store.leading(self.world.leadership.term()) as tx:
            now = self.world.clock.now()
            tx.events.add(queue, QueuedEvent(kind, key), ENDINGS.config, now, exempt=True)

    def waiting(self, queue: QueueName = QUEUE) -> list[StoredEvent]:
        """What waits in a queue."""
        with self.world.store.reading() as tx:
            row = tx.events.find(queue)
            return [] if row is None else tx.events.read(row.id, row.processed_seq, 1_000)

    def keys(self, queue: QueueName = QUEUE) -> list[str]:
        """The keys of what waits in a queue."""
        return [event.key for event in self.waiting(queue)]

    def failed(self, queue: QueueName = QUEUE) -> list[FailedEvent]:
        """What was set aside."""
        with self.world.store.reading() as tx:
            return tx.events.failed(queue, 100)

    def failures_in_a_row(self) -> int:
        """How often the queue's head failed."""
        with self.world.store.reading() as tx:
            row = tx.events.find(QUEUE)
        return 0 if row is None else row.failed_iterations

    def task(self, replica: Replica) -> Task:
        return task_of(self.world, replica)

    def is_settled(self, replica: Replica) -> bool:
        return self.task(replica).folder_deleted_at is not None


class DiskYard(Yard):
    """A yard on the file system."""

    def __init__(self, world: World, root: Path) -> None:
        (root / TOPIC / "data").mkdir(parents=True)
        super().__init__(world, owned(LocalWarehouse(root), world.store))
        self.root = root

    def path(self, replica: Replica) -> Path:
        return self.root / self.folder(replica)

    def writes(self, replica: Replica, name: str) -> Path:
        """Let a task write a file."""
        file = self.path(replica) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
        return file


class MemoryYard(Yard):
    """A yard whose warehouse can fail."""

    def __init__(self, world: World, files: MemoryWarehouse | None = None) -> None:
        self.files = files or owned(MemoryWarehouse(), world.store)
        super().__init__(world, self.files)
        self.files.make_folder(f"{TOPIC}/data")

    def writes(self, replica: Replica, name: str) -> str:
        """Let a task write a file."""
        return self.files.write(f"{self.folder(replica)}/{name}")
