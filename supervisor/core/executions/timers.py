"""Times: when an execution has to be looked at next, and what is due at a time."""

from dataclasses import replace
from datetime import datetime, timedelta

from supervisor.core.executions.beginning import call_of, submit_again
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import (
    Execution,
    Phase,
    RunFailure,
    StepError,
    StepScope,
    TaskRun,
    WaitsFor,
)
from supervisor.core.executions.expressions import ExpressionFailed
from supervisor.core.executions.failing import (
    end_attempt,
    fail_attempt,
    give_up,
    lose_scope,
    note_failure,
)
from supervisor.core.executions.inputs import Nudge
from supervisor.core.executions.reduced import Drop
from supervisor.core.executions.requests import cancel_held, stop_open
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState

LOOK_AGAIN = timedelta(seconds=30)
"""A look that nobody answers is asked for again after this time."""


def next_due(execution: Execution) -> datetime | None:
    """Return when a `Tick` of an execution is due; None: it waits for no time."""
    if execution.state.ended:
        return None
    times = [execution.due_at, _warns_at(execution)]
    for run in execution.runs.values():
        if not run.state.ended:
            times.append(run.due_at)
            times.append(run.wait.until if run.wait is not None else None)
            if execution.state is not ExecutionState.PAUSED:
                times.append(run.retry_at)
    return min((time for time in times if time is not None), default=None)


def _warns_at(execution: Execution) -> datetime | None:
    """Return when an execution has taken longer than its flow expects; None: it is known."""
    after, began_at = execution.plan.warn_after, execution.began_at
    if execution.warned_at is not None or after is None or began_at is None:
        return None
    return began_at + after


def tick(draft: ExecutionDraft) -> Drop | None:
    """Do what is due; nothing is due: a time came twice."""
    due = next_due(draft.execution)
    if due is None or due > draft.now:
        return Drop.DUPLICATE
    for run_id in [run.id for run in draft.runs()]:
        run = draft.run(run_id)
        if run is not None and not run.state.ended:
            _do_due(draft, run)
    warns_at = _warns_at(draft.execution)
    if warns_at is not None and warns_at <= draft.now:
        draft.execution = replace(draft.execution, warned_at=draft.now)
        draft.write_event("takes-long", expected=_seconds(draft.execution.plan.warn_after))
    if draft.execution.due_at is not None and draft.execution.due_at <= draft.now:
        _time_out(draft)
    return None


def nudge(draft: ExecutionDraft, asked: Nudge) -> Drop | None:
    """Look at once at what a step waits for."""
    run = draft.run(asked.run)
    if run is None:
        return Drop.UNKNOWN_RUN
    if run.wait is None or run.wait.kind is not WaitsFor.CONDITION:
        return Drop.NOT_NOW
    _look_at_condition(draft, run)
    return None


def _do_due(draft: ExecutionDraft, run: TaskRun) -> None:
    if run.due_at is not None and run.due_at <= draft.now:
        _run_out(draft, run)
    elif run.state is StepState.RETRYING:
        may_go_on = draft.execution.state is not ExecutionState.PAUSED
        if may_go_on and run.retry_at is not None and run.retry_at <= draft.now:
            submit_again(draft, run)
    elif run.wait is not None and run.wait.until is not None and run.wait.until <= draft.now:
        if run.wait.kind is WaitsFor.TIME:
            draft.put(replace(run, state=StepState.SUCCESS))
        else:
            _look_at_condition(draft, run)


def _run_out(draft: ExecutionDraft, run: TaskRun) -> None:
    """Fail what has taken too long; its runner, or the other execution, shall stop."""
    if run.state is StepState.KILLING:
        _end_hard(draft, run)
        return
    if not run.attempts:  # an `approve`
        give_up(
            draft, replace(run, due_at=None), StepError("timeout", "nobody has answered in time")
        )
        return
    if run.state is StepState.SUBMITTED:
        message = "no runner has claimed it in time: are there executors?"
        # An attempt before may have been lost: its effect is not known, so its key stays.
        error = StepError("queue-timeout", message, passes=True, known=False)
    else:
        error = StepError("timeout", "it has taken too long", passes=True, known=False)
    cancel_held(draft, run)
    fail_attempt(draft, replace(run, due_at=None), error)


def _end_hard(draft: ExecutionDraft, run: TaskRun) -> None:
    """Wait no more for the runner of a step that is killed."""
    seconds = _seconds(draft.execution.plan.kill_grace)
    message = f"its runner has not stopped within {seconds:g} s; how far it came is not known"
    error = StepError("kill-grace", message, known=False)
    killed = end_attempt(draft, run, AttemptState.KILLED, error)
    draft.put(replace(killed, state=StepState.KILLED, error=error))


def _seconds(duration: timedelta | None) -> float:
    return 0.0 if duration is None else duration.total_seconds()


def _look_at_condition(draft: ExecutionDraft, run: TaskRun) -> None:
    if run.wait is None:
        return
    check = run.wait.check + 1
    wait = replace(run.wait, check=check, until=draft.now + LOOK_AGAIN)
    run = draft.put(replace(run, wait=wait))
    try:
        draft.calls.append(call_of(draft, run, check))
    except ExpressionFailed as error:
        give_up(draft, run, StepError("expression", str(error)))


def _time_out(draft: ExecutionDraft) -> None:
    """Let an execution fail whose time is over: what is open ends, and no more begins.

    `finally` steps take their time all the same, as they do after a kill.
    """
    draft.execution = replace(draft.execution, due_at=None)
    error = StepError("timeout", "the execution has taken too long")
    note_failure(draft, RunFailure("", "", error, draft.now))
    if draft.execution.phase is Phase.ALWAYS:
        draft.execution = replace(draft.execution, failed=True)
        return
    lose_scope(draft, StepScope(Phase(draft.execution.phase)))
    stop_open(draft)
