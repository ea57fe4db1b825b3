"""Scenarios of states: what is late, doubled, lost, killed, or never claimed."""

from datetime import timedelta
from itertools import permutations

import pytest

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import (
    AttemptLost,
    Claim,
    Fails,
    KillIt,
    Report,
    RetryStep,
    SkipStep,
    Stopped,
    Succeeded,
    Tick,
)
from supervisor.core.executions.plan import CallWork, FlowPlan, OnLost, RetryRule, Step
from tests.supervisor.core.crashes.scenarios.engines import OTHER, RUNNER, Memory, Stage
from tests.supervisor.core.crashes.scenarios.lengths import ORDERS, in_each_order
from tests.supervisor.core.crashes.scenarios.test_calls import call, plan

PASSES = StepError("busy", "try later", passes=True)


def test_e1_claims_and_results_in_any_order_never_go_back(stage: Stage) -> None:
    (job,) = stage.start(plan(call("a"), call("b", "a")))
    claim = Claim(job.run, 1, RUNNER)
    result = Report(job.run, 1, Succeeded(), RUNNER)
    versions = []
    for given in (claim, result, claim, result, claim):
        stage.engine.send("e1", given)
        versions.append(stage.engine.get("e1").version)

    assert versions == sorted(versions)
    assert stage.run("a").state == "SUCCESS"
    assert [one.step for one in stage.engine.take_calls()] == ["b"]
    assert sum(stage.engine.dropped().values()) == 3


@pytest.mark.parametrize("order", list(permutations(range(4)))[::3], ids=str)
def test_parallel_results_in_any_order_make_each_next_step_once(
    stage: Stage, order: tuple[int, ...]
) -> None:
    jobs = stage.start(
        plan(*(call(f"a{one}") for one in range(4)), call("b", "a0", "a1", "a2", "a3"))
    )
    for job in jobs:
        assert stage.claim(job)
    for number in order:
        stage.report(jobs[number], Succeeded())
        stage.engine.send("e1", Claim(jobs[number].run, 1, RUNNER))

    assert [one.step for one in stage.engine.take_calls()] == ["b"]


@pytest.mark.parametrize("at_once", [False, True])
def test_e1_six_parallel_results_and_late_claims_give_one_end(stage: Stage, at_once: bool) -> None:
    """In memory in all 720 orders, elsewhere in some; `test_at_length.py` has all everywhere."""
    orders = ORDERS if isinstance(stage.engine, Memory) else ORDERS[::180]
    in_each_order(stage, orders, at_once=at_once)


def test_e3_a_step_that_is_not_claimed_has_one_call(stage: Stage) -> None:
    jobs = stage.start(plan(call("a")))
    for _ in range(10):
        stage.engine.send("e1", Tick())

    assert len(jobs) == 1
    assert stage.engine.take_calls() == []
    assert stage.engine.dropped() == {"duplicate": 10}


def test_e5_what_comes_after_success_is_ignored_and_counted(stage: Stage) -> None:
    first, _ = stage.start(plan(call("a"), call("b")))
    assert stage.claim(first)
    stage.report(first, Succeeded())

    stage.report(first, Fails(PASSES))
    assert not stage.claim(first)
    stage.report(first, Succeeded())

    assert stage.run("a").state == "SUCCESS"
    assert stage.engine.dropped() == {"after_terminal": 2, "duplicate": 1}


def test_e6_a_claim_whose_runner_died_gives_one_new_attempt(stage: Stage) -> None:
    (job,) = stage.start(plan(call("a")))
    assert stage.claim(job)
    lost = AttemptLost(job.run, 1, RUNNER)
    stage.engine.send("e1", lost, lost, lost)
    stage.engine.pass_time(timedelta(seconds=1))

    (again,) = stage.engine.take_calls()

    assert (again.attempt, again.key) == (2, job.key)


@pytest.mark.parametrize(
    ("on_lost", "state"),
    [(OnLost.RETRY, "SUBMITTED"), (OnLost.FAIL, "FAILED"), (OnLost.ASK, "WAITING")],
)
def test_e7_a_dead_runner_s_late_result_is_refused(
    stage: Stage, on_lost: OnLost, state: str
) -> None:
    (job, _) = stage.start(plan(Step("a", CallWork("noop"), on_lost=on_lost), call("b")))
    assert stage.claim(job)
    stage.engine.send("e1", AttemptLost(job.run, 1, RUNNER))
    stage.engine.pass_time(timedelta(seconds=1))
    assert stage.run("a").state == state

    stage.report(job, Succeeded())

    assert stage.run("a").state == state
    assert stage.run("a").attempts[0].state == "LOST"


