"""Reports in any order, twice and late: nothing is rolled back, and nothing begins twice."""

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.executions.entities import Runner, TaskRun
from supervisor.core.executions.inputs import (
    AttemptLost,
    Begin,
    ChildEnded,
    Claim,
    ExecutionInput,
    KillIt,
    Outcome,
    Report,
    RetryStep,
    Tick,
    Waits,
)
from supervisor.core.executions.plan import FlowPlan, OnError, OnLost, RetryRule, Step, SubflowWork
from supervisor.core.executions.reduced import Drop, StepCall
from tests.supervisor.core.executions.world import (
    BROKEN,
    PASSES,
    RUNNER,
    ExecutionState,
    Fails,
    StepState,
    Stopped,
    Succeeded,
    World,
    call,
    outcome_of,
)

OTHER = Runner("executor-2", "one")
AGAIN = Runner(RUNNER.name, "two")
"""The same runner in its next life."""


def begun(*steps: Step) -> tuple[World, list[StepCall]]:
    """Return a world in which an execution has begun, and its first calls."""
    world = World()
    world.start(FlowPlan("f", 1, steps))
    return world, world.take_calls()


def drops(world: World) -> list[Drop]:
    """Return why inputs were dropped, in order."""
    return [why for _, _, why in world.engine.dropped]


def test_running_and_success_in_any_order_and_twice_end_in_success() -> None:
    """E1: the history only grows, each version follows the one before."""
    inputs: list[ExecutionInput] = []
    for order in set(itertools.permutations(["claim", "claim", "success", "success"])):
        world, (job,) = begun(call("a"))
        versions = [world.get().version]
        for kind in order:
            given: ExecutionInput = (
                Claim(job.run, 1, RUNNER)
                if kind == "claim"
                else Report(job.run, 1, Succeeded(), RUNNER)
            )
            before = world.get()
            world.send("e1", given)
            inputs.append(given)
            after = world.get()
            versions.append(after.version)
            assert after.version - before.version in {0, 1}
            for run_id, run in before.runs.items():
                assert after.runs[run_id].state.rank >= run.state.rank
        assert versions == sorted(versions)
        if world.get().state is not ExecutionState.SUCCESS:  # the report came before the claim
            world.send("e1", Report(job.run, 1, Succeeded(), RUNNER))
        assert world.get().state is ExecutionState.SUCCESS
        world.check_ends()


def test_a_call_goes_to_the_first_who_claims_it() -> None:
    """E3: another runner is refused, and the holder's repeat is granted again."""
    world, (job,) = begun(call("a"))

    assert world.claim(job)
    assert not world.claim(job, OTHER)
    assert not world.claim(job, AGAIN)
    assert world.claim(job)

    assert drops(world) == [Drop.CLAIMED, Drop.CLAIMED, Drop.DUPLICATE]
    assert world.get().version == 2


def test_a_claim_of_the_holder_is_late_once_its_call_waits() -> None:
    world, (job,) = begun(call("a"))
    world.claim(job)
    world.report(job, Waits("it"))

    assert not world.claim(job)
    assert not world.claim(job, OTHER)

    assert drops(world) == [Drop.LATE, Drop.CLAIMED]
    assert world.states() == {"a": StepState.WAITING}


def test_a_report_of_who_holds_no_claim_does_not_join() -> None:
    world, (job,) = begun(call("a"))
    world.report(job, Succeeded())
    world.claim(job)
    world.report(job, Succeeded(), OTHER)

    assert drops(world) == [Drop.CLAIMED, Drop.CLAIMED]
    assert world.states() == {"a": StepState.RUNNING}


@pytest.mark.parametrize(
    ("late", "why"),
    [
        (Fails(BROKEN), Drop.AFTER_TERMINAL),
        (Succeeded({"n": 2}), Drop.DUPLICATE),
        (Waits("it"), Drop.AFTER_TERMINAL),
        (Stopped(), Drop.AFTER_TERMINAL),
    ],
)
def test_a_late_report_changes_nothing_that_has_ended(late: Outcome, why: Drop) -> None:
    """E5: and the next step begins once.  The same end again is a duplicate (rule 5)."""
    world, (job,) = begun(call("a"), call("b", "a"))
    world.claim(job)
    world.report(job, Succeeded({"n": 1}))
    before = world.get()

    world.report(job, late)

    assert drops(world) == [why]
    assert world.get() == before
    assert [one.step for one in world.take_calls()] == ["b"]


