"""The reducer: an execution, one input and a time give the next version, and all that goes out.

    reduce(execution, input, now) ─► Reduced: the new version, calls, messages, events
                                  └► Reduced: the same version, and why the input was dropped

It is pure: the same three always give the same.  Each input that is not dropped makes exactly one
version.
"""

from dataclasses import replace
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.executions import joining, requests, timers
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import (
    Execution,
    RunFailure,
    StepError,
    StepScope,
)
from supervisor.core.executions.expressions import ExpressionFailed, Expressions, resolve
from supervisor.core.executions.failing import note_failure
from supervisor.core.executions.inputs import (
    AnswerStep,
    AttemptLost,
    Begin,
    ChildEnded,
    Claim,
    ExecutionInput,
    KillIt,
    Nudge,
    PauseIt,
    Report,
    ResumeIt,
    RetryStep,
    SkipStep,
    SlotFreed,
    SlotGiven,
    SlotRefused,
    SlotWanted,
    Tick,
)
from supervisor.core.executions.progress import settle
from supervisor.core.executions.reduced import ClaimReply, Drop, Reduced, SendGate
from supervisor.core.executions.scopes import open_scopes, variables_of
from supervisor.core.executions.states import ExecutionState


def reduce_execution(
    execution: Execution, given: ExecutionInput, now: datetime, language: Expressions
) -> Reduced[Execution]:
    """Work one input in.

    Raises:
        IllegalMove: a fault of the rules; nothing was changed.
    """
    if execution.state.ended:
        return _after_end(execution, given)
    draft = ExecutionDraft(execution, now, language)
    dropped = _join(draft, given)
    if dropped is not None:
        return Reduced(execution, messages=tuple(draft.messages), dropped=dropped)
    settle(draft)
    return draft.finish()


def _after_end(execution: Execution, given: ExecutionInput) -> Reduced[Execution]:
    """Refuse what comes too late; a slot is given back, and a runner hears that it may not."""
    match given:
        case SlotGiven(gate):
            freed = SendGate(gate, SlotFreed(execution.id))
            return Reduced(execution, messages=(freed,), dropped=Drop.NOT_LIVE)
        case Claim(run, attempt, runner):
            no = ClaimReply(run, attempt, runner, granted=False)
            return Reduced(execution, messages=(no,), dropped=Drop.NOT_LIVE)
        case _:
            return Reduced(execution, dropped=Drop.NOT_LIVE)


def _join(draft: ExecutionDraft, given: ExecutionInput) -> Drop | None:
    match given:
        case Begin():
            return _begin(draft)
        case SlotGiven() | SlotRefused():
            return _slot(draft, given)
        case Claim():
            return joining.claim(draft, given)
        case Report():
            return joining.report(draft, given)
        case AttemptLost():
            return joining.lost(draft, given)
        case ChildEnded():
            return joining.child_ended(draft, given)
        case Tick():
            return timers.tick(draft)
        case Nudge():
            return timers.nudge(draft, given)
        case KillIt():
            return requests.kill(draft, given)
        case PauseIt():
            return requests.pause(draft, given)
        case ResumeIt():
            return requests.resume(draft, given)
        case RetryStep():
            return requests.retry(draft, given)
        case SkipStep():
            return requests.skip(draft, given)
        case AnswerStep():
            return requests.answer(draft, given)


def _begin(draft: ExecutionDraft) -> Drop | None:
    """Start, or ask the flow's gate for a slot."""
    execution = draft.execution
    if execution.state is not ExecutionState.CREATED:
        return Drop.DUPLICATE
    draft.write_event("execution-started", flow=execution.flow, version=execution.plan.version)
    if execution.rerun is not None:
        _write_kept(draft, execution.rerun.execution)
    for run in draft.runs():  # what is under way from the beginning
        if not run.state.ended:
            draft.write_event("step-started", run.id, step=run.step)
    rule = execution.plan.concurrency
    if rule is None:
        _start(draft)
        return None
    try:
        key = (
            ""
            if rule.key is None
            else resolve(rule.key, variables_of(draft, StepScope()), draft.language)
        )
    except ExpressionFailed as error:
        failure = StepError("expression", str(error))
        note_failure(draft, RunFailure("", "", failure, draft.now))
        draft.execution = replace(draft.execution, failed=True)
        requests.end_unbegun(draft)
        return None
    gate = f"{execution.flow}/{key}"
    draft.execution = replace(draft.execution, gate=gate)
    draft.messages.append(SendGate(gate, SlotWanted(execution.id, rule.limit, rule.when_full)))
    draft.move(ExecutionState.QUEUED)
    return None


def _write_kept(draft: ExecutionDraft, of: str) -> None:
    """Write what a rerun has taken over."""
    kept: list[JsonValue] = [*dict.fromkeys(run.step for run in draft.runs() if run.kept)]
    draft.write_event("steps-kept", of=of, steps=kept)


def _slot(draft: ExecutionDraft, given: SlotGiven | SlotRefused) -> Drop | None:
    if draft.execution.state is not ExecutionState.QUEUED:
        return Drop.DUPLICATE
    if isinstance(given, SlotRefused):
        requests.refuse(draft, given)
    else:
        _start(draft)
    return None


def _start(draft: ExecutionDraft) -> None:
    timeout = draft.execution.plan.timeout
    draft.execution = replace(
        draft.execution,
        began_at=draft.now,
        due_at=None if timeout is None else draft.now + timeout,
    )
    draft.move(ExecutionState.RUNNING)
    draft.scopes.extend(open_scopes(draft))  # a rerun and a batch have more than their own graph
