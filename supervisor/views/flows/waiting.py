"""What an execution waits for, each of its live task runs by itself, and since when."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.states import ExecutionState, StepState
from tasks.contract.wire import Instant, Wire

__all__ = ["WaitKind", "WaitingView", "waits_of"]

_HOLDERS_MAX = 100


class WaitKind(StrEnum):
    """SLOT: its flow runs as often as it may.  RESUME: it is paused.  RUNNER: somebody to make it.

    RETRY: the time of the next attempt.  TIME: the end of a sleep.  CONDITION: what a verb has
    begun.  ANSWER: yes or no.  PERSON: a failed step is retried or skipped.  CHILD: an execution.
    KAFKA: what is stored for it is not on the topics yet.  EXECUTOR: nobody has worked it in yet.
    """

    SLOT = "slot"
    RESUME = "resume"
    RUNNER = "runner"
    RETRY = "retry"
    CONDITION = "condition"
    PERSON = "person"
    ANSWER = "answer"
    TIME = "time"
    CHILD = "child"
    KAFKA = "kafka"
    EXECUTOR = "executor"


class WaitingView(Wire):
    """What an execution, or one task run of it, waits for."""

    kind: WaitKind
    what: str
    """In words."""
    since: Instant
    until: Instant | None
    """When it is looked at again, or over; null: whenever somebody acts."""
    step: str | None
    """Null: it is the execution that waits."""
    run: str | None
    holders: list[str]
    """Of a slot: the executions that have them, the first 100 by id."""


def waits_of(
    execution: Execution, gate: Gate | None = None, unsent_since: datetime | None = None
) -> list[WaitingView]:
    """Return what an execution waits for, the longest first; of one that has ended nothing.

    `gate`: that of its slot, as it is now; None: its holders are not known.  `unsent_since`: when
    something was stored for it that is not on the topics yet; None: nothing is.
    """
    if execution.state.ended:
        return []
    waits = [*_own(execution, gate), *_of_runs(execution), *_of_topics(execution, unsent_since)]
    return sorted(waits, key=lambda wait: (wait.since, wait.run or ""))


def _own(execution: Execution, gate: Gate | None) -> Iterator[WaitingView]:
    if execution.state is ExecutionState.QUEUED:
        holders = [] if gate is None else sorted(gate.holders)[:_HOLDERS_MAX]
        what = f"a slot: {execution.flow} runs as often at once as it may"
        if gate is not None and execution.id in gate.queue:
            ahead = gate.queue.index(execution.id)
            what += f", {len(gate.holders)} of {gate.limit}, and {ahead} wait before it"
        yield _waiting(WaitKind.SLOT, what, execution.created_at, holders=holders)
    if execution.state is ExecutionState.PAUSED:
        what = "somebody to let it go on: it is paused"
        since = execution.paused_at or execution.began_at or execution.created_at
        yield _waiting(WaitKind.RESUME, what, since)


def _of_topics(execution: Execution, unsent_since: datetime | None) -> Iterator[WaitingView]:
    if unsent_since is not None:
        what = "Kafka: what is stored for it is not on the topics of executions yet"
        yield _waiting(WaitKind.KAFKA, what, unsent_since)
    elif execution.state is ExecutionState.CREATED:
        what = "an executor that works it in"
        yield _waiting(WaitKind.EXECUTOR, what, execution.created_at)


def _of_runs(execution: Execution) -> Iterator[WaitingView]:
    for run in execution.runs.values():
        if run.wait is not None:
            wait, kind = run.wait, WaitKind(run.wait.kind.value)
            yield _waiting(kind, wait.what, wait.since, run, wait.until)
        elif run.state is StepState.SUBMITTED and run.attempt is not None:
            since = run.attempt.submitted_at
            yield _waiting(WaitKind.RUNNER, "a runner that takes it", since, run, run.due_at)
        elif run.state is StepState.RETRYING and run.retry_at is not None:
            since = run.attempts[-1].ended_at or run.created_at
            what = f"the next try, at {run.retry_at:%H:%M:%S} UTC"
            yield _waiting(WaitKind.RETRY, what, since, run, run.retry_at)


def _waiting(
    kind: WaitKind,
    what: str,
    since: datetime,
    run: TaskRun | None = None,
    until: datetime | None = None,
    *,
    holders: list[str] | None = None,
) -> WaitingView:
    return WaitingView(
        kind=kind,
        what=what,
        since=since,
        until=until,
        step=None if run is None else run.step,
        run=None if run is None else run.id,
        holders=holders or [],
    )