@pytest.mark.parametrize("first", [Fails(PASSES), Stopped()])
def test_the_end_of_an_attempt_counts_as_a_duplicate_only_where_it_is_the_same(
    first: Outcome,
) -> None:
    """Rule 5, of an attempt that has failed, and whose step is tried again."""
    retry = RetryRule(2, backoff=timedelta(hours=1))
    world, (job,) = begun(call("a", retry=retry))
    world.claim(job)
    for given in (first, first, Succeeded()):
        world.report(job, given)
    world.send("e1", AttemptLost(job.run, 1, RUNNER), Claim(job.run, 1, RUNNER))

    assert drops(world) == [Drop.DUPLICATE, *[Drop.AFTER_TERMINAL] * 3]


def test_the_stop_of_what_took_too_long_is_no_duplicate_of_its_timeout() -> None:
    step = call("a", timeout=timedelta(minutes=1), on_error=OnError.CONTINUE)
    world, (job, _) = begun(step, call("b"))
    world.claim(job)
    world.pass_time(timedelta(minutes=1))
    world.report(job, Stopped())

    assert drops(world) == [Drop.AFTER_TERMINAL]


def test_a_loss_is_a_duplicate_of_a_loss_alone() -> None:
    world, (job,) = begun(call("a", on_lost=OnLost.ASK))
    world.claim(job)
    world.send("e1", *[AttemptLost(job.run, 1, RUNNER)] * 2)
    world.report(job, Succeeded())

    assert drops(world) == [Drop.DUPLICATE, Drop.AFTER_TERMINAL]


@pytest.mark.parametrize(
    ("end", "again"),
    [(ExecutionState.SUCCESS, 0), (ExecutionState.FAILED, 1), (ExecutionState.KILLED, 2)],
)
def test_the_end_of_a_child_is_a_duplicate_of_the_same_end_alone(
    end: ExecutionState, again: int
) -> None:
    step = Step("sub", SubflowWork("child"), on_error=OnError.CONTINUE)
    world = World({"child": FlowPlan("child", 1, (call("x"),))})
    world.start(FlowPlan("f", 1, (step, call("b"))))
    run = world.run("sub").id
    world.send("e1", ChildEnded(run, 1, end))
    ends = (ExecutionState.SUCCESS, ExecutionState.FAILED, ExecutionState.KILLED)
    world.send("e1", *(ChildEnded(run, 1, each) for each in ends))

    wanted = [Drop.AFTER_TERMINAL] * 3
    wanted[again] = Drop.DUPLICATE
    assert drops(world) == wanted


def test_nobody_may_make_up_runs_or_attempts() -> None:
    world, (job,) = begun(call("a"))

    world.send("e1", Report("nothing", 1, Succeeded(), RUNNER))
    world.send("e1", Report(job.run, 2, Succeeded(), RUNNER))
    world.send("e1", Claim("nothing", 1, RUNNER))

    assert drops(world) == [Drop.UNKNOWN_RUN, Drop.FUTURE_ATTEMPT, Drop.UNKNOWN_RUN]
    assert all(why.dead for why in drops(world))
    assert world.get().version == 1


def test_six_results_in_every_order_end_alike() -> None:
    """Each next step begins once, whatever overtakes what."""
    steps = [call(name) for name in "abcdef"] + [call("last", *"abcdef")]
    ends: set[tuple[tuple[str, StepState], ...]] = set()
    for order in itertools.permutations(range(6)):
        world, calls = begun(*steps)
        for job in calls:
            world.claim(job)
        for place in order:
            world.report(calls[place], Succeeded())
            world.send("e1", Claim(calls[place].run, 1, RUNNER))  # a late RUNNING
        assert [job.step for job in world.take_calls()] == ["last"]
        assert world.get().version == 13
        ends.add(tuple(sorted(world.states().items())))
    assert len(ends) == 1


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        (OnLost.RETRY, StepState.SUCCESS),
        (OnLost.FAIL, StepState.FAILED),
        (OnLost.ASK, StepState.WAITING),
    ],
)
def test_a_lost_attempt_is_followed_as_the_step_says(rule: OnLost, state: StepState) -> None:
    """E6 and E7: exactly one new attempt, with the key of the lost one."""
    world, (job,) = begun(call("a", on_lost=rule))
    world.claim(job)

    world.send("e1", AttemptLost(job.run, 1, RUNNER), AttemptLost(job.run, 1, RUNNER))
    world.finish()

    assert world.states() == {"a": state}
    assert [one.key for one in world.done] == ([job.key] if rule is OnLost.RETRY else [])
    world.check_ends()


def test_a_runner_that_never_held_the_claim_loses_nothing() -> None:
    """E8: its death, or that of its former life, concerns nobody."""
    world, (job,) = begun(call("a"))
    world.send("e1", AttemptLost(job.run, 1, RUNNER))
    world.claim(job)
    world.send("e1", AttemptLost(job.run, 1, AGAIN))

    assert world.states() == {"a": StepState.RUNNING}
    assert drops(world) == [Drop.CLAIMED, Drop.CLAIMED]


