"""X13: the engine over a database and the one in memory come to the same from the same inputs."""

from collections.abc import Mapping
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

    def mirror(self, url: str, flows: Mapping[str, FlowPlan]) -> None:
        """Name the other one's database."""
        self.other = Stored(url, flows)

    def work(self, now: datetime) -> None:
        """Work in here, and there."""
        starts, inputs = list(self._starts), list(self._inputs)
        super().work(now)
        self.other.now = now
        self.other.work(inputs, starts)


@pytest.mark.parametrize("seed", range(8))
def test_random_lives_come_to_the_same(executions_url: str, seed: int) -> None:
    life = Life(seed)
    world = life.world
    world.engine.__class__ = Mirrored
    assert isinstance(world.engine, Mirrored)
    world.engine.mirror(executions_url, world.flows)
    other = world.engine.other

    life.live()

    other.restart()  # what the process has in memory does not count
    for known in world.engine.executions.values():
        assert other.get(known.id) == known
        assert other.events(known.id) == world.engine.events[known.id]
    assert other.dropped().total() == len(world.engine.dropped)
    assert other.leftovers() == {}, "all have ended: nobody waits for anything"


def test_a_child_is_stored_with_the_step_that_starts_it(executions_url: str) -> None:
    """Goal: a batch is one transaction, whatever follows from its inputs."""
    child = FlowPlan("child", 1, (call("one"),))
    engine = Stored(executions_url, {"child": child})
    parent = FlowPlan("f", 1, (Step("sub", SubflowWork("child")),))
    engine.engine.work(starts=[Execution("e1", parent, {}, BEGAN)])
    [job] = engine.take_calls()
    assert job.execution != "e1"
    assert engine.get(job.execution).parent is not None
