"""The sweep finds every folder that no event is going to clean up, and only those (P23)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.sweep import AT_ONCE, Swept
from supervisor.core.model.rows import TaskStatus
from supervisor.core.queue.events import FailedEvent
from supervisor.core.values.errors import LeaseLost, StorageUnavailable
from tasks.contract.messages import PublishOutcome
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import Hand, Replica, World
from tests.supervisor.yard import CLUSTER_QUEUE, NOBODYS, QUEUE, MemoryYard, owned

FOLDER = f"{TOPIC}/data/{NOBODYS}"


@pytest.fixture
def yard(world: World) -> MemoryYard:
    """Two replicas whose range is fixed, and their warehouse."""
    return MemoryYard(world)


@pytest.fixture
def lost(yard: MemoryYard) -> tuple[Hand, Replica, str]:
    """A task that ended, whose event was lost: as with a queue that had to be repaired."""
    hand, replica = first(yard.world)
    file = yard.writes(replica, "batch-0.parquet")
    world = yard.world
    with world.store.leading(world.leadership.term()) as tx:
        tx.tasks.end(replica.wanted.task_id, TaskStatus.FAILED, "killed", world.clock.now())
    yard.stops(hand, replica)
    return hand, replica, file


def test_a_folder_without_a_row_is_queued_and_deleted(yard: MemoryYard) -> None:
    file = yard.files.write(f"{FOLDER}/batch-0.parquet")

    assert yard.sweeps() == Swept(1)

    assert yard.keys(CLUSTER_QUEUE) == [FOLDER]
    yard.waits()
    assert not yard.files.holds(file)


def test_an_empty_folder_without_a_row_goes_too(yard: MemoryYard) -> None:
    yard.files.make_folder(f"{FOLDER}/b0-1")

    yard.sweeps()
    yard.waits()

    assert not yard.files.holds(FOLDER)


def test_a_folder_without_a_row_in_which_something_is_named_is_left_alone(
    yard: MemoryYard, world: World
) -> None:
    """Goal: a row that somebody deleted takes no published file with it."""
    hand, replica = first(world)
    assert world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
    with world.store.reading() as tx:
        [segment] = tx.segments.of_task(replica.wanted.task_id)
        publication = tx.segments.publication(segment.generation_id)
    assert publication is not None
    file = yard.files.write(f"{FOLDER}/part-0.parquet")
    moved = replace(
        segment,
        id="moved",
        generation_id=_other_generation(world),
        file=segment.file.model_copy(update={"path": file}),
    )
    with world.store.leading(world.leadership.term()) as tx:
        tx.segments.add(replace(publication, generation_id=moved.generation_id), [moved])

    assert yard.sweeps() == Swept(0)
    yard.queues(FOLDER, CLUSTER_QUEUE)
    for _ in range(3):
        yard.waits()

    assert yard.files.holds(file)


def _other_generation(world: World) -> str:
    with world.store.reading() as tx:
        return next(g.id for g in tx.generations.live(TOPIC))


def test_a_lost_event_is_queued_again(yard: MemoryYard, lost: tuple[Hand, Replica, str]) -> None:
    _, replica, file = lost

    assert yard.sweeps() == Swept(1)

    assert yard.keys() == [replica.wanted.task_id]
    yard.waits()
    assert not yard.files.holds(file)


def test_a_task_that_waits_is_not_queued_twice(
    yard: MemoryYard, lost: tuple[Hand, Replica, str]
) -> None:
    _, replica, _ = lost

    assert [yard.sweeps().queued for _ in range(3)] == [1, 0, 0]

    assert yard.keys() == [replica.wanted.task_id]


def test_what_was_set_aside_is_left_to_people(
    yard: MemoryYard, lost: tuple[Hand, Replica, str], world: World
) -> None:
    """Goal: no event goes round for ever; once a person has dropped it, it comes back."""
    _, replica, _ = lost
    yard.sweeps()
    now = world.clock.now()
    with world.store.leading(world.leadership.term()) as tx:
        row = tx.events.find(QUEUE)
        assert row is not None
        [stored] = tx.events.read(row.id, row.processed_seq, 10)
        key = replica.wanted.task_id
        failed = FailedEvent(QUEUE, stored.seq, key, stored.payload, "no", now, now)
        tx.events.advance(row, stored.seq, row.processed_bytes + stored.size_bytes)
        tx.events.set_aside(failed)

    assert yard.sweeps() == Swept(0)

    with world.store.leading(world.leadership.term()) as tx:
        assert tx.events.drop_failed(QUEUE, stored.seq)
    assert yard.sweeps() == Swept(1)


def test_running_tasks_and_stale_ones_are_none_of_its_business(
    yard: MemoryYard, world: World
) -> None:
    (_, running), (_, stale) = world.ready_to_publish()
    yard.writes(running, "batch-0.parquet")
    yard.writes(stale, "part-0.parquet")
    yard.ends(stale, PublishOutcome.STALE)

    assert yard.sweeps() == Swept(0)


def test_a_settled_folder_that_is_there_again_is_queued(
    yard: MemoryYard, lost: tuple[Hand, Replica, str]
) -> None:
    """Goal: also a write that came much later, as from a machine that slept, leaves nothing."""
    _, replica, _ = lost
    yard.sweeps()
    assert yard.waits().waits().waits().is_settled(replica)
    assert yard.sweeps() == Swept(0)
    file = yard.writes(replica, "late.parquet")

    assert yard.sweeps() == Swept(1)

    yard.waits()
    assert not yard.files.holds(file)


def test_a_settled_task_that_published_is_left_alone(yard: MemoryYard, world: World) -> None:
    hand, replica = first(world)
    file = yard.writes(replica, "part-0.parquet")
    assert world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
    yard.stops(hand, replica)
    assert yard.waits().waits().is_settled(replica)

    assert yard.sweeps() == Swept(0)
    assert yard.files.holds(file)


def test_folders_that_no_task_can_have_made_are_told_and_not_touched(yard: MemoryYard) -> None:
    strange = [f"{TOPIC}/data/lost+found", f"{TOPIC}/data/my-backup", f".trash/data/{NOBODYS}"]
    for folder in strange:
        yard.files.make_folder(folder)
    yard.files.make_folder(f"{TOPIC}/other/{NOBODYS}")

    swept = yard.sweeps()

    assert swept.queued == 0
    assert sorted(swept.strange) == sorted(strange)
    assert yard.waiting(CLUSTER_QUEUE) == []


def test_more_folders_than_one_transaction_takes_are_all_queued(world: World) -> None:
    yard = MemoryYard(world)
    number = AT_ONCE + 3
    for n in range(number):
        yard.files.make_folder(f"{TOPIC}/data/index_kafka_clicks_{n:015x}_aaaabbbb")

    assert yard.sweeps() == Swept(number)

    with world.store.reading() as tx:
        assert len(tx.events.outstanding_keys(CLUSTER_QUEUE)) == number
    assert yard.sweeps() == Swept(0)


class StartingWarehouse(MemoryWarehouse):
    """A task begins, and writes, just after the folders were listed or while they are."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.begun: list[Replica] = []

    def task_folders(self, data_source: str | None = None) -> Iterator[tuple[str, str]]:
        self.world.settle()
        self.world.sync()
        for _, replica in self.world.replicas():
            self.write(f"{TOPIC}/data/{replica.wanted.task_id}/batch-0.parquet")
            self.begun.append(replica)
        yield from super().task_folders(data_source)


