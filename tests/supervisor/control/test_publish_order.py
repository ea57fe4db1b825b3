"""Ranges of one partition are published in their order, also where the first holds no record.

Found by the simulation, seed 5131: a rescaled group's range was empty in one of its partitions.
The successor there saw a committed offset that fits and published first; the compare-and-swap of
the predecessor then found the partition moved, was stale, and nothing behind it was published.
"""

from supervisor.ports.store import Store
from tasks.contract.messages import PublishOutcome
from tests.supervisor.core.snapshots import part, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.test_changes import active, committed, live, turn
from tests.supervisor.world import World

RECORDS = 5


def test_a_successor_waits_for_a_predecessor_that_read_nothing_of_its_partition(
    store: Store,
) -> None:
    """Goal: a range is published when all its predecessors are (P10)."""
    world = World(store, spec(task_count=1))
    turn(world)
    world.write_to(part(1), RECORDS)
    world.read(RECORDS)
    world.sync()
    world.set_spec(spec(task_count=2))
    for _ in range(3):
        world.settle()
        world.sync()
    [(first_hand, first)] = world.ready_to_publish()
    assert (first.wanted.order.end or {})[part(0)] == 0

    world.write(RECORDS)
    world.read(RECORDS)
    world.sync()
    world.set_spec(spec(task_count=2, suspended=True))
    for _ in range(3):
        world.settle()
        world.sync()
    later = [both for both in world.ready_to_publish() if both[1] is not first]

    assert len(later) == 2
    assert {world.publish(*both).outcome for both in later} == {PublishOutcome.WAIT_FOR_PREDECESSOR}
    assert set(committed(world).values()) == {0}
    assert world.publish(first_hand, first).outcome is PublishOutcome.COMMITTED
    assert {world.publish(*both).outcome for both in later} == {PublishOutcome.COMMITTED}

    assert committed(world) == world.ends
    assert (live(world), active(world)) == ([], set())
    assert_promises(world.store)
