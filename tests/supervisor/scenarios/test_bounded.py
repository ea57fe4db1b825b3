"""Fixed ranges through all stores: read once, in handoffs, and then at rest for good."""

import pytest

from supervisor.control.loop import Loop
from supervisor.control.observe import observe
from supervisor.core.model.rows import Generation
from supervisor.core.planning.states import State, roll_up
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import InvalidOffsets
from supervisor.ports.store import Store
from supervisor.services.supervisors.reset import Resets
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import HOUR, TOPIC, part, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import ENDINGS, World

START, ENDS = 3, {0: 10, 1: 20}


def bounded(ends: dict[int, int] | None = None) -> SupervisorSpec:
    """Two groups of a partition each; a third partition is not named."""
    wanted = ENDS if ends is None else ends
    bounds = BoundedStreamConfig(
        start_sequence_numbers=dict.fromkeys(wanted, START), end_sequence_numbers=wanted
    )
    base = spec(task_count=2)
    source = base.io_config.model_copy(update={"bounded_stream_config": bounds})
    return base.model_copy(update={"io_config": source})


def begun(store: Store, wanted: SupervisorSpec | None = None) -> World:
    world = World(store, wanted or bounded(), partitions=3)
    world.write(8)
    return world


def turn(world: World) -> None:
    """Let everybody do what there is to do, once, and look at what is promised."""
    act(world)
    assert_promises(world.store)


def act(world: World) -> None:
    """Let everybody do what there is to do, once."""
    world.settle()
    world.sync()
    world.read(100)
    world.sync()
    world.settle()
    world.sync()
    for hand, replica in world.ready_to_publish():
        world.publish(hand, replica)
    world.settle()


def live(world: World) -> list[Generation]:
    with world.store.reading() as tx:
        return tx.generations.live(TOPIC)


def committed(world: World) -> dict[TopicPartition, int]:
    with world.store.reading() as tx:
        return {p: row.next_offset for p, row in tx.offsets.of(TOPIC).items()}


def published(world: World) -> list[tuple[int, int, int]]:
    """(partition, start, end) of what is in the table."""
    with world.store.reading() as tx:
        found = tx.segments.publications(TOPIC)
    return sorted((p.partition, at, pub.end[p]) for pub in found for p, at in pub.start.items())


def state(world: World) -> State:
    seen = observe(TOPIC, world.shell.sources, world.clock.now())
    assert seen is not None
    return roll_up(seen, None).state


def resets(world: World) -> Resets:
    loop = Loop(lambda _: None, world.clock, threads=1)  # never started
    return Resets(world.store, world.streams, world.clock, world.leadership, loop, ENDINGS)


def test_it_reads_its_ranges_once_and_rests(store: Store) -> None:
    """Goal: over an end that is waited for, a handoff in between and a new leader."""
    world = begun(store)
    turn(world)
    assert (state(world), published(world)) == (State.RUNNING, [])

    world.clock.advance(HOUR)
    turn(world)
    assert published(world) == [(0, 3, 8), (1, 3, 8)]
    world.take_over()
    world.write(100)
    for _ in range(3):
        turn(world)

    assert published(world) == [(0, 3, 8), (0, 8, 10), (1, 3, 8), (1, 8, 20)]
    assert (state(world), live(world)) == (State.COMPLETED, [])
    assert committed(world) == {part(0): 10, part(1): 20}
    world.clock.advance(HOUR)
    world.add_partitions(TOPIC, 1)
    world.take_over()
    turn(world)
    assert (state(world), live(world)) == (State.COMPLETED, [])


def test_a_higher_end_goes_on_and_the_group_that_is_done_rests(store: Store) -> None:
    world = begun(store)
    world.write(100)
    for _ in range(3):
        turn(world)
    assert state(world) is State.COMPLETED

    world.set_spec(bounded({0: 10, 1: 30}))
    world.settle()
    assert [g.start for g in live(world)] == [{part(1): 20}]
    assert state(world) is State.RUNNING
    for _ in range(2):
        turn(world)

    assert published(world) == [(0, 3, 10), (1, 3, 20), (1, 20, 30)]
    assert state(world) is State.COMPLETED


def test_it_is_suspended_and_resumed_within_its_ranges(store: Store) -> None:
    world = begun(store)
    turn(world)
    world.set_spec(bounded().model_copy(update={"suspended": True}))
    for _ in range(2):
        turn(world)
    assert (state(world), published(world)) == (State.SUSPENDED, [(0, 3, 8), (1, 3, 8)])

    world.set_spec(bounded())
    world.write(100)
    for _ in range(3):
        turn(world)

    assert published(world) == [(0, 3, 8), (0, 8, 10), (1, 3, 8), (1, 8, 20)]
    assert state(world) is State.COMPLETED


def test_a_reset_reads_the_ranges_again(store: Store) -> None:
    """Goal: reset begins at the starts; offsets outside a range are refused with the range."""
    world = begun(store)
    world.write(100)
    for _ in range(3):
        turn(world)

    with pytest.raises(InvalidOffsets, match="clicks:1: 25 lies outside its range"):
        resets(world).reset_offsets(TOPIC, {part(1): 25}, "me")
    with pytest.raises(InvalidOffsets, match="clicks:2 is not read"):
        resets(world).reset_offsets(TOPIC, {part(2): 5}, "me")
    done = resets(world).reset(TOPIC, "me")

    assert {m.partition: m.to for m in done.moves} == {part(0): START, part(1): START}
    assert committed(world) == {part(0): START, part(1): START}
    assert state(world) is State.RUNNING
    for _ in range(3):
        act(world)  # what is repeated is declared, which the promises do not look at
    assert committed(world) == {part(0): 10, part(1): 20}
    assert state(world) is State.COMPLETED
