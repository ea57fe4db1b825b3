"""Steps: in which order they begin, what they do at once, and how they end the execution."""

from datetime import timedelta

import pytest

from supervisor.core.executions.inputs import AnswerStep, RetryStep, SkipStep, Waits
from supervisor.core.executions.plan import (
    RUNS_MAX,
    ApproveWork,
    CallWork,
    EachWork,
    FailWork,
    FlowPlan,
    OnError,
    ParallelWork,
    RetryRule,
    SetWork,
    SleepWork,
    Step,
    SwitchWork,
)
from supervisor.core.executions.reduced import StepCall
from tests.supervisor.core.executions.world import (
    BROKEN,
    PASSES,
    ExecutionState,
    Fails,
    StepState,
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
    assert [job.step for job in first] == ["a", "b"]

    world.claim(first[0])
    world.report(first[0], Succeeded())
    assert world.take_calls() == []

    world.claim(first[1])
    world.report(first[1], Succeeded())
    world.finish()

    assert [job.step for job in world.done] == ["c"]
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

    assert world.done[1].arguments == {"rows": 7, "text": "day 2026-11-01: 7"}
    assert world.get().outputs == {"sum": 8}


def test_a_false_condition_skips_the_step_and_what_follows_goes_on() -> None:
    world = World()
    world.start(plan_of(call("a", condition="inputs.wanted"), call("b", "a")), wanted=False)

    world.finish()

    assert world.states() == {"a": StepState.SKIPPED, "b": StepState.SUCCESS}
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

    assert [job.step for job in well.done] == ["a", "tidy"]
    assert well.get().state is ExecutionState.SUCCESS
    assert [job.step for job in badly.done] == ["a", "page", "tidy"]
    assert badly.done[1].arguments == {"why": BROKEN.message}
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

    assert world.states() == {"a": StepState.FAILED, "b": StepState.SUCCESS}
    assert world.get().state is ExecutionState.SUCCESS


@pytest.mark.parametrize("act", ["retry", "skip"])
def test_a_failure_can_wait_for_a_person(act: str) -> None:
    world = World()
    world.start(plan_of(call("a", on_error=OnError.PAUSE), call("b", "a"), call("c")))
    world.finish(outcome_of(a=Fails(BROKEN)))
    assert world.states() == {"a": StepState.WAITING, "c": StepState.SUCCESS}
    assert world.get().state is ExecutionState.RUNNING

    run = world.run("a").id
    world.send("e1", RetryStep(run, "anna") if act == "retry" else SkipStep(run, "anna"))
    world.finish()

    ended = StepState.SUCCESS if act == "retry" else StepState.SKIPPED
    assert world.states() == {"a": ended, "b": StepState.SUCCESS, "c": StepState.SUCCESS}
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

    assert [job.attempt for job in world.done] == [1, 2, 3]
    assert 8 <= times[1] - times[0] <= 12
    assert 16 <= times[2] - times[1] <= 24
    assert world.get().state is ExecutionState.FAILED
    world.check_ends()


def test_an_error_that_does_not_pass_is_not_tried_again() -> None:
    world = World()
    world.start(plan_of(call("a", retry=RetryRule(attempts=3))))

    world.finish(outcome_of(a=Fails(BROKEN)))

    assert len(world.done) == 1


def test_the_inner_steps_of_parallel_are_a_graph_of_their_own() -> None:
    inner = (call("x"), call("y", "x"))
    world = World()
    world.start(plan_of(Step("p", ParallelWork(inner)), call("b", "p")))

    world.finish()

    assert [job.step for job in world.done] == ["x", "y", "b"]
    assert world.states()["p"] is StepState.SUCCESS


@pytest.mark.parametrize(("value", "done"), [("de", ["x", "z"]), ("fr", ["y", "z"])])
def test_a_switch_runs_the_steps_of_one_case(value: str, done: list[str]) -> None:
    work = SwitchWork("inputs.land", {"de": (call("x"),)}, default=(call("y"),))
    world = World()
    world.start(plan_of(Step("s", work), call("z", "s")), land=value)

    world.finish()

    assert [job.step for job in world.done] == done


def test_items_run_a_few_at_a_time() -> None:
    each = EachWork("${ inputs.days }", (Step("one", CallWork("noop", {"day": "${ item }"})),), 3)
    world = World()
    world.start(plan_of(Step("days", each)), days=list(range(10)))
    assert len(world.engine.calls) == 3

    world.finish()

    assert sorted(int(str(job.arguments["day"])) for job in world.done) == list(range(10))
    assert world.run("days").outputs == {"count": 10}
    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()


def test_an_item_that_fails_ends_the_rest_unless_it_is_overlooked() -> None:
    def fail_first(job: StepCall) -> Succeeded | Fails:
        return Fails(BROKEN) if job.arguments["n"] == 0 else Succeeded()

    for how, count, ended in [
        (OnError.FAIL, 1, ExecutionState.FAILED),
        (OnError.CONTINUE, 4, ExecutionState.SUCCESS),
    ]:
        one = Step("one", CallWork("noop", {"n": "${ item }"}), on_error=how)
        world = World()
        world.start(plan_of(Step("all", EachWork([0, 1, 2, 3], (one,)))))

        world.finish(fail_first)

        assert len(world.done) == count
        assert world.get().state is ended
        world.check_ends()


def test_no_items_are_done_at_once() -> None:
    world = World()
    world.start(plan_of(Step("all", EachWork([], (call("one"),))), call("b", "all")))

    world.finish()

    assert [job.step for job in world.done] == ["b"]


def test_too_many_items_fail_and_name_the_limit() -> None:
    def started(items: int) -> World:
        each = EachWork(list(range(items)), (Step("one", SetWork({})),), RUNS_MAX)
        world = World()
        world.start(plan_of(Step("all", each)))
        return world

    assert started(RUNS_MAX).get().state is ExecutionState.SUCCESS
    world = started(RUNS_MAX + 1)
    assert world.get().state is ExecutionState.FAILED
    assert world.get().failures[0].error.code == "too-many-runs"
    assert len(world.get().runs) <= RUNS_MAX + 2
    world.check_ends()


def test_a_sleep_ends_with_its_time() -> None:
    world = World()
    world.start(plan_of(Step("a", SleepWork(90)), call("b", "a")))
    world.pass_time(timedelta(seconds=89))
    assert world.states() == {"a": StepState.WAITING}

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

    def wait(job: StepCall) -> Waits | Succeeded:
        looks.append(job.check)
        assert job.state == (None if job.check == 0 else "operation 7")
        return Waits("operation 7", "operation 7") if job.check < 4 else Succeeded({"rows": 1})

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

    assert [job.step for job in world.done] == ["b"]


def test_fail_ends_with_its_message() -> None:
    world = World()
    world.start(plan_of(Step("no", FailWork("${ inputs.why }, so it ends"))), why="no rows")

    assert world.get().failures[0].error.message == "no rows, so it ends"
