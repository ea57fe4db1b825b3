"""Executions that wait for others: subflows, and gates that let a few of a flow run."""

import pytest
from pydantic import JsonValue

from supervisor.core.executions.inputs import KillIt
from supervisor.core.executions.plan import (
    Concurrency,
    FlowPlan,
    RetryRule,
    Step,
    SubflowWork,
    WhenFull,
)
from supervisor.core.flows.artifacts import ArtifactRef
from supervisor.core.flows.children import CalledFlow
from supervisor.core.flows.document import InputDocument, InputType
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
    counts = FlowPlan("child", 1, (call("x"),), outputs={"n": "${ inputs.n + 1 }"})
    child = CalledFlow(counts, (InputDocument(name="n", type=InputType.INTEGER),))
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
    [failure] = badly.get().failures
    assert failure.error.code == "child-failed"
    assert BROKEN.message in failure.error.message
    badly.check_ends()


def test_a_subflow_that_is_not_there_fails_its_step() -> None:
    world = World()
    world.start(plan_of(Step("sub", SubflowWork("nothing"))))

    [failure] = world.get().failures
    assert failure.error.code == "child-refused"
    assert "there is no flow nothing" in failure.error.message


def test_a_retry_tells_a_child_that_cannot_begin_from_one_that_has_failed() -> None:
    """Goal: `retry.errors` names either."""
    for errors, tries in (("child-refused", 2), ("child-failed", 1)):
        world = World()
        retry = RetryRule(2, errors=frozenset({errors}))
        world.start(plan_of(Step("sub", SubflowWork("nothing"), retry=retry)))
        world.finish()
        assert len(world.run("sub").attempts) == tries


@pytest.mark.parametrize("when_full", [WhenFull.FAIL, WhenFull.CANCEL])
def test_a_child_that_gets_no_slot_is_refused(when_full: WhenFull) -> None:
    """Goal: also where the child itself counts as KILLED, as its flow says."""
    child = FlowPlan("child", 1, (call("x"),), concurrency=Concurrency(1, when_full=when_full))
    world = World({"child": child})
    world.start(child, "holder")
    world.start(plan_of(Step("sub", SubflowWork("child"))))

    [failure] = world.get().failures
    assert (failure.error.code, failure.error.message) == (
        "child-refused",
        "child runs as often as it may",
    )


def test_a_child_whose_key_of_a_slot_cannot_be_worked_out_is_refused() -> None:
    child = FlowPlan("child", 1, (call("x"),), concurrency=Concurrency(1, key="${ inputs.nobody }"))
    world = World({"child": child})
    world.start(plan_of(Step("sub", SubflowWork("child"))))

    assert [one.error.code for one in world.get().failures] == ["child-refused"]


def test_a_child_that_is_killed_before_it_begins_was_not_refused() -> None:
    child = FlowPlan("child", 1, (call("x"),), concurrency=Concurrency(1))
    world = World({"child": child})
    world.start(child, "holder")
    world.start(plan_of(Step("sub", SubflowWork("child"))))
    [waiting] = (one.id for one in world.engine.executions.values() if one.parent is not None)
    assert world.get(waiting).state is ExecutionState.QUEUED

    world.send(waiting, KillIt("ann"))

    assert [one.error.code for one in world.get().failures] == ["child-killed"]


_DAY = (
    InputDocument(name="day", type=InputType.DATE),
    InputDocument(name="rows", type=InputType.INTEGER, default=5),
)


def test_a_child_has_the_defaults_and_the_labels_of_its_flow() -> None:
    counts = FlowPlan("child", 1, (call("x"),), outputs={"rows": "${ inputs.rows + 1 }"})
    world = World({"child": CalledFlow(counts, _DAY, {"team": "a"})})
    sub = Step("sub", SubflowWork("child", {"day": "${ inputs.day }"}))
    world.start(plan_of(sub, outputs={"rows": "${ steps.sub.rows }"}), day="2026-11-25")

    world.finish()

    assert world.get().outputs == {"rows": 6}
    [child] = (one for one in world.engine.executions.values() if one.parent is not None)
    assert child.inputs == {"day": "2026-11-25", "rows": 5}
    assert child.labels == {"team": "a"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "/inputs/day: day is required (give a date)"),
        ({"day": "soon"}, "/inputs/day: soon is no date (write 2026-11-25)"),
        ({"day": "2026-11-25", "rows": "5"}, "/inputs/rows: 5 is no integer"),
        ({"day": "2026-11-25", "row": 5}, "row is no input of child (did you mean rows?)"),
    ],
)
def test_a_child_whose_inputs_do_not_fit_does_not_begin(
    given: dict[str, JsonValue], why: str
) -> None:
    world = World({"child": CalledFlow(FlowPlan("child", 1, (call("x"),)), _DAY)})
    world.start(plan_of(Step("sub", SubflowWork("child", given))))

    world.finish()

    [failure] = world.get().failures
    assert failure.error.code == "child-refused"
    assert failure.error.message.startswith("the inputs do not fit the flow child: ")
    assert why in failure.error.message
    assert list(world.engine.executions) == ["e1"]
    assert world.done == []
    world.check_ends()


@pytest.mark.parametrize("kind", ["string", "list", "object", "integer"])
def test_a_large_output_fits_an_input_that_may_hold_it(kind: str) -> None:
    """Goal: a record has a reference in its place, whatever the output's type was."""
    ref = ArtifactRef("ab-1-" + "0" * 32, 100_000, "0" * 64).value
    declared = InputDocument(name="body", type=InputType(kind))
    world = World({"child": CalledFlow(FlowPlan("child", 1, (call("x"),)), (declared,))})
    world.start(plan_of(Step("sub", SubflowWork("child", {"body": ref}))))

    world.finish()

    fits = kind != "integer"
    assert (world.get().state is ExecutionState.SUCCESS) == fits


def test_no_more_than_a_few_wrong_inputs_are_named() -> None:
    given: dict[str, JsonValue] = {f"a{number}": 1 for number in range(1_000)}
    world = World({"child": CalledFlow(FlowPlan("child", 1, (call("x"),)))})
    world.start(plan_of(Step("sub", SubflowWork("child", given))))

    message = world.get().failures[0].error.message
    assert message.endswith("; and 995 more")
    assert len(message) < 1_000


def test_a_flow_that_calls_itself_ends_at_the_depth() -> None:
    plan = plan_of(Step("sub", SubflowWork("f")))
    world = World({"f": plan})
    world.start(plan)

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
