"""Scenarios that run at two lengths: a few of each among the fast tests, all of them apart."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import chain, permutations

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Claim, ExecutionInput, Fails, Report, Succeeded
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from tests.supervisor.core.crashes.scenarios.engines import RUNNER, Stage

__all__ = ["ORDERS", "in_each_order", "rounds_of_three"]

ORDERS = list(permutations(range(6)))
"""Every order of six results."""
_TWO = FlowPlan("f", 1, (Step("a", CallWork("noop")), Step("b", CallWork("noop"), after=("a",))))
_SIX = FlowPlan(
    "six",
    1,
    (
        *(Step(f"a{one}", CallWork("noop")) for one in range(6)),
        Step("b", CallWork("noop"), after=tuple(f"a{one}" for one in range(6))),
    ),
)
_LATE = StepError("busy", "try later", passes=True)


def rounds_of_three(stage: Stage, rounds: int, first: int = 0) -> None:
    """K11: rounds of three executions at once, each of them to its end and within its time."""
    plan = FlowPlan("f", 1, _TWO.steps, timeout=timedelta(minutes=1))
    every: list[str] = []
    for number in range(first, first + rounds):
        names = [f"{one}{number}" for one in "abc"]
        every += names
        jobs = [job for name in names for job in stage.start(plan, name)]
        while jobs:
            for job in jobs:
                claim = Claim(job.run, job.attempt, RUNNER)
                done = Report(job.run, job.attempt, Succeeded(), RUNNER)
                stage.engine.send(job.execution, claim, done)
            jobs = stage.engine.take_calls()
    for name in every:
        assert stage.engine.events(name)[-1].about["state"] == "SUCCESS"
    assert stage.engine.dropped().total() == 0


def in_each_order(stage: Stage, orders: Iterable[tuple[int, ...]], *, at_once: bool) -> None:
    """Kestra's interleaving: results of six parallel steps, and a late RUNNING behind each.

    `at_once`: all of them come in one batch; else each result comes by itself.  Each time there is
    one end, the step behind them begins once, and what is late changes nothing.
    """
    engine, dropped = stage.engine, stage.engine.dropped().total()
    names = []
    for order in orders:
        names.append("o" + "".join(map(str, order)) + ("s" if at_once else ""))
        jobs = stage.start(_SIX, names[-1])
        engine.send(names[-1], *(Claim(job.run, 1, RUNNER) for job in jobs))
        given: list[list[ExecutionInput]] = [
            [
                Report(jobs[one].run, 1, Succeeded({"n": one}), RUNNER),
                Claim(jobs[one].run, 1, RUNNER),
                Report(jobs[one].run, 1, Fails(_LATE), RUNNER),
            ]
            for one in order
        ]
        for some in [list(chain.from_iterable(given))] if at_once else given:
            engine.send(names[-1], *some)
        (behind,) = engine.take_calls()
        assert (behind.execution, behind.step) == (names[-1], "b")
        claim = Claim(behind.run, 1, RUNNER)
        engine.send(names[-1], claim, Report(behind.run, 1, Succeeded(), RUNNER))
    # At the end: an engine over topics reads all that it is asked for anew.
    assert engine.dropped().total() == dropped + 12 * len(names)
    for name in names:
        events = [one.name for one in engine.events(name)]
        assert (events.count("execution-ended"), events.count("step-ended")) == (1, 7)
        execution = engine.get(name)
        assert execution.state == "SUCCESS"
        assert execution.version == 1 + 6 + 6 + 2, "one version for each input that was taken"
        assert all(len(run.attempts) == 1 for run in execution.runs.values())
