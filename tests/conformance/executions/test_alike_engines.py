"""X13: the engine over a database and the one in memory come to the same from the same inputs."""

from datetime import datetime

import pytest

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import FlowPlan, Step, SubflowWork
from supervisor.executions.memory import MemoryEngine
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.executions.test_any_order import Life
from tests.supervisor.core.executions.world import BEGAN, call


class Mirrored(MemoryEngine):
    """An engine in memory whose inputs another one over a database gets as well."""

    other: Stored

    def work(self, now: datetime) -> None:
        """Work in here, and there."""
        starts, inputs = list(self._starts), list(self._inputs)
        super().work(now)
        self.other.now = now
        self.other.work(inputs, starts)


@pytest.mark.parametrize("seed", range(8))
def test_random_lives_come_to_the_same(stored: Stored, seed: int) -> None:
    life = Life(seed)
    world = life.world
    world.engine.__class__ = Mirrored
    assert isinstance(world.engine, Mirrored)
    world.engine.other = stored
    stored.flows.update(world.flows)

    life.live()

    stored.restart()  # what the process has in memory does not count
    for known in world.engine.executions.values():
        assert stored.get(known.id) == known
        assert stored.events(known.id) == world.engine.events[known.id]
    assert stored.dropped().total() == len(world.engine.dropped)
    assert stored.leftovers() == {}, "all have ended: nobody waits for anything"


def test_a_child_is_stored_with_the_step_that_starts_it(stored: Stored) -> None:
    """Goal: a batch is one transaction, whatever follows from its inputs."""
    child = FlowPlan("child", 1, (call("one"),))
    stored.flows["child"] = child
    parent = FlowPlan("f", 1, (Step("sub", SubflowWork("child")),))
    stored.engine.work(starts=[Execution("e1", parent, {}, BEGAN)])
    [job] = stored.take_calls()
    assert job.execution != "e1"
    assert stored.get(job.execution).parent is not None
