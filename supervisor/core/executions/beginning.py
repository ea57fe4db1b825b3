"""How a step begins: its condition, its values, and what its kind of work does at once."""

import hashlib
from dataclasses import replace
from datetime import timedelta

from pydantic import JsonValue

from supervisor.core.executions.batches import batch_execution, in_batches
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import (
    RunAttempt,
    StepError,
    StepScope,
    TaskRun,
    Wait,
    WaitsFor,
)
from supervisor.core.executions.expressions import ExpressionFailed, resolve
from supervisor.core.executions.failing import CHILD_REFUSED, give_up, next_effect
from supervisor.core.executions.plan import (
    DEPTH_MAX,
    RUNS_MAX,
    ApproveWork,
    BatchWork,
    CallWork,
    EachWork,
    FailWork,
    ParallelWork,
    SetWork,
    SleepWork,
    Step,
    SubflowWork,
    SwitchWork,
)
from supervisor.core.executions.reduced import StartBatch, StartChild, StepCall
from supervisor.core.executions.scopes import variables_of
from supervisor.core.executions.states import AttemptState, StepState

_ID_BYTES = 10


def begin_step(draft: ExecutionDraft, scope: StepScope, step: Step) -> None:
    """Make the task run of a step, and do what it does at once."""
    run = TaskRun(
        id=scope.run_id(draft.execution.id, step),
        step=step.name,
        state=StepState.CREATED,
        created_at=draft.now,
        scope=scope,
    )
    draft.put(run)
    if draft.count() > RUNS_MAX and draft.count() - _lists(draft) > RUNS_MAX:
        error = StepError("too-many-runs", f"an execution has at most {RUNS_MAX} task runs")
        give_up(draft, run, error)
        return
    try:
        if step.condition is not None and not _holds(draft, scope, step.condition):
            draft.put(replace(run, state=StepState.SKIPPED))
            return
        _begin_work(draft, run, step)
    except ExpressionFailed as error:
        give_up(draft, run, StepError("expression", str(error)))


def _lists(draft: ExecutionDraft) -> int:
    """Count the `forEach` steps of the flow itself: a list may have as many items as there may be
    task runs.  A flow has few of them, so that they cannot become too many.
    """
    return sum(run.items is not None and not run.scope.parent for run in draft.runs())


def _holds(draft: ExecutionDraft, scope: StepScope, condition: str) -> bool:
    value = draft.language.value(condition, variables_of(draft, scope))
    if not isinstance(value, bool):
        raise ExpressionFailed(f"`if: {condition}` gives {value!r}, and not true or false")
    return value


def _begin_work(draft: ExecutionDraft, run: TaskRun, step: Step) -> None:
    match step.work:
        case CallWork() | SubflowWork() | BatchWork():
            submit(draft, run)
        case SetWork(values):
            outputs = _mapping(_resolved(draft, run.scope, dict(values)))
            draft.put(replace(run, state=StepState.SUCCESS, outputs=outputs))
        case FailWork(message):
            give_up(draft, run, StepError("fail", str(_resolved(draft, run.scope, message))))
        case SleepWork(seconds):
            until = draft.now + _duration(_resolved(draft, run.scope, seconds))
            wait = Wait(WaitsFor.TIME, "its time", draft.now, until=until)
            draft.put(replace(run, state=StepState.WAITING, wait=wait))
        case ApproveWork(question):
            wait = Wait(WaitsFor.ANSWER, str(_resolved(draft, run.scope, question)), draft.now)
            due_at = None if step.timeout is None else draft.now + step.timeout
            draft.put(replace(run, state=StepState.WAITING, wait=wait, due_at=due_at))
        case ParallelWork():
            draft.put(replace(run, state=StepState.RUNNING))
            draft.scopes.append(StepScope(run.scope.phase, run.id))
        case SwitchWork(value, cases):
            chosen = _shown(draft.language.value(value, variables_of(draft, run.scope)))
            branch = chosen if chosen in cases else None
            draft.put(replace(run, state=StepState.RUNNING, branch=branch))
            draft.scopes.append(StepScope(run.scope.phase, run.id))
        case EachWork(items, batch=batch):
            listed = _resolved(draft, run.scope, items)
            if not isinstance(listed, list):
                raise ExpressionFailed(f"`items` of {step.name} gives no list")
            batches = in_batches(listed, batch)
            draft.put(replace(run, state=StepState.RUNNING, items=tuple(batches)))
            draft.scopes.append(StepScope(run.scope.phase, run.id))


