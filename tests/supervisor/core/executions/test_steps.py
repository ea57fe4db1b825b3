"""Steps: in which order they begin, what they do at once, and how they end the execution."""

from datetime import timedelta

import pytest

from supervisor.core.executions.inputs import AnswerStep, RetryStep, SkipStep, Waits
from supervisor.core.executions.plan import (
    RUNS_MAX,
    ApproveWork,
    CallWork,
    Concurrency,
    EachWork,
    FailWork,
    FlowPlan,
    OnError,
    ParallelWork,
    RetryRule,
    SetWork,
    SleepWork,
    Step,
    SubflowWork,
    SwitchWork,
    WhenFull,
)
from supervisor.core.executions.reduced import StepCall
from tests.supervisor.core.executions.world import (
    BROKEN,
    PASSES,
    ExecutionState,
    Fails,
    RunState,
    Succeeded,
    World,
    call,
    is_at_rest,
    outcome_of,
)


def plan_of(*steps: Step, **more: object) -> FlowPlan:
    """Return version 1 of the flow `f`."""
    return FlowPlan("f", 1, steps, **more)  # type: ignore[arg-type]


def test_a_step_begins_when_all_before_it_are_done() -> None:
    world = World()
    world.start(plan_of(call("a"), call("b"), call("c", "a", "b")))
    first = world.take_calls()
    assert [made.step for made in first] == ["a", "b"]

    world.claim(first[0])
    world.report(first[0], Succeeded())
    assert world.take_calls() == []

    world.claim(first[1])
    world.report(first[1], Succeeded())
    world.finish()

    assert [made.step for made in world.made] == ["c"]
    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()
    assert is_at_rest(world)


def test_outputs_and_inputs_are_read_with_their_types() -> None:
    work = CallWork(
        "http", {"rows": "${ steps.a.rows }", "text": "day ${ inputs.day }: ${ steps.a.rows }"}
    )
    plan = plan_of(
        call("a"), Step("b", work, after=("a",)), outputs={"sum": "${ steps.a.rows + 1 }"}
    )
    world = World()
    world.start(plan, day="2026-11-01")

    world.finish(outcome_of(a=Succeeded({"rows": 7})))

    assert world.made[1].arguments == {"rows": 7, "text": "day 2026-11-01: 7"}
    assert world.get().outputs == {"sum": 8}


def test_a_false_condition_skips_the_step_and_what_follows_goes_on() -> None:
    world = World()
    world.start(plan_of(call("a", condition="inputs.wanted"), call("b", "a")), wanted=False)

    world.finish()

    assert world.states() == {"a": RunState.SKIPPED, "b": RunState.SUCCESS}
    assert world.get().state is ExecutionState.SUCCESS


@pytest.mark.parametrize("condition", ["inputs.", "inputs.nothing", "1 + 1"])
def test_an_expression_without_a_value_fails_the_step(condition: str) -> None:
    world = World()
    world.start(plan_of(call("a", condition=condition)))

    assert world.get().state is ExecutionState.FAILED
    assert world.get().failures[0].error.code == "expression"
    world.check_ends()


def test_after_a_failure_nothing_new_begins_and_what_runs_ends_first() -> None:
    """K5: one failure of the whole, once, which names each step that failed."""
    world = World()
    world.start(plan_of(call("a"), call("b"), call("c", "a"), call("d", "b")))
    a, b = world.take_calls()
    world.claim(a)
    world.claim(b)

    world.report(a, Fails(BROKEN))
    assert world.get().state is ExecutionState.RUNNING
    world.report(b, Fails(BROKEN))

    assert world.get().state is ExecutionState.FAILED
    assert [failure.step for failure in world.get().failures] == ["a", "b"]
    assert set(world.states()) == {"a", "b"}
    world.check_ends()


