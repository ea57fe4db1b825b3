"""Time that is over, where the simulation of crashes has found the rules wrong."""

from datetime import timedelta

from supervisor.core.executions.inputs import AttemptLost, PauseIt, ResumeIt
from supervisor.core.executions.plan import RetryRule
from tests.supervisor.core.executions.test_steps import plan_of
from tests.supervisor.core.executions.world import RUNNER, ExecutionState, World, call

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