def test_e8_the_runner_of_what_has_ended_dies_and_nothing_follows(stage: Stage) -> None:
    (job,) = stage.start(plan(call("a")))
    assert stage.claim(job)
    stage.report(job, Succeeded())

    stage.engine.send("e1", AttemptLost(job.run, 1, RUNNER))
    stage.engine.pass_time(timedelta(minutes=1))

    assert stage.engine.take_calls() == []
    assert stage.engine.dropped() == {"not_live": 1}


def test_e10_three_kills_are_one_and_a_late_success_is_kept(stage: Stage) -> None:
    running, waiting = stage.start(plan(call("a"), call("b"), call("c", "a")))
    assert stage.claim(running)

    stage.engine.send("e1", *[KillIt("p")] * 3)
    assert stage.run("b").state == "KILLED"
    stage.report(running, Succeeded())
    stage.engine.send("e1", KillIt("p"))

    assert stage.engine.get("e1").state == "KILLED"
    assert stage.run("a").state == "SUCCESS"
    assert not stage.claim(waiting)
    assert stage.engine.take_calls() == []


def test_e10_what_was_cancelled_ends_as_killed(stage: Stage) -> None:
    (running,) = stage.start(plan(call("a")))
    assert stage.claim(running)
    stage.engine.send("e1", KillIt("p"))

    stage.report(running, Stopped())

    assert stage.run("a").state == "KILLED"
    assert stage.engine.get("e1").state == "KILLED"


def test_e13_of_an_execution_that_has_ended_no_time_is_waited_for(stage: Stage) -> None:
    flow = FlowPlan("f", 1, (call("a"),), timeout=timedelta(minutes=1))
    stage.finish(stage.start(flow))
    version = stage.engine.get("e1").version

    stage.engine.pass_time(timedelta(hours=1))

    assert stage.engine.get("e1").version == version


def test_e14_what_people_have_skipped_is_not_submitted_again_when_its_runner_dies(
    stage: Stage,
) -> None:
    asks = Step("a", CallWork("noop"), on_lost=OnLost.ASK)
    (job,) = stage.start(plan(asks, call("b", "a")))
    assert stage.claim(job)
    lost = AttemptLost(job.run, 1, RUNNER)
    stage.engine.send("e1", lost)
    assert stage.run("a").state == "WAITING"
    stage.engine.send("e1", SkipStep(job.run, "ann"))

    stage.engine.send("e1", lost)

    (behind,) = stage.engine.take_calls()
    assert behind.step == "b"
    assert stage.run("a").state == "SKIPPED"
    assert len(stage.run("a").attempts) == 1
    stage.finish([behind])
    assert stage.engine.get("e1").state == "SUCCESS"


def test_e15_a_retry_that_is_due_and_a_late_result_give_one_new_attempt(stage: Stage) -> None:
    step = Step("a", CallWork("noop"), retry=RetryRule(3, backoff=timedelta(seconds=1)))
    (job,) = stage.start(plan(step))
    assert stage.claim(job)
    stage.report(job, Fails(PASSES))

    stage.report(job, Succeeded())
    stage.engine.pass_time(timedelta(seconds=2))
    stage.engine.send("e1", Tick(), Tick())
    stage.report(job, Succeeded())

    (again,) = stage.engine.take_calls()
    assert (again.attempt, again.effect) == (2, 2)
    stage.finish([again])
    assert stage.engine.get("e1").state == "SUCCESS"


def test_e16_what_nobody_claims_can_be_submitted_again(stage: Stage) -> None:
    (job,) = stage.start(plan(call("a")))
    stage.engine.send("e1", RetryStep(job.run, "p"))

    (again,) = stage.engine.take_calls()

    assert again.attempt == 2
    assert not stage.claim(job)
    assert stage.claim(again, OTHER)
    stage.report(again, Succeeded(), OTHER)
    assert stage.engine.get("e1").state == "SUCCESS"


def test_a_result_of_a_life_that_holds_no_claim_is_refused(stage: Stage) -> None:
    (job,) = stage.start(plan(call("a")))
    assert stage.claim(job)
    assert not stage.claim(job, OTHER)

    stage.report(job, Succeeded(), OTHER)

    assert stage.run("a").state == "RUNNING"
    assert stage.engine.dropped() == {"claimed": 2}


def test_attempts_and_steps_that_were_made_up_are_counted(stage: Stage) -> None:
    (job,) = stage.start(plan(call("a")))

    stage.engine.send("e1", Claim(job.run, 7, RUNNER), Claim("nothing", 1, RUNNER))

    assert stage.engine.dropped() == {"future_attempt": 1, "unknown_run": 1}
