"""Kill, pause and resume, in every state."""

from datetime import timedelta

import pytest

from supervisor.core.executions.inputs import (
    AttemptLost,
    KillIt,
    PauseIt,
    ResumeIt,
    SkipStep,
    Stopped,
)
from supervisor.core.executions.plan import (
    ApproveWork,
    Concurrency,
    EachWork,
    FlowPlan,
    ParallelWork,
    RetryRule,
    SleepWork,
    Step,
    SubflowWork,
)
from supervisor.core.executions.reduced import Cancel
from tests.supervisor.core.executions.world import (
    BROKEN,
    PASSES,
    RUNNER,
    ExecutionState,
    Fails,
    StepState,
    Succeeded,
    World,
    call,
)

KILL = KillIt("anna")


def begun(*steps: Step, **more: object) -> World:
    """Return a world in which an execution has begun."""
    world = World()
    world.start(FlowPlan("f", 1, steps, **more))  # type: ignore[arg-type]
    return world


def cancelled(world: World) -> list[str]:
    """Return the runs whose runners were asked to stop."""
    return [reply.run for reply in world.engine.replies if isinstance(reply, Cancel)]


def test_a_kill_ends_what_has_not_begun_and_waits_for_what_runs() -> None:
    """E10: three kills are one, and a late success stays one."""
    world = begun(call("a"), call("b"), call("c", "a"))
    a, b = world.take_calls()
    world.claim(a)

    world.send("e1", KILL, KILL, KILL)

    assert world.states() == {"a": StepState.KILLING, "b": StepState.KILLED}
    assert world.get().state is ExecutionState.KILLING
    assert cancelled(world) == [a.run]
    assert not world.claim(b), "what was killed is not begun"
    world.report(a, Succeeded({"n": 1}))
    assert world.states() == {"a": StepState.SUCCESS, "b": StepState.KILLED}
    assert world.get().state is ExecutionState.KILLED
    world.check_ends()


@pytest.mark.parametrize("how", ["stopped", "failed", "lost"])
def test_what_was_killed_ends_however_its_runner_ends(how: str) -> None:
    world = begun(call("a", retry=RetryRule(attempts=5)))
    (job,) = world.take_calls()
    world.claim(job)
    world.send("e1", KILL)

    if how == "lost":
        world.send("e1", AttemptLost(job.run, 1, RUNNER))
    else:
        world.report(job, Stopped() if how == "stopped" else Fails(PASSES))

    assert world.get().state is ExecutionState.KILLED
    assert world.take_calls() == []
    world.check_ends()


@pytest.mark.parametrize(
    "step",
    [
        Step("s", SleepWork(60)),
        Step("s", ApproveWork("go on?")),
        Step("s", ParallelWork((call("x"), call("y", "x")))),
        Step("s", EachWork([1, 2, 3], (call("x"),), 2)),
        call("s"),
    ],
    ids=lambda step: type(step.work).__name__,
)
def test_a_kill_ends_every_kind_of_step(step: Step) -> None:
    world = begun(step, call("later", "s"))

    world.send("e1", KILL)

    assert world.get().state is ExecutionState.KILLED
    assert all(state.ended for state in world.states().values())
    world.check_ends()


def test_a_kill_reaches_the_child_and_waits_for_its_end() -> None:
    child = FlowPlan("child", 1, (call("x"),))
    world = World({"child": child})
    world.start(FlowPlan("f", 1, (Step("sub", SubflowWork("child")),)))
    (job,) = world.take_calls()
    world.claim(job)

    world.send("e1", KILL)
    assert world.get().state is ExecutionState.KILLING
    world.report(job, Stopped())

    assert world.get().state is ExecutionState.KILLED
    assert world.get(job.execution).state is ExecutionState.KILLED
    world.check_ends()


def test_finally_runs_after_a_kill_and_on_failure_does_not() -> None:
    world = begun(call("a"), on_failure=(call("page"),), always=(call("tidy"),))
    world.send("e1", KILL)

    world.finish()

    assert [job.step for job in world.done] == ["tidy"]
    assert world.get().state is ExecutionState.KILLED


def test_a_kill_during_finally_lets_it_end_and_a_forced_one_does_not() -> None:
    for force in (False, True):
        world = begun(call("a"), always=(call("tidy"), call("more", "tidy")))
        (job,) = world.take_calls()
        world.claim(job)
        world.report(job, Succeeded())
        (tidy,) = world.take_calls()
        world.claim(tidy)

        world.send("e1", KillIt("anna", force=force))

        ended = ExecutionState.KILLED if force else ExecutionState.KILLING
        assert world.get().state is ended
        world.report(tidy, Succeeded())
        world.finish()
        assert [one.step for one in world.done] == ([] if force else ["more"])
        assert world.get().state is ExecutionState.KILLED
        world.check_ends()