def test_a_task_that_begins_during_the_sweep_keeps_its_files(world: World) -> None:
    """Goal: its row stands before its first byte, and rows are read after the folders."""
    for hand, replica in world.ready_to_publish():
        yard = MemoryYard(world)
        yard.ends(replica)
        yard.stops(hand, replica)
    world.clock.advance(timedelta(minutes=5))
    warehouse = owned(StartingWarehouse(world), world.store)
    warehouse.make_folder(f"{TOPIC}/data")
    yard = MemoryYard(world, warehouse)

    assert yard.sweeps() == Swept(0)

    assert warehouse.begun
    assert yard.waiting(CLUSTER_QUEUE) == []


def test_a_dead_queue_keeps_the_sweep_from_nothing_else(
    yard: MemoryYard, lost: tuple[Hand, Replica, str], world: World
) -> None:
    """Goal: one supervisor's trouble does not touch the others'."""
    assert lost
    yard.queues("some-task")
    with world.store.leading(world.leadership.term()) as tx:
        row = tx.events.find(QUEUE)
        assert row is not None
        tx.events.declare_dead(row, 1, "damaged")
    yard.files.make_folder(FOLDER)

    assert yard.sweeps() == Swept(1)

    assert yard.keys(CLUSTER_QUEUE) == [FOLDER]


def test_storage_that_is_down_is_told(yard: MemoryYard) -> None:
    yard.files.go_down()

    with pytest.raises(StorageUnavailable):
        yard.sweeps()


def test_who_does_not_lead_queues_nothing(yard: MemoryYard, world: World) -> None:
    yard.files.make_folder(FOLDER)
    world.leadership.lost()

    with pytest.raises(LeaseLost):
        yard.sweeps()

    assert yard.waiting(CLUSTER_QUEUE) == []