def test_the_report_of_a_lost_attempt_is_old() -> None:
    world, (job,) = begun(call("a"))
    world.claim(job)
    world.send("e1", AttemptLost(job.run, 1, RUNNER))
    world.pass_time(timedelta(0))
    (second,) = world.take_calls()
    world.claim(second, OTHER)

    world.report(job, Fails(BROKEN))
    world.report(second, Succeeded(), OTHER)

    assert drops(world) == [Drop.OLD_ATTEMPT]
    assert world.get().state is ExecutionState.SUCCESS


def test_losses_do_not_count_as_tries_and_have_an_end() -> None:
    world, calls = begun(call("a"))
    lost = 0
    while calls:
        (job,) = calls
        world.claim(job)
        world.send("e1", AttemptLost(job.run, job.attempt, RUNNER))
        lost += 1
        world.pass_time(timedelta(0))
        calls = world.take_calls()

    assert lost == 11
    assert world.get().failures[0].error.code == "lost"


def test_a_failed_effect_gets_a_new_key_and_one_that_is_not_known_keeps_it() -> None:
    unknown = replace(PASSES, known=False)
    for error, effects in [(PASSES, [1, 2]), (unknown, [1, 1])]:
        world, _ = begun()
        world.start(FlowPlan("f", 1, (call("a", retry=RetryRule(attempts=2)),)), "e2")
        world.finish(outcome_of(a=Fails(error)))
        assert [job.effect for job in world.done] == effects


def test_a_due_retry_and_a_late_result_make_one_attempt() -> None:
    """In both orders."""
    for order in ([0, 1], [1, 0]):
        world, (job,) = begun(call("a", retry=RetryRule(attempts=2)))
        world.claim(job)
        world.report(job, Fails(PASSES))
        world.now += timedelta(minutes=1)
        late: list[ExecutionInput] = [Tick(), Report(job.run, 1, Succeeded(), RUNNER)]
        world.send("e1", *(late[place] for place in order), Tick())

        assert [one.attempt for one in world.take_calls()] == [2]
        assert len(_run(world).attempts) == 2


def _run(world: World) -> TaskRun:
    return world.run("a")


def test_a_retry_by_hand_and_by_time_make_one_attempt() -> None:
    world, (job,) = begun(call("a", retry=RetryRule(attempts=2)))
    world.claim(job)
    world.report(job, Fails(PASSES))

    world.send("e1", RetryStep(job.run, "anna"))
    world.pass_time(timedelta(minutes=1))

    assert [one.attempt for one in world.take_calls()] == [2]


def test_looks_that_are_old_or_twice_do_not_join() -> None:
    world, (job,) = begun(call("a"))
    world.claim(job)
    world.report(job, Waits("operation 7"))
    world.pass_time(timedelta(seconds=2))
    (first,) = world.take_calls()
    world.report(first, Waits("operation 7"))
    world.pass_time(timedelta(seconds=30))
    (second,) = world.take_calls()

    world.report(first, Fails(BROKEN))
    assert world.states() == {"a": StepState.WAITING}
    world.report(second, Succeeded())
    world.report(second, Fails(BROKEN))

    assert world.get().state is ExecutionState.SUCCESS
    assert drops(world) == [Drop.DUPLICATE, Drop.NOT_LIVE]


def test_begin_twice_and_anything_after_the_end_change_nothing() -> None:
    world, (job,) = begun(call("a"))
    world.send("e1", Begin())
    world.finish()
    world.claim(job)
    world.report(job, Succeeded())
    ended = world.get()

    world.send("e1", Begin(), KillIt("anna"), Tick())

    assert world.get() == ended
    assert drops(world)[:1] == [Drop.DUPLICATE]
    assert set(drops(world)[-3:]) == {Drop.NOT_LIVE}


def test_an_attempt_that_takes_too_long_fails_and_its_runner_is_asked_to_stop() -> None:
    world, (job,) = begun(call("a", timeout=timedelta(minutes=1)))
    world.claim(job)

    world.pass_time(timedelta(minutes=1))

    assert world.get().failures[0].error.code == "timeout"
    assert "Cancel" in {type(reply).__name__ for reply in world.engine.replies}


def test_a_call_that_nobody_claims_fails_after_its_time() -> None:
    """And its message asks what to look at."""
    world, _ = begun(call("a", queue_timeout=timedelta(minutes=5)))

    world.pass_time(timedelta(minutes=5))

    error = world.get().failures[0].error
    assert (error.code, error.known) == ("queue-timeout", False)
    assert "executors" in error.message