def test_a_kill_of_who_waits_for_a_slot_frees_its_place() -> None:
    plan = FlowPlan("f", 1, (call("a"),), concurrency=Concurrency(1))
    world = World()
    for name in ("e1", "e2", "e3"):
        world.start(plan, name)

    world.send("e2", KILL)

    assert world.get("e2").state is ExecutionState.KILLED
    world.finish()
    assert world.get("e3").state is ExecutionState.SUCCESS
    assert world.engine.gates == {}


def test_a_kill_of_the_holder_gives_its_slot_on() -> None:
    plan = FlowPlan("f", 1, (call("a"),), concurrency=Concurrency(1))
    world = World()
    world.start(plan, "e1")
    world.start(plan, "e2")

    world.send("e1", KILL)

    assert world.get("e2").state is ExecutionState.RUNNING


def test_a_pause_lets_nothing_begin_and_a_resume_goes_on() -> None:
    world = begun(call("a"), call("b", "a"), call("c", retry=RetryRule(attempts=2)))
    a, c = world.take_calls()
    world.claim(a)
    world.claim(c)
    world.send("e1", PauseIt("anna"))

    world.report(a, Succeeded())
    world.report(c, Fails(PASSES))
    world.pass_time(timedelta(hours=1))
    assert world.take_calls() == []
    assert world.get().state is ExecutionState.PAUSED

    world.send("e1", ResumeIt("anna"))
    world.finish()

    assert sorted(job.step for job in world.done) == ["b", "c"]
    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()


def test_a_pause_inside_of_items_goes_on_where_it_was() -> None:
    world = begun(Step("all", EachWork([1, 2, 3, 4], (call("one"),), 2)))
    first = world.take_calls()
    world.send("e1", PauseIt("anna"))
    for job in first:
        world.claim(job)
        world.report(job, Succeeded())
    assert world.take_calls() == []

    world.send("e1", ResumeIt("anna"))
    world.finish()

    assert len(world.done) == 2
    assert world.get().state is ExecutionState.SUCCESS


def test_a_failure_while_paused_ends_after_the_resume() -> None:
    world = begun(call("a"), call("b", "a"), always=(call("tidy"),))
    (job,) = world.take_calls()
    world.claim(job)
    world.send("e1", PauseIt("anna"))
    world.report(job, Fails(BROKEN))
    assert world.take_calls() == []

    world.send("e1", ResumeIt("anna"))
    world.finish()

    assert [one.step for one in world.done] == ["tidy"]
    assert world.get().state is ExecutionState.FAILED


def test_a_failure_closes_a_paused_group_in_which_nothing_runs() -> None:
    group = Step("group", ParallelWork((call("x"), call("y", "x"))))
    world = begun(group, call("a"))
    a, x = sorted(world.take_calls(), key=lambda job: job.step)
    world.claim(a)
    world.claim(x)
    world.send("e1", PauseIt("anna"))
    world.report(x, Succeeded())

    world.report(a, Fails(BROKEN))

    assert world.get().state is ExecutionState.FAILED
    assert world.states()["group"] is StepState.KILLED
    world.check_ends()


def test_the_time_of_an_execution_ends_it_as_failed() -> None:
    world = begun(call("a"), Step("b", SleepWork(3600)), timeout=timedelta(minutes=10))
    (job,) = world.take_calls()
    world.claim(job)

    world.pass_time(timedelta(minutes=10))
    assert world.states() == {"a": StepState.KILLING, "b": StepState.KILLED}
    world.report(job, Stopped())

    assert world.get().state is ExecutionState.FAILED
    assert world.get().failures[0].error.code == "timeout"
    world.check_ends()


def test_a_step_that_runs_is_not_skipped() -> None:
    world = begun(call("a"))
    (job,) = world.take_calls()
    world.claim(job)

    world.send("e1", SkipStep(job.run, "anna"))

    assert world.states() == {"a": StepState.RUNNING}


def test_a_resume_of_what_is_not_paused_changes_nothing() -> None:
    world = begun(call("a"))
    before = world.get()

    world.send("e1", ResumeIt("anna"))

    assert world.get() == before
