"""Time that is over: of calls, questions, other executions, kills."""

from datetime import timedelta

from supervisor.core.executions.inputs import (
    AnswerStep,
    AttemptLost,
    KillIt,
    PauseIt,
    ResumeIt,
    RetryStep,
)
from supervisor.core.executions.plan import ApproveWork, OnError, RetryRule, Step, SubflowWork
from tests.supervisor.core.executions.test_steps import plan_of
from tests.supervisor.core.executions.world import (
    BEGAN,
    BROKEN,
    RUNNER,
    ExecutionState,
    Fails,
    StepState,
    Succeeded,
    World,
    call,
)

SECOND = timedelta(seconds=1)


def test_nobody_claims_in_time_after_a_loss_and_the_next_attempt_repeats_the_key() -> None:
    """Seeds 1021 and 1705: the lost attempt's effect may have come, so its key has to stay."""
    world = World()
    step = call("a", queue_timeout=5 * SECOND, retry=RetryRule(3, backoff=SECOND))
    world.start(plan_of(step))
    (first,) = world.take_calls()
    assert world.claim(first)
    world.send("e1", AttemptLost(first.run, 1, RUNNER))
    world.pass_time(SECOND)
    (second,) = world.take_calls()
    world.pass_time(6 * SECOND)
    world.pass_time(10 * SECOND)

    (third,) = world.take_calls()

    assert [first.key, second.key] == [third.key, third.key]
    assert third.attempt == 3


def test_a_timeout_before_finally_has_begun_does_not_take_it_away() -> None:
    """Seeds 869 and 1014: the last step ended while the execution was paused."""
    world = World()
    world.start(plan_of(call("a"), timeout=60 * SECOND, always=(call("tidy"),)))
    world.send("e1", PauseIt("p"))
    world.make_calls()
    world.pass_time(61 * SECOND)
    assert world.get().state is ExecutionState.PAUSED

    world.send("e1", ResumeIt("p"))
    world.make_calls()

    assert [job.step for job in world.done] == ["a", "tidy"]
    assert world.get().state is ExecutionState.FAILED
    assert [one.error.code for one in world.get().failures] == ["timeout"]
    world.check_ends()


def test_a_question_that_nobody_answers_fails_in_time() -> None:
    world = World()
    world.start(plan_of(Step("ok", ApproveWork("go on?"), timeout=60 * SECOND)))

    world.pass_time(60 * SECOND)

    assert world.get().state is ExecutionState.FAILED
    assert [one.error.code for one in world.get().failures] == ["timeout"]
    assert world.engine.next_due() is None
    world.check_ends()


def test_a_question_may_be_put_again_to_a_person() -> None:
    world = World()
    question = Step("ok", ApproveWork("go on?"), timeout=60 * SECOND, on_error=OnError.PAUSE)
    world.start(plan_of(question))
    world.pass_time(60 * SECOND)
    assert world.engine.next_due() is None

    world.send("e1", RetryStep(world.run("ok").id, "p"))
    world.pass_time(30 * SECOND)
    world.send("e1", AnswerStep(world.run("ok").id, yes=True, by="p"))

    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()


def test_a_subflow_that_takes_too_long_is_killed() -> None:
    flows = {"child": plan_of(call("inside"))}
    world = World(flows)
    world.start(plan_of(Step("sub", SubflowWork("child"), timeout=60 * SECOND)))
    world.take_calls()

    world.pass_time(60 * SECOND)

    states = {name: one.state for name, one in world.engine.executions.items()}
    assert states.pop("e1") is ExecutionState.FAILED
    assert list(states.values()) == [ExecutionState.KILLED]
    world.check_ends()


def test_a_subflow_that_failed_is_tried_again_by_a_person() -> None:
    flows = {"child": plan_of(call("inside"))}
    world = World(flows)
    world.start(plan_of(Step("sub", SubflowWork("child"), on_error=OnError.PAUSE)))
    world.make_calls(lambda _: Fails(BROKEN))

    world.send("e1", RetryStep(world.run("sub").id, "p"))
    world.make_calls()

    assert world.get().state is ExecutionState.SUCCESS
    assert len(world.engine.executions) == 3
    world.check_ends()


def test_a_kill_waits_no_longer_than_its_grace_for_a_runner() -> None:
    world = World()
    world.start(plan_of(call("a"), kill_grace=20 * SECOND))
    (job,) = world.take_calls()
    assert world.claim(job)
    world.send("e1", KillIt("p"))
    world.pass_time(19 * SECOND)
    assert world.get().state is ExecutionState.KILLING

    world.pass_time(1 * SECOND)

    assert world.get().state is ExecutionState.KILLED
    error = world.run("a").error
    assert error is not None
    assert "has not stopped within 20 s" in error.message
    world.report(job, Succeeded())
    assert world.run("a").state is StepState.KILLED
    world.check_ends()


def test_what_takes_long_is_named_once_and_goes_on() -> None:
    world = World()
    world.start(plan_of(call("a"), warn_after=60 * SECOND))
    world.pass_time(60 * SECOND)
    world.pass_time(60 * SECOND)

    world.make_calls()

    assert world.get().warned_at == BEGAN + 60 * SECOND
    events = [event for event in world.engine.events["e1"] if event.name == "takes-long"]
    assert [dict(event.about) for event in events] == [{"expected": 60.0}]
    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()
