"""Flows that run to their ends in the hands of a test, for what is reported of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import cast

from pydantic import JsonValue

from supervisor.chores.reports.executions import ReportExecutions
from supervisor.chores.reports.supervisors import ReportSupervisors
from supervisor.core.executions.entities import Execution, Runner, StepError
from supervisor.core.executions.inputs import Fails, Outcome, Report
from supervisor.core.executions.plan import CallWork, EachWork, FlowPlan, RetryRule, Step
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.executions.states import ExecutionState
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.executions.engine import CallReport
from supervisor.ports.flows.executions import ExecutionStore
from tasks.reporting.levels import ReportLevels
from tests.conformance.history.archive_story import Topic
from tests.conformance.metadata.writes.keys import Story
from tests.conformance.stories import CLICKS, NOON
from tests.supervisor.core.crashes.scenarios.stored import Stored

__all__ = ["EACH", "LOAD_AND_VERIFY", "RUNNER", "fails", "leader_reports", "runs", "starts"]

RUNNER = Runner("executor-1", "one")
LOAD_AND_VERIFY = FlowPlan(
    "nightly",
    3,
    (
        Step("load", CallWork("noop"), retry=RetryRule(2, timedelta(seconds=1))),
        Step("verify", CallWork("noop"), after=("load",)),
    ),
)
EACH = FlowPlan(
    "each", 1, (Step("all", EachWork([1, 2, 3], (Step("one", CallWork("noop")),), concurrency=3)),)
)


def fails(message: str) -> Outcome:
    """An error that passes."""
    return Fails(StepError("http_500", message, passes=True))


def starts(stored: Stored, plan: FlowPlan, execution: str) -> None:
    """Start an execution, a second after the one before."""
    stored.now += timedelta(seconds=1)
    stored.engine.work(starts=[Execution(execution, plan, {}, stored.now)])


def runs(
    stored: Stored, execution: str, outcomes: Mapping[str, Sequence[Outcome]], rounds: int = 10
) -> None:
    """Make the calls of an execution, each step with its outcomes in turn, for some rounds."""
    left = {step: [*each] for step, each in outcomes.items()}
    reports: list[CallReport] = []
    for _ in range(rounds):
        stored.now += timedelta(seconds=2)
        stored.engine.tick()
        orders = stored.engine.serve(RUNNER, [], reports, free=10)
        reports = [
            CallReport(
                call.execution, Report(call.run, call.attempt, left[call.step].pop(0), RUNNER)
            )
            for call in orders.begin
            if call.execution == execution and left.get(call.step)
        ]


class _OneEnded:
    """Executions of which one is there, and has ended."""

    def __init__(self) -> None:
        self._one = Execution(
            "nightly:1", LOAD_AND_VERIFY, {}, NOON, 1, ExecutionState.SUCCESS, ended_at=NOON
        )

    @contextmanager
    def reading(self) -> Iterator["_OneEnded"]:
        yield self

    def page(self, *_: object) -> list[Execution]:
        return [self._one]

    def versions(self, ids: Sequence[str]) -> dict[str, int]:
        return dict.fromkeys(ids, 1)

    def execution(self, _: str) -> Execution:
        return self._one

    def events(self, *_: object) -> list[ExecutionEvent]:
        return []


def leader_reports(story: Story) -> None:
    """Changes of state and executions are reported; each note of how far is overtaken."""
    store, topic, levels = story.store, Topic(), ReportLevels()
    detail: dict[str, JsonValue] = {"state": "RUNNING", "healthy": True}
    with story.world.store.leading(story.term()) as tx:
        tx.happenings.record(LifecycleEvent(NOON, EventKind.STATE_CHANGED, CLICKS, detail))
    supervisors = ReportSupervisors(store, story.term, topic, levels)
    story.does("report supervisors", supervisors.run_once)
    one = cast("ExecutionStore", _OneEnded())
    executions = ReportExecutions(store, story.term, one, topic, None, levels)
    story.does("report executions", executions.run_once)