def test_on_failure_runs_after_a_failure_alone_and_finally_always() -> None:
    plan = plan_of(
        call("a"),
        on_failure=(Step("page", CallWork("http", {"why": "${ execution.failures[0].message }"})),),
        always=(call("tidy"),),
    )
    well, badly = World(), World()
    well.start(plan)
    badly.start(plan)

    well.finish()
    badly.finish(outcome_of(a=Fails(BROKEN)))

    assert [made.step for made in well.made] == ["a", "tidy"]
    assert well.get().state is ExecutionState.SUCCESS
    assert [made.step for made in badly.made] == ["a", "page", "tidy"]
    assert badly.made[1].arguments == {"why": BROKEN.message}
    assert badly.get().state is ExecutionState.FAILED


def test_a_failed_finally_step_fails_the_execution() -> None:
    world = World()
    world.start(plan_of(call("a"), always=(call("tidy"),)))

    world.finish(outcome_of(tidy=Fails(BROKEN)))

    assert world.get().state is ExecutionState.FAILED


def test_a_failure_that_is_overlooked_counts_as_done() -> None:
    world = World()
    world.start(plan_of(call("a", on_error=OnError.CONTINUE), call("b", "a")))

    world.finish(outcome_of(a=Fails(BROKEN)))

    assert world.states() == {"a": RunState.FAILED, "b": RunState.SUCCESS}
    assert world.get().state is ExecutionState.SUCCESS


@pytest.mark.parametrize("act", ["retry", "skip"])
def test_a_failure_can_wait_for_a_person(act: str) -> None:
    world = World()
    world.start(plan_of(call("a", on_error=OnError.PAUSE), call("b", "a"), call("c")))
    world.finish(outcome_of(a=Fails(BROKEN)))
    assert world.states() == {"a": RunState.WAITING, "c": RunState.SUCCESS}
    assert world.get().state is ExecutionState.RUNNING

    run = world.run("a").id
    world.send("e1", RetryStep(run, "anna") if act == "retry" else SkipStep(run, "anna"))
    world.finish()

    ended = RunState.SUCCESS if act == "retry" else RunState.SKIPPED
    assert world.states() == {"a": ended, "b": RunState.SUCCESS, "c": RunState.SUCCESS}
    world.check_ends()


def test_an_error_that_passes_is_tried_again_with_growing_waits() -> None:
    rule = RetryRule(attempts=3, backoff=timedelta(seconds=10))
    world = World()
    world.start(plan_of(call("a", retry=rule)))
    times: list[float] = []

    def fail(_: StepCall) -> Fails:
        times.append((world.now - world.get().created_at).total_seconds())
        return Fails(PASSES)

    world.finish(fail)

    assert [made.attempt for made in world.made] == [1, 2, 3]
    assert 8 <= times[1] - times[0] <= 12
    assert 16 <= times[2] - times[1] <= 24
    assert world.get().state is ExecutionState.FAILED
    world.check_ends()


def test_an_error_that_does_not_pass_is_not_tried_again() -> None:
    world = World()
    world.start(plan_of(call("a", retry=RetryRule(attempts=3))))

    world.finish(outcome_of(a=Fails(BROKEN)))

    assert len(world.made) == 1


def test_the_inner_steps_of_parallel_are_a_graph_of_their_own() -> None:
    inner = (call("x"), call("y", "x"))
    world = World()
    world.start(plan_of(Step("p", ParallelWork(inner)), call("b", "p")))

    world.finish()

    assert [made.step for made in world.made] == ["x", "y", "b"]
    assert world.states()["p"] is RunState.SUCCESS


@pytest.mark.parametrize(("value", "done"), [("de", ["x", "z"]), ("fr", ["y", "z"])])
def test_a_switch_runs_the_steps_of_one_case(value: str, done: list[str]) -> None:
    work = SwitchWork("inputs.land", {"de": (call("x"),)}, default=(call("y"),))
    world = World()
    world.start(plan_of(Step("s", work), call("z", "s")), land=value)

    world.finish()

    assert [made.step for made in world.made] == done


