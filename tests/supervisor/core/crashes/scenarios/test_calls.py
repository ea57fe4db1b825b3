"""Scenarios of the original executor: calls, failures, crashes between them."""

from datetime import timedelta

import pytest

from supervisor.core.executions.entities import Execution, StepError
from supervisor.core.executions.inputs import Claim, Fails, Report, Succeeded
from supervisor.core.executions.plan import CallWork, FlowPlan, RetryRule, Step
from tests.supervisor.core.crashes.scenarios.engines import RUNNER, Memory, Model, Stage
from tests.supervisor.core.crashes.scenarios.lengths import rounds_of_three
from tests.supervisor.core.crashes.world.messages import Created

BROKEN = StepError("broken", "it is broken")


def call(name: str, *after: str, attempts: int = 1) -> Step:
    """Return a step that calls `noop`."""
    return Step(name, CallWork("noop"), after=after, retry=RetryRule(attempts))


def plan(*steps: Step) -> FlowPlan:
    """Return a flow of steps."""
    return FlowPlan("f", 1, steps)


def test_k2_what_was_not_committed_is_left_unread_and_nothing_of_it_was_written(
    stage: Stage,
) -> None:
    """Goal: a stop between the work and its commit is as if nobody had begun.

    Where inputs lie in a log, the position stays before them; elsewhere who gave them has no answer
    and gives them again.
    """
    engine = stage.engine
    (job,) = stage.start(plan(call("a"), call("b", "a")))
    assert stage.claim(job)
    before, events = engine.get("e1"), list(engine.events("e1"))

    left = engine.die_before_commit("e1", Report(job.run, 1, Succeeded(), RUNNER))

    assert engine.unread() == left
    assert engine.get("e1") == before
    assert engine.events("e1") == events
    assert engine.take_calls() == []
    engine.restart()
    stage.report(job, Succeeded())
    (behind,) = engine.take_calls()
    assert behind.step == "b"
    assert engine.dropped().total() == left, "a repeat of what was left is known"
    stage.finish([behind])
    assert engine.get("e1").state == "SUCCESS"


@pytest.mark.parametrize("turned", [False, True])
def test_k3_an_input_of_one_without_state_is_dropped_and_counted(
    stage: Stage, turned: bool
) -> None:
    (job,) = stage.start(plan(call("a")))
    claim = Claim(job.run, 1, RUNNER)

    for execution in ("nobody", "e1")[:: -1 if turned else 1]:
        stage.engine.send(execution, claim)

    assert stage.engine.get("e1").version == 2
    assert stage.engine.dropped() == {"not_live": 1}


def test_k4_both_of_a_partition_survive_a_restart(stage: Stage) -> None:
    (first,) = stage.start(plan(call("a")), "A")
    (second,) = stage.start(plan(call("a")), "B")
    assert stage.claim(first)
    stage.report(first, Succeeded())
    before = stage.engine.get("B")

    stage.engine.restart()

    assert stage.engine.get("A").state == "SUCCESS"
    assert stage.engine.get("B") == before
    assert stage.claim(second)
    stage.report(second, Succeeded())
    assert stage.engine.get("B").state == "SUCCESS"


def test_k5_a_failure_waits_for_what_runs_and_names_all_that_failed(stage: Stage) -> None:
    first, second = stage.start(plan(call("a"), call("b"), call("c", "b")))
    assert stage.claim(first)
    assert stage.claim(second)
    stage.report(first, Fails(BROKEN))
    assert stage.engine.get("e1").state == "RUNNING"

    stage.engine.restart()
    stage.report(second, Fails(BROKEN))

    (end,) = [one for one in stage.engine.events("e1") if one.name == "execution-ended"]
    failures = end.about["failures"]
    assert isinstance(failures, list)
    assert {one["step"] for one in failures if isinstance(one, dict)} == {"a", "b"}
    assert stage.engine.take_calls() == []


def test_k6_one_failure_each_and_the_next_goes_on(stage: Stage) -> None:
    for number in range(3):
        (bad,) = stage.start(plan(call("a")), f"bad{number}")
        assert stage.claim(bad)
        stage.report(bad, Fails(StepError("unknown-step", "there is no such step")))
        stage.finish(stage.start(plan(call("a")), f"good{number}"))

        assert stage.engine.get(f"bad{number}").state == "FAILED"
        assert stage.engine.get(f"good{number}").state == "SUCCESS"


def test_k9_events_have_numbers_without_a_hole_up_to_the_end(stage: Stage) -> None:
    jobs = stage.start(plan(call("a")))
    early = list(stage.engine.events("e1"))
    stage.finish(jobs)

    events = stage.engine.events("e1")

    assert events[: len(early)] == early
    assert [one.number for one in events] == list(range(1, len(events) + 1))
    assert events[-1].name == "execution-ended"


def test_k10_each_gets_its_own_result(stage: Stage) -> None:
    flow = FlowPlan("f", 1, (call("a"),), outputs={"n": "${ steps.a.n }"})
    jobs = {name: stage.start(flow, name)[0] for name in ("A", "B")}

    for number, (name, job) in enumerate(reversed(jobs.items())):
        assert stage.claim(job)
        stage.report(job, Succeeded({"n": f"{name}{number}"}))

    assert stage.engine.get("A").outputs == {"n": "A1"}
    assert stage.engine.get("B").outputs == {"n": "B0"}


def test_k11_rounds_of_three_at_once(stage: Stage) -> None:
    """241 of them in memory, and 8 elsewhere; `test_at_length.py` has all of them everywhere."""
    rounds_of_three(stage, 241 if isinstance(stage.engine, Memory) else 8)


def test_a_start_that_comes_twice_begins_once(stage: Stage) -> None:
    jobs = stage.start(plan(call("a")))
    stage.engine.start(plan(call("a")), "e1")

    assert stage.engine.take_calls() == []
    stage.finish(jobs)
    stage.engine.start(plan(call("a")), "e1")
    assert stage.engine.get("e1").state == "SUCCESS"


def test_an_aborted_transaction_is_worked_in_again_with_the_same_outcome() -> None:
    engine = Model()
    engine.append("e1", Created(Execution("e1", plan(call("a")), {}, engine.world.now)))
    engine.world.broker_away_until = engine.world.now + timedelta(seconds=5)
    engine.work_until("commit")
    engine.work_until("poll")
    assert engine.unread() == 1

    engine.pass_time(timedelta(seconds=6))

    assert engine.unread() == 0
    assert [one.step for one in engine.take_calls()] == ["a"]
