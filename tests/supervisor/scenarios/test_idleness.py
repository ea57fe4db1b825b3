"""A supervisor to which nothing comes, through all stores: its slots are free until something does.

Source: Druid's docs, "Idle configuration" of the Kafka supervisor.
"""

from datetime import timedelta

from supervisor.control.observe import observe
from supervisor.core.history.operations import OperationState
from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.planning.states import State, roll_up
from supervisor.ports.store import Store
from tests.supervisor.core.planning.rules.test_idleness import AFTER, idling
from tests.supervisor.core.snapshots import HOUR, MINUTE, TOPIC, part
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.test_awaited import Verbs
from tests.supervisor.world import World

SECOND = timedelta(seconds=1)


def turn(world: World) -> None:
    """Let everybody do what there is to do, once, and look at what is promised."""
    world.settle()
    world.sync()
    world.read(100)
    world.sync()
    world.settle()
    world.sync()
    world.settle()
    for hand, replica in world.ready_to_publish():
        world.publish(hand, replica)
    world.settle()
    assert_promises(world.store)


def state(world: World) -> State:
    seen = observe(TOPIC, world.shell.sources, world.clock.now())
    assert seen is not None
    return roll_up(seen, None).state


def tasks(world: World) -> int:
    with world.store.reading() as tx:
        return len(tx.tasks.active(supervisor_id=TOPIC))


def published(world: World) -> list[tuple[int, int, int]]:
    """(partition, start, end) of what is in the table."""
    with world.store.reading() as tx:
        found = tx.segments.publications(TOPIC)
    return sorted((p.partition, at, pub.end[p]) for pub in found for p, at in pub.start.items())


def rested(store: Store) -> World:
    """Read ten records of each partition, publish them, and come to rest."""
    world = World(store, idling())
    world.write(10)
    turn(world)
    world.clock.advance(HOUR)
    for _ in range(2):
        turn(world)
    assert (state(world), tasks(world)) == (State.RUNNING, 2)
    world.clock.advance(AFTER)
    for _ in range(2):
        turn(world)
    assert (state(world), tasks(world)) == (State.IDLE, 0)
    return world


def test_what_was_read_is_published_before_it_rests_and_each_record_is_read_once(
    store: Store,
) -> None:
    world = rested(store)
    assert published(world) == [(0, 0, 10), (1, 0, 10)]

    world.write_to(part(1), 5)
    turn(world)
    assert (state(world), tasks(world)) == (State.RUNNING, 2)
    world.clock.advance(HOUR)
    for _ in range(2):
        turn(world)

    assert published(world) == [(0, 0, 10), (1, 0, 10), (1, 10, 15)]


def test_it_rests_under_any_leader_and_through_an_outage_of_kafka(store: Store) -> None:
    world = rested(store)

    world.take_over()
    turn(world)
    assert (state(world), tasks(world)) == (State.IDLE, 0)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no route")
    turn(world)
    assert tasks(world) == 0
    world.streams.heal()
    world.clock.advance(MINUTE)
    turn(world)

    assert (state(world), tasks(world)) == (State.IDLE, 0)


def test_what_comes_between_the_pause_and_the_end_is_read(store: Store) -> None:
    """Goal: the moment of closing is a handoff like any other."""
    world = World(store, idling())
    turn(world)
    world.clock.advance(AFTER)
    world.settle()  # both groups are told to pause

    world.write(7)
    world.read(100)
    world.sync()
    world.settle()
    for _ in range(2):
        turn(world)
    assert state(world) is State.RUNNING
    world.clock.advance(HOUR)
    for _ in range(2):
        turn(world)

    assert published(world) == [(0, 0, 7), (1, 0, 7)]


def test_a_new_partition_wakes_it_once_it_holds_something(store: Store) -> None:
    world = rested(store)

    world.add_partitions(TOPIC, 1)
    turn(world)
    assert (state(world), tasks(world)) == (State.IDLE, 0)
    world.write_to(part(2), 3)
    turn(world)

    assert (state(world), tasks(world)) == (State.RUNNING, 2)


def test_suspend_resume_and_terminate_find_it_at_rest(store: Store) -> None:
    world = rested(store)

    world.set_spec(idling().model_copy(update={"suspended": True}))
    turn(world)
    assert state(world) is State.SUSPENDED
    world.set_spec(idling())
    turn(world)
    assert (state(world), tasks(world)) == (State.IDLE, 0)
    world.set_spec(None)

    assert not world.one_pass().decided.actions


def test_a_change_of_one_at_rest_is_done_although_no_range_opens(store: Store) -> None:
    """Goal: `apply --wait` waits for no record that may never come."""
    verbs = Verbs(rested(store))
    base = idling()
    source = base.io_config.model_copy(update={"task_count": 1})

    applied = verbs.applies(base.model_copy(update={"io_config": source}))
    turn(verbs.world)

    assert verbs.state(applied.operation) is OperationState.DONE
    assert (state(verbs.world), tasks(verbs.world)) == (State.IDLE, 0)
