"""Two supervisors, one topic, one table: each has its own offsets, tasks and segments."""

from typing import Self

from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.store import Store
from tests.supervisor.core.snapshots import TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import World

OTHER = "other"


class Second(World):
    """Another supervisor in the world of a first one: the same overlord, workers and topic."""

    id = OTHER

    @classmethod
    def beside(cls, first: World, wanted: SupervisorSpec) -> Self:
        """Store its spec."""
        second = cls.__new__(cls)
        second.__dict__.update(first.__dict__)
        second.passes = []
        second.set_spec(wanted)
        return second


def both(store: Store) -> tuple[World, World]:
    """Two supervisors with other layouts; both have read something."""
    first = World(store, spec(2, 2), 2)
    second = Second.beside(first, spec(1, 1).model_copy(update={"id": OTHER}))
    for _ in range(3):
        turn(first, second)
    first.write(5)
    first.read(5)
    first.sync()
    return first, second


def turn(*worlds: World) -> None:
    """Let each come to rest, the workers follow, and whoever can publish."""
    for world in worlds:
        world.settle()
    worlds[0].sync()
    for hand, replica in worlds[0].ready_to_publish():
        worlds[0].publish(hand, replica)


def test_both_publish_all_records_into_one_table(store: Store) -> None:
    """Source: Druid's issue 10522: everything is keyed by the supervisor's id."""
    first, second = both(store)
    for world in (first, second):
        with store.reading() as tx:
            newest = tx.specs.newest(world.id)
        assert newest is not None
        assert newest.spec is not None
        world.set_spec(newest.spec.model_copy(update={"suspended": True}))

    for _ in range(4):
        turn(first, second)

    for world in (first, second):
        assert_promises(store, world.id)
        with store.reading() as tx:
            assert {p: r.next_offset for p, r in tx.offsets.of(world.id).items()} == first.ends
    with store.reading() as tx:
        owners = {s.supervisor_id for s in tx.segments.of_data_source(TOPIC)}
    assert owners == {TOPIC, OTHER}


def test_the_end_of_one_disturbs_nothing_of_the_other(store: Store) -> None:
    """Goal: terminate touches the rows of its own id only."""
    first, second = both(store)
    with store.reading() as tx:
        before = (tx.generations.live(TOPIC), tx.tasks.active(TOPIC), tx.offsets.of(TOPIC))

    second.set_spec(None)
    for _ in range(4):
        turn(first, second)

    with store.reading() as tx:
        assert (tx.generations.live(TOPIC), tx.tasks.active(TOPIC), tx.offsets.of(TOPIC)) == before
        assert tx.generations.live(OTHER) == []
        assert tx.tasks.active(OTHER) == []
        assert {p: r.next_offset for p, r in tx.offsets.of(OTHER).items()} == first.ends
    assert_promises(store, OTHER)
