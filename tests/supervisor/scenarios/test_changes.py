"""What a change disturbs while tasks run: the world before and after."""

from datetime import timedelta

import pytest

from supervisor.core.model.rows import Generation, GenerationState, Task, TaskStatus
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.store import Store
from tasks.contract.messages import PublishOutcome, TaskPhase
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import HOUR, MINUTE, TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import World

READ = 7


def reading(store: Store, wanted: SupervisorSpec, partitions: int = 2) -> World:
    """A world whose groups all read, and have read."""
    world = World(store, wanted, partitions)
    for _ in range(3):
        turn(world)
    world.write(READ)
    world.read(READ)
    world.sync()
    return world


def turn(world: World) -> None:
    """Let the overlord come to rest, the workers follow, and whoever can publish."""
    world.settle()
    world.sync()
    for hand, replica in world.ready_to_publish():
        world.publish(hand, replica)


def live(world: World) -> list[Generation]:
    with world.store.reading() as tx:
        return tx.generations.live(TOPIC)


def active(world: World) -> set[str]:
    with world.store.reading() as tx:
        return {task.id for task in tx.tasks.active(TOPIC)}


def ended(world: World) -> list[Task]:
    with world.store.reading() as tx:
        return [t for t in tx.tasks.find(supervisor_id=TOPIC) if not t.active]


def committed(world: World) -> dict[TopicPartition, int]:
    with world.store.reading() as tx:
        return {p: row.next_offset for p, row in tx.offsets.of(TOPIC).items()}


def published_all(world: World) -> None:
    """Suspend, and see that everything that was written is in the table, once."""
    world.set_spec(newest(world).model_copy(update={"suspended": True}))
    for _ in range(6):
        turn(world)
    assert live(world) == []
    assert_promises(world.store)
    assert committed(world) == world.ends


def newest(world: World) -> SupervisorSpec:
    with world.store.reading() as tx:
        version = tx.specs.newest(TOPIC)
    assert version is not None
    assert version.spec is not None
    return version.spec


def test_another_replica_joins_and_disturbs_nobody(store: Store) -> None:
    """Goal: replicas 1 -> 2 starts one task per group; nothing hands off."""
    world = reading(store, spec(2, 1))
    before, groups = active(world), live(world)

    world.set_spec(spec(2, 2))
    world.settle()

    assert active(world) > before
    assert len(active(world)) == 4
    assert [g.id for g in live(world)] == [g.id for g in groups]
    assert {g.state for g in live(world)} == {GenerationState.READING}
    published_all(world)


def test_fewer_replicas_end_the_one_that_is_behind_and_disturb_nobody_else(store: Store) -> None:
    """Goal: replicas 2 -> 1 throws away the least, and the one that stays reads on."""
    world = reading(store, spec(1, 2))
    world.write(READ)
    [(_, ahead), (_, behind)] = world.replicas()
    ahead.position = {p: at + READ for p, at in ahead.position.items()}
    world.sync()
    [group] = live(world)

    world.set_spec(spec(1, 1))
    world.settle()

    assert active(world) == {ahead.wanted.task_id}
    [gone] = ended(world)
    assert (gone.id, gone.status) == (behind.wanted.task_id, TaskStatus.SUCCESS)
    assert gone.reason == "no longer wanted: replicas is 1 now"
    assert [(g.id, g.state) for g in live(world)] == [(group.id, GenerationState.READING)]
    published_all(world)


def test_a_replica_that_is_not_heard_of_is_not_preferred_to_one_that_reads(store: Store) -> None:
    """Goal: of two replicas never the only one that is known to live is ended (P6)."""
    world = reading(store, spec(1, 2))
    [(silent, _), (_, heard)] = world.replicas()
    silent.heard = {}

    world.set_spec(spec(1, 1))
    world.settle()

    assert active(world) == {heard.wanted.task_id}


def test_no_replica_is_ended_before_enough_of_them_are_heard_of(store: Store) -> None:
    """Goal: a leader that is new knows nobody yet; it ends nobody either (P6)."""
    world = reading(store, spec(1, 2))
    before = active(world)
    for hand in world.hands.all.values():
        hand.heard = {}

    world.set_spec(spec(1, 1))
    world.settle()

    assert active(world) == before


def test_replicas_up_and_down_come_to_rest(store: Store) -> None:
    """Goal: whichever number was kept, no replica is started that is ended again."""
    world = reading(store, spec(1, 2))
    for replicas in (1, 3, 2, 1, 2, 1):
        world.set_spec(spec(1, replicas))
        for _ in range(3):
            world.settle()
            world.sync()
            world.read(1)
        assert len(active(world)) == replicas
    published_all(world)


def test_a_shorter_duration_is_due_earlier_without_a_restart(store: Store) -> None:
    """Goal: taskDuration of a range that is read follows the newest version."""
    world = reading(store, spec(1, duration=HOUR))
    [group] = live(world)
    world.clock.advance(20 * MINUTE)
    world.settle()
    assert [g.state for g in live(world)] == [GenerationState.READING]

    world.set_spec(spec(1, duration=10 * MINUTE))
    world.one_pass()

    [found] = live(world)
    assert (found.id, found.state) == (group.id, GenerationState.PAUSING)
    assert (found.must_end, found.handoff_why) == (False, "taskDuration of 600 s is over")
    published_all(world)