def submit(draft: ExecutionDraft, run: TaskRun) -> None:
    """Begin the next attempt of a call, of a subflow or of a batch.

    Raises:
        ExpressionFailed: a value of it cannot be worked out.
    """
    step = draft.step_of(run)
    attempt = RunAttempt(
        number=len(run.attempts) + 1,
        effect=next_effect(run.attempt),
        state=AttemptState.SUBMITTED,
        submitted_at=draft.now,
    )
    run = replace(
        run,
        state=StepState.SUBMITTED,
        attempts=(*run.attempts, attempt),
        wait=None,
        retry_at=None,
        due_at=None if step.queue_timeout is None else draft.now + step.queue_timeout,
    )
    match step.work:
        case CallWork():
            draft.calls.append(call_of(draft, run))
            draft.put(run)
        case SubflowWork(flow, inputs):
            values = _mapping(_resolved(draft, run.scope, dict(inputs)))
            depth = draft.execution.depth + 1
            child, parent = _child_of(draft, run)
            _begin_child(draft, run, StartChild(child, flow, values, parent, depth), flow)
        case BatchWork(steps):
            child, parent = _child_of(draft, run)
            batch = StartBatch(batch_execution(draft, run, steps, child, parent))
            _begin_child(draft, run, batch, draft.execution.flow)


def _child_of(draft: ExecutionDraft, run: TaskRun) -> tuple[str, str]:
    """Return the id of the execution that an attempt starts, and who waits for it."""
    number = len(run.attempts)
    return child_id(run.id, number), f"{draft.execution.id}/{run.id}/{number}"


def _begin_child(
    draft: ExecutionDraft, run: TaskRun, start: StartChild | StartBatch, flow: str
) -> None:
    """Start another execution, and wait for its end."""
    draft.put(run)
    if draft.execution.depth + 1 > DEPTH_MAX:
        give_up(draft, run, StepError(CHILD_REFUSED, f"executions are at most {DEPTH_MAX} deep"))
        return
    draft.messages.append(start)
    timeout, (child, _) = draft.step_of(run).timeout, _child_of(draft, run)
    wait = Wait(WaitsFor.CHILD, f"the execution {child} of {flow}", draft.now)
    due_at = None if timeout is None else draft.now + timeout
    draft.put(replace(run, state=StepState.WAITING, wait=wait, due_at=due_at))


def submit_again(draft: ExecutionDraft, run: TaskRun) -> None:
    """Begin the next attempt of a task run that is RETRYING; an `approve` asks once more."""
    step = draft.step_of(run)
    try:
        if isinstance(step.work, ApproveWork):
            _begin_work(draft, replace(run, retry_at=None, error=None), step)
        else:
            submit(draft, run)
    except ExpressionFailed as error:
        give_up(draft, run, StepError("expression", str(error)))


def call_of(draft: ExecutionDraft, run: TaskRun, check: int = 0) -> StepCall:
    """Return the call of a task run's newest attempt.  `check`: the number of a look.

    Raises:
        ExpressionFailed: a value of it cannot be worked out.
    """
    work, attempt = draft.step_of(run).work, run.attempts[-1]
    if not isinstance(work, CallWork):
        raise TypeError(f"{run.step} makes no call")
    return StepCall(
        execution=draft.execution.id,
        run=run.id,
        step=run.step,
        attempt=attempt.number,
        effect=attempt.effect,
        verb=work.verb,
        arguments=_mapping(_resolved(draft, run.scope, dict(work.arguments))),
        check=check,
        state=run.wait.state if run.wait is not None else None,
        grace=draft.execution.plan.kill_grace,
    )


def child_id(run: str, attempt: int) -> str:
    """Return the id of the execution that an attempt of a `subflow` step or a batch starts."""
    return hashlib.blake2b(f"{run}/{attempt}".encode(), digest_size=_ID_BYTES).hexdigest()


def _resolved(draft: ExecutionDraft, scope: StepScope, value: JsonValue) -> JsonValue:
    return resolve(value, variables_of(draft, scope), draft.language)


def _mapping(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _duration(seconds: JsonValue) -> timedelta:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        raise ExpressionFailed(f"a sleep lasts seconds, 0 or more, and not {seconds!r}")
    return timedelta(seconds=seconds)


def _shown(value: JsonValue) -> str:
    """Return a value as the keys of `cases` write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
