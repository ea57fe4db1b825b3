"""Executions that wait for others: subflows, and gates that let a few of a flow run."""

import pytest

from supervisor.core.executions.plan import Concurrency, FlowPlan, Step, SubflowWork, WhenFull
from tests.supervisor.core.executions.test_steps import plan_of
from tests.supervisor.core.executions.world import (
    BROKEN,
    ExecutionState,
    Fails,
    World,
    call,
    outcome_of,
)


def test_a_subflow_gives_its_outputs_or_fails_its_step() -> None:
    child = FlowPlan("child", 1, (call("x"),), outputs={"n": "${ inputs.n + 1 }"})
    plan = plan_of(
        Step("sub", SubflowWork("child", {"n": "${ inputs.n }"})), outputs={"n": "${ steps.sub.n }"}
    )
    well, badly = World({"child": child}), World({"child": child})
    well.start(plan, n=4)
    badly.start(plan, n=4)

    well.finish()
    badly.finish(outcome_of(x=Fails(BROKEN)))

    assert well.get().outputs == {"n": 5}
    assert badly.get().state is ExecutionState.FAILED
    assert BROKEN.message in badly.get().failures[0].error.message
    badly.check_ends()


def test_a_subflow_that_is_not_there_fails_its_step() -> None:
    world = World()
    world.start(plan_of(Step("sub", SubflowWork("nothing"))))

    assert "there is no flow nothing" in world.get().failures[0].error.message


def test_a_flow_that_calls_itself_ends_at_the_depth() -> None:
    flows: dict[str, FlowPlan] = {}
    flows["f"] = plan_of(Step("sub", SubflowWork("f")))
    world = World(flows)
    world.start(flows["f"])

    world.finish()

    assert world.get().state is ExecutionState.FAILED
    assert len(world.engine.executions) == 6


@pytest.mark.parametrize(
    ("when_full", "ended"),
    [(WhenFull.QUEUE, "SUCCESS"), (WhenFull.CANCEL, "KILLED"), (WhenFull.FAIL, "FAILED")],
)
def test_a_full_flow_queues_cancels_or_fails(when_full: WhenFull, ended: str) -> None:
    plan = plan_of(call("a"), concurrency=Concurrency(1, when_full=when_full))
    world = World()
    world.start(plan, "e1")
    world.start(plan, "e2")
    assert len(world.engine.calls) == 1

    world.finish()

    assert world.get("e1").state is ExecutionState.SUCCESS
    assert world.get("e2").state == ended
    assert world.engine.gates == {}, "no slot is left behind"
    world.check_ends()


def test_a_key_counts_executions_of_one_value() -> None:
    plan = plan_of(call("a"), concurrency=Concurrency(1, key="${ inputs.day }"))
    world = World()
    for number, day in enumerate(["mon", "tue", "mon"]):
        world.start(plan, f"e{number}", day=day)

    assert len(world.engine.calls) == 2
    world.finish()
    assert {one.state for one in world.engine.executions.values()} == {ExecutionState.SUCCESS}