def test_a_longer_duration_is_due_later(store: Store) -> None:
    world = reading(store, spec(1, duration=10 * MINUTE))

    world.set_spec(spec(1, duration=HOUR))
    world.clock.advance(20 * MINUTE)
    world.settle()

    assert [g.state for g in live(world)] == [GenerationState.READING]


def test_another_schema_hands_off_and_goes_on_where_the_old_one_ended(store: Store) -> None:
    """Goal: rows of one file have one schema; nothing is read twice for it (P8)."""
    world = reading(store, spec(1))
    [old] = live(world)
    schema = newest(world).data_schema.model_copy(
        update={"timestamp_spec": newest(world).data_schema.timestamp_spec.model_copy()}
    )
    other = schema.timestamp_spec.model_copy(update={"column": "ts"})
    changed = newest(world).model_copy(
        update={"data_schema": schema.model_copy(update={"timestamp_spec": other})}
    )

    world.set_spec(changed)
    for _ in range(3):
        turn(world)

    [successor] = live(world)
    with world.store.reading() as tx:
        published = tx.generations.get(old.id)
    assert published is not None
    assert published.handoff_why == (
        "spec version 2 differs from its own: /spec/dataSchema/timestampSpec/column"
    )
    assert (successor.spec_version, successor.start) == (2, published.end)
    published_all(world)


def test_more_groups_than_partitions_change_nothing(store: Store) -> None:
    """Goal: the least disturbance: the layout stays, so nobody is asked to hand off."""
    world = reading(store, spec(2), partitions=2)
    before = active(world)

    world.set_spec(spec(8))
    world.settle()

    assert active(world) == before
    assert {g.state for g in live(world)} == {GenerationState.READING}


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 3)])
def test_a_rescale_while_a_predecessor_publishes_loses_and_repeats_nothing(
    store: Store, before: int, after: int
) -> None:
    """Goal: new groups start at ends that are not published yet, and wait for them (P8, P9)."""
    world = reading(store, spec(before, duration=10 * MINUTE), partitions=3)
    world.clock.advance(10 * MINUTE)
    for _ in range(2):
        world.settle()
        world.sync()
    late = world.ready_to_publish()
    assert late, "nobody publishes yet: this is the moment of the story"
    world.write(READ)
    world.read(READ)
    world.sync()

    world.set_spec(spec(after, duration=10 * MINUTE))
    for _ in range(3):
        world.settle()
        world.sync()

    reading_now = [g for g in live(world) if g.state is GenerationState.READING]
    assert len(reading_now) == after
    assert all(g.start[p] > 0 for g in reading_now for p in g.start)
    for hand, replica in world.ready_to_publish()[::-1]:
        world.publish(hand, replica)
        assert_promises(world.store)
    published_all(world)


def test_partitions_that_are_added_in_the_middle_of_a_handoff_are_read_whole(store: Store) -> None:
    """Goal: a new partition starts at its earliest, the others at their ends (P9, P10, E8)."""
    world = reading(store, spec(2, duration=10 * MINUTE), partitions=3)
    world.clock.advance(10 * MINUTE)
    world.one_pass()
    assert {g.state for g in live(world)} == {GenerationState.PAUSING}

    world.add_partitions(TOPIC, 2)
    world.write(READ)
    for _ in range(6):
        turn(world)
        world.read(100)

    world.sync()
    assert {p for g in live(world) for p in g.start} == world.ends.keys()
    assert {g.partition_count for g in live(world) if g.open} == {5}
    published_all(world)


def test_only_a_publish_that_is_its_turn_is_committed_after_a_rescale(store: Store) -> None:
    """Goal: a group of the new layout that is ready first waits for all old ones (P8, P22)."""
    world = reading(store, spec(2, duration=10 * MINUTE), partitions=2)
    world.set_spec(spec(1, duration=10 * MINUTE))
    for _ in range(3):
        world.settle()
        world.sync()
    world.write(READ)
    world.read(READ)
    world.sync()
    world.set_spec(newest(world).model_copy(update={"suspended": True}))
    for _ in range(3):
        world.settle()
        world.sync()
    [both] = [g for g in live(world) if len(g.start) == 2]

    [(hand, early)] = [
        pair for pair in world.ready_to_publish() if pair[1].wanted.generation_id == both.id
    ]

    assert world.publish(hand, early).outcome is PublishOutcome.WAIT_FOR_PREDECESSOR
    assert early.phase is TaskPhase.PUBLISHING
    published_all(world)


def test_an_idle_supervisor_is_rescaled_within_its_pause(store: Store) -> None:
    """Goal: with nothing read there is nothing to publish: empty groups close (P12)."""
    world = World(store, spec(1), 4)
    for _ in range(3):
        turn(world)
    began = world.clock.now()

    world.set_spec(spec(4))
    for _ in range(3):
        turn(world)

    assert [len(g.start) for g in live(world)] == [1, 1, 1, 1]
    assert world.clock.now() - began == timedelta(0)
