"""What a worker is told to run: from the rows alone."""

from datetime import timedelta

import pytest

from supervisor.control.desired_state import desired_state
from supervisor.core.model.rows import GenerationState, TaskStatus, WorkerRow
from supervisor.ports.store import Store
from tasks.contract.messages import DesiredTask, RunState, SyncResponse
from tests.supervisor.core.snapshots import HOUR, NOON, TOPIC, offsets, spec
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import World

LEASE = timedelta(seconds=60)


def desired(world: World, worker: str = "w1", term: int | None = None) -> SyncResponse:
    with world.store.reading() as tx:
        return desired_state(tx, worker, world.leadership.term() if term is None else term, LEASE)


def only(world: World, worker: str = "w1") -> DesiredTask:
    [task] = desired(world, worker).tasks
    return task


@pytest.fixture
def reading(store: Store) -> World:
    """One group of two replicas that read."""
    world = World(store, spec(task_count=1, replicas=2))
    world.write(5)
    for _ in range(2):
        world.settle()
        world.sync()
        world.read(5)
    return world


def test_a_task_is_told_whole(reading: World) -> None:
    """Goal: enough to start it, or to take it up again, without another question."""
    task = only(reading)

    assert (task.supervisor_id, task.group, task.attempt) == (TOPIC, 0, 1)
    assert task.start == offsets(0, 0)
    assert task.topic_ids == {TOPIC: "id-1"}
    assert task.spec.data_source == TOPIC
    assert (task.order.state, task.order.sequence, task.order.end) == (RunState.RUN, 0, None)
    assert task.order.pause_lease == LEASE
    assert not task.turn
    assert not task.taken_up


def test_each_worker_is_told_of_its_own_tasks(reading: World) -> None:
    assert only(reading, "w1").replica != only(reading, "w2").replica
    assert only(reading, "w1").token != only(reading, "w2").token
    assert desired(reading, "w3").tasks == ()


def test_a_pause_is_ordered_of_every_replica_with_the_same_number(reading: World) -> None:
    reading.clock.advance(HOUR)
    reading.settle()

    orders = [only(reading, name).order for name in ("w1", "w2")]

    assert {(o.state, o.sequence, o.end) for o in orders} == {(RunState.PAUSE, 1, None)}


def test_after_idle_hours_a_task_still_keeps_what_comes_now(store: Store) -> None:
    """Goal: an idle stretch costs no record, and both replicas keep the same ones."""
    source = spec(task_count=1, replicas=2).io_config
    bounds = {"early_message_rejection_period": timedelta(minutes=10)}
    wanted = spec(task_count=1, replicas=2).model_copy(
        update={"io_config": source.model_copy(update=bounds)}
    )
    world = World(store, wanted)
    for _ in range(4 * 12):
        world.settle()
        world.sync()
        world.clock.advance(HOUR / 12)
    for _ in range(6):
        world.settle()
        world.sync()

    keeps = {task.spec.not_after for name in ("w1", "w2") for task in desired(world, name).tasks}

    [until] = keeps
    assert until is not None
    assert until > world.clock.now()


def test_a_fixed_end_is_told_to_every_replica_also_to_one_that_starts_later(
    world: World,
) -> None:
    """Goal: a replacement is born with the persisted end (R3)."""
    _, replica = first(world)
    end = replica.wanted.order.end
    generation_id = replica.wanted.generation_id
    with world.store.leading(world.leadership.term()) as tx:
        for task in tx.tasks.of_generations([generation_id]):
            tx.tasks.end(task.id, TaskStatus.FAILED, "killed", NOON)
    world.clock.advance(HOUR / 2)
    world.settle()

    again = [
        t for name in ("w1", "w2") for t in desired(world, name).tasks if t.order.end is not None
    ]

    assert [(t.generation_id, t.attempt, t.order.end) for t in again] == [(generation_id, 2, end)]
    assert again[0].start == replica.wanted.start


def test_a_task_that_has_ended_is_not_listed(reading: World) -> None:
    """Goal: what is not listed is to be stopped."""
    gone = only(reading).task_id
    with reading.store.leading(reading.leadership.term()) as tx:
        tx.tasks.end(gone, TaskStatus.FAILED, "killed", NOON)

    assert desired(reading).tasks == ()


def test_a_task_of_a_generation_that_has_ended_is_not_listed(reading: World) -> None:
    with reading.store.leading(reading.leadership.term()) as tx:
        tx.generations.close(only(reading).generation_id, GenerationState.DISCARDED, NOON)

    assert desired(reading).tasks == ()


def test_its_turn_comes_with_the_last_predecessor(world: World) -> None:
    """Goal: a task that waits asks again when it is its turn (R6)."""
    hand, replica = first(world)
    world.settle()
    world.sync()
    world.write(5)
    world.read(5)
    world.set_spec(spec(task_count=1, replicas=2, suspended=True))
    for _ in range(3):
        world.settle()
        world.sync()
    early = replica.wanted.generation_id

    def turns() -> dict[str, bool]:
        return {t.generation_id: t.turn for t in desired(world, hand.id).tasks}

    assert sorted(turns().values()) == [False, True]
    assert turns()[early]
    world.publish(hand, replica)
    assert list(turns().values()) == [True]


def test_a_generation_keeps_the_version_of_the_spec_it_was_opened_with(reading: World) -> None:
    """Goal: replicas of one range read alike (P8)."""
    before = only(reading).spec
    changed = spec(task_count=1, replicas=2)
    schema = changed.data_schema.model_copy(update={"data_source": "another"})
    reading.set_spec(changed.model_copy(update={"data_schema": schema}))

    assert only(reading).spec == before


def test_after_a_tombstone_tasks_are_still_told(reading: World) -> None:
    """Goal: terminate is graceful (P19)."""
    before = only(reading)
    reading.set_spec(None)

    assert only(reading) == before


def test_a_new_leader_that_wants_the_same_wakes_nobody(reading: World) -> None:
    """Goal: the revision does not hold the term; orders do."""
    before = desired(reading)
    after = desired(reading, term=before.term + 1)

    assert after.revision == before.revision
    assert (after.term, after.tasks[0].order.term) == (before.term + 1, before.term + 1)


def test_every_change_of_what_is_wanted_changes_the_revision(reading: World) -> None:
    """Goal: a long poll is answered at once."""
    seen = [desired(reading).revision]

    def changed() -> None:
        seen.append(desired(reading).revision)
        assert len(set(seen)) == len(seen)

    reading.clock.advance(HOUR)
    reading.settle()
    changed()  # pause
    reading.sync()
    reading.settle()
    changed()  # end, and the successor
    for hand, replica in reading.ready_to_publish():
        reading.publish(hand, replica)
    reading.sync()
    for hand, replica in reading.ready_to_publish():
        reading.publish(hand, replica)
    changed()  # published
    with reading.store.leading(reading.leadership.term()) as tx:
        tx.workers.register(WorkerRow("w1", 2, "http://w1", 4, NOON))
        tx.tasks.take_up("w1", 2, {only(reading).task_id: "new token"})
    changed()  # taken up
    assert only(reading).taken_up
