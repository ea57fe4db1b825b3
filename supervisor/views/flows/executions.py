"""Response models of executions: what runs, what is waited for, and since when."""

from datetime import datetime

from pydantic import Field, JsonValue

from supervisor.core.executions.entities import (
    Execution,
    RunAttempt,
    StepError,
    TaskRun,
    WaitsFor,
)
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState
from supervisor.core.flows.artifacts import references_in
from supervisor.views.flows.waiting import WaitingView, waits_of
from tasks.contract.wire import Instant, Wire

__all__ = [
    "ExecutionEventsPage",
    "ExecutionLine",
    "ExecutionPage",
    "ExecutionView",
    "event_view",
    "execution_view",
    "line_view",
]


class StepErrorView(Wire):
    """Why a step failed."""

    code: str
    """For programs, such as `timeout`."""
    message: str


class RunAttemptView(Wire):
    """One try of a step."""

    number: int
    state: AttemptState
    submitted_at: Instant
    began_at: Instant | None
    """When a runner was granted it; null: none was yet."""
    ended_at: Instant | None
    runner: str | None
    error: StepErrorView | None


class WaitView(Wire):
    """What a task run waits for."""

    kind: WaitsFor
    what: str
    """In words."""
    since: Instant
    until: Instant | None
    """When it is looked at again, or over; null: whenever somebody acts."""


class ArtifactView(Wire):
    """An output that lies beside the record."""

    id: str
    """For `GET /api/v1/executions/{execution}/artifacts/{artifact}`."""
    bytes: int
    sha256: str
    """Of its content, in hexadecimal digits."""


class TaskRunView(Wire):
    """One step of an execution; of a `forEach` one for each item."""

    id: str
    step: str
    state: StepState
    kept: bool
    """Whether it ended in the execution that this one is a rerun of."""
    item: int | None
    """The number of the item; null: it is inside no `forEach`."""
    parent: str | None
    """The task run that it is inside of."""
    created_at: Instant
    ended_at: Instant | None
    retry_at: Instant | None
    """When it is tried again."""
    waits_for: WaitView | None
    attempts: list[RunAttemptView]
    outputs: dict[str, JsonValue]
    artifacts: list[ArtifactView] = Field(default_factory=list)
    """What its outputs name that is too large for them."""
    error: StepErrorView | None


class ExecutionLine(Wire):
    """An execution in a list."""

    id: str
    flow: str
    flow_version: int
    state: ExecutionState
    created_at: Instant
    began_at: Instant | None
    ended_at: Instant | None
    started_by: str
    """The type of its trigger, such as `request`; `subflow`; or `rerun`."""
    parent: str | None
    """The execution whose subflow step waits for this one."""
    rerun_of: str | None
    """The execution that it began anew."""
    labels: dict[str, str]
    error: str
    """Of the first step that failed for good; empty: none has."""
    warned_at: Instant | None
    """When it had taken longer than its flow's `warnAfter`; null: it has not."""


class ExecutionPage(Wire):
    """Executions, newest first."""

    executions: list[ExecutionLine]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


class ExecutionView(ExecutionLine):
    """An execution with its task runs."""

    version: int
    """How many inputs have changed it."""
    trigger: dict[str, JsonValue]
    inputs: dict[str, JsonValue]
    outputs: dict[str, JsonValue]
    due_at: Instant | None
    """When its timeout is over."""
    waits_for: list[WaitingView]
    """What it and its task runs wait for, the longest first."""
    runs: list[TaskRunView]
    """In the order in which they began."""


class ExecutionEventView(Wire):
    """Something that has happened to an execution."""

    number: int
    """From 1 on, without a hole."""
    at: Instant
    name: str
    run: str | None
    about: dict[str, JsonValue]


class ExecutionEventsPage(Wire):
    """Events of one execution, in order."""

    events: list[ExecutionEventView]
    next: int | None
    """The `after` of the next page; null: there is none yet."""


def line_view(execution: Execution) -> ExecutionLine:
    """Return an execution as a list has it."""
    return ExecutionLine(
        id=execution.id,
        flow=execution.flow,
        flow_version=execution.plan.version,
        state=execution.state,
        created_at=execution.created_at,
        began_at=execution.began_at,
        ended_at=execution.ended_at,
        started_by=execution.started_by,
        parent=None if execution.parent is None else execution.parent.split("/")[0],
        rerun_of=None if execution.rerun is None else execution.rerun.execution,
        labels=dict(execution.labels),
        error=execution.error,
        warned_at=execution.warned_at,
    )


def execution_view(
    execution: Execution, gate: Gate | None = None, unsent_since: datetime | None = None
) -> ExecutionView:
    """Return an execution with all that is known of it.

    `gate`: that of its slot, if it waits for one; None: who holds the slots is left out.
    `unsent_since`: when something was stored for it that is not on the topics yet.
    """
    runs = sorted(execution.runs.values(), key=lambda run: (run.created_at, run.id))
    return ExecutionView(
        **dict(line_view(execution)),
        version=execution.version,
        trigger=dict(execution.trigger),
        inputs=dict(execution.inputs),
        outputs=dict(execution.outputs),
        due_at=execution.due_at,
        waits_for=waits_of(execution, gate, unsent_since),
        runs=[_run(run) for run in runs],
    )


def event_view(event: ExecutionEvent) -> ExecutionEventView:
    """Return an event as the API has it."""
    return ExecutionEventView(
        number=event.number,
        at=event.at,
        name=event.name,
        run=event.run or None,
        about=dict(event.about),
    )


def _run(run: TaskRun) -> TaskRunView:
    wait = run.wait
    return TaskRunView(
        id=run.id,
        step=run.step,
        state=run.state,
        kept=run.kept,
        item=run.scope.item,
        parent=run.scope.parent or None,
        created_at=run.created_at,
        ended_at=run.ended_at,
        retry_at=run.retry_at,
        waits_for=None
        if wait is None
        else WaitView(kind=wait.kind, what=wait.what, since=wait.since, until=wait.until),
        attempts=[_attempt(each) for each in run.attempts],
        outputs=dict(run.outputs),
        artifacts=[
            ArtifactView(id=ref.id, bytes=ref.bytes, sha256=ref.sha256)
            for ref in references_in(run.outputs)
        ],
        error=_error(run.error),
    )


def _attempt(attempt: RunAttempt) -> RunAttemptView:
    return RunAttemptView(
        number=attempt.number,
        state=attempt.state,
        submitted_at=attempt.submitted_at,
        began_at=attempt.began_at,
        ended_at=attempt.ended_at,
        runner=None if attempt.runner is None else attempt.runner.name,
        error=_error(attempt.error),
    )


def _error(error: StepError | None) -> StepErrorView | None:
    return None if error is None else StepErrorView(code=error.code, message=error.message)
