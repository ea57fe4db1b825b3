"""A worker registers anew while a task is being started on it.

Found by the simulation, seed 405: the task began for the incarnation before, which nobody took up;
the worker ran it, was refused as fenced at each publish, and its range stood for ever.
"""

from supervisor.core.model.rows import WorkerRow
from supervisor.ports.store import Store
from tests.supervisor.core.snapshots import NOON, TOPIC, spec
from tests.supervisor.scenarios.test_changes import published_all, turn
from tests.supervisor.world import World

RECORDS = 5


def started(world: World) -> dict[str, int]:
    """Worker -> incarnation of the task it runs."""
    with world.store.reading() as tx:
        return {task.worker_id: task.incarnation for task in tx.tasks.active(TOPIC)}


def test_no_task_starts_for_an_incarnation_that_is_not_the_newest(store: Store) -> None:
    """Goal: what starts is what the new incarnation takes up, or its own (P7)."""
    world = World(store, spec(task_count=2, replicas=1))
    with store.leading(world.leadership.term()) as tx:
        tx.workers.register(WorkerRow("w1", 2, "http://w1", 8, NOON))

    for _ in range(3):
        world.one_pass()  # as the pass sees it, w1 still is its first incarnation

    assert started(world) == {"w2": 1}
    world.hands.all["w1"].incarnation = 2
    for _ in range(3):
        turn(world)
    assert started(world) == {"w1": 2, "w2": 1}

    world.write(RECORDS)
    world.read(RECORDS)
    world.sync()
    published_all(world)


def test_no_task_starts_on_a_worker_that_was_disabled_meanwhile(store: Store) -> None:
    """Goal: the row counts, whatever the soft state said when the plan was made."""
    world = World(store, spec(task_count=2, replicas=1))
    with store.leading(world.leadership.term()) as tx:
        assert tx.workers.set_disabled("w1", disabled=True)

    for _ in range(3):
        world.one_pass()  # as the pass sees it, w1 still takes tasks

    assert started(world) == {"w2": 1}