def test_items_run_a_few_at_a_time() -> None:
    each = EachWork("${ inputs.days }", (Step("one", CallWork("noop", {"day": "${ item }"})),), 3)
    world = World()
    world.start(plan_of(Step("days", each)), days=list(range(10)))
    assert len(world.engine.calls) == 3

    world.finish()

    assert sorted(int(str(made.arguments["day"])) for made in world.made) == list(range(10))
    assert world.run("days").outputs == {"count": 10}
    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()


def test_an_item_that_fails_ends_the_rest_unless_it_is_overlooked() -> None:
    def fail_first(made: StepCall) -> Succeeded | Fails:
        return Fails(BROKEN) if made.arguments["n"] == 0 else Succeeded()

    for how, count, ended in [
        (OnError.FAIL, 1, ExecutionState.FAILED),
        (OnError.CONTINUE, 4, ExecutionState.SUCCESS),
    ]:
        one = Step("one", CallWork("noop", {"n": "${ item }"}), on_error=how)
        world = World()
        world.start(plan_of(Step("all", EachWork([0, 1, 2, 3], (one,)))))

        world.finish(fail_first)

        assert len(world.made) == count
        assert world.get().state is ended
        world.check_ends()


def test_no_items_are_done_at_once() -> None:
    world = World()
    world.start(plan_of(Step("all", EachWork([], (call("one"),))), call("b", "all")))

    world.finish()

    assert [made.step for made in world.made] == ["b"]


def test_too_many_items_fail_and_name_the_limit() -> None:
    each = EachWork(list(range(RUNS_MAX)), (Step("one", SetWork({})),), RUNS_MAX)
    world = World()
    world.start(plan_of(Step("all", each)))

    assert world.get().state is ExecutionState.FAILED
    assert world.get().failures[0].error.code == "too-many-runs"
    assert len(world.get().runs) <= RUNS_MAX + 1
    world.check_ends()


def test_a_sleep_ends_with_its_time() -> None:
    world = World()
    world.start(plan_of(Step("a", SleepWork(90)), call("b", "a")))
    world.pass_time(timedelta(seconds=89))
    assert world.states() == {"a": RunState.WAITING}

    world.pass_time(timedelta(seconds=1))
    world.finish()

    assert world.get().state is ExecutionState.SUCCESS


@pytest.mark.parametrize(("yes", "ended"), [(True, "SUCCESS"), (False, "FAILED")])
def test_an_approval_waits_for_an_answer(yes: bool, ended: str) -> None:
    world = World()
    world.start(plan_of(Step("ok", ApproveWork("drop ${ inputs.table }?"))), table="orders")
    wait = world.run("ok").wait
    assert wait is not None
    assert wait.what == "drop orders?"

    world.send("e1", AnswerStep(world.run("ok").id, yes, "anna"))

    assert world.get().state == ended
    world.check_ends()


def test_a_step_that_waits_is_looked_at_with_growing_gaps_and_holds_nobody() -> None:
    world = World()
    world.start(plan_of(call("a")))
    looks: list[int] = []

    def wait(made: StepCall) -> Waits | Succeeded:
        looks.append(made.check)
        assert made.state == (None if made.check == 0 else "operation 7")
        return Waits("operation 7", "operation 7") if made.check < 4 else Succeeded({"rows": 1})

    world.finish(wait)

    assert looks == [0, 1, 2, 3, 4]
    assert 4 <= (world.now - world.get().created_at).total_seconds() <= 12
    assert len(world.run("a").attempts) == 1
    assert world.get().state is ExecutionState.SUCCESS


def test_values_that_are_set_are_read_later() -> None:
    work = SetWork({"n": "${ inputs.a * 2 }"})
    world = World()
    world.start(plan_of(Step("s", work), call("b", "s", condition="steps.s.n == 4")), a=2)

    world.finish()

    assert [made.step for made in world.made] == ["b"]


def test_fail_ends_with_its_message() -> None:
    world = World()
    world.start(plan_of(Step("no", FailWork("${ inputs.why }, so it ends"))), why="no rows")

    assert world.get().failures[0].error.message == "no rows, so it ends"


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
