"""What people ask of an execution: kill, pause, resume, and per step retry, skip, answer."""

from dataclasses import replace
from datetime import datetime

from supervisor.core.executions.beginning import child_id, submit_again
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Phase, RunFailure, StepError, TaskRun, WaitsFor
from supervisor.core.executions.failing import end_attempt, give_up, note_failure
from supervisor.core.executions.inputs import (
    AnswerStep,
    KillIt,
    PauseIt,
    ResumeIt,
    RetryStep,
    SkipStep,
    SlotRefused,
)
from supervisor.core.executions.plan import ApproveWork, BatchWork, CallWork, SubflowWork, WhenFull
from supervisor.core.executions.progress import end
from supervisor.core.executions.reduced import Cancel, Drop, Send
from supervisor.core.executions.scopes import open_scopes
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState

_COMES_AGAIN = (CallWork, SubflowWork, BatchWork, ApproveWork)
"""What a person may let begin once more."""
_NOT_BEGUN = frozenset({ExecutionState.CREATED, ExecutionState.QUEUED})


def kill(draft: ExecutionDraft, asked: KillIt) -> Drop | None:
    """End what has not begun at once, and cancel what runs; once more changes nothing."""
    execution = draft.execution
    if execution.killed and not asked.force:
        return Drop.DUPLICATE
    draft.execution = replace(execution, killed=True)
    draft.write_event("kill-requested", by=asked.by, force=asked.force)
    if execution.state in _NOT_BEGUN:
        end_unbegun(draft)
        return None
    draft.move(ExecutionState.KILLING)
    if asked.force:
        stop_open(draft, at_once=True)
        end(draft)
        return None
    if execution.phase is not Phase.ALWAYS:
        stop_open(draft)
    draft.scopes.extend(open_scopes(draft))
    return None


def stop_open(draft: ExecutionDraft, *, at_once: bool = False) -> None:
    """End every task run that is open; those that a runner or a child holds are cancelled first.

    `at_once`: nothing is waited for.
    """
    for run in draft.runs():
        if run.state.ended or (run.state is StepState.KILLING and not at_once):
            continue
        if not run.attempts and run.wait is None and not at_once:
            continue  # a step around others ends with them
        held = cancel_held(draft, run)
        if held and not at_once:
            draft.put(replace(run, state=StepState.KILLING, due_at=_grace_ends(draft, run)))
        else:
            killed = end_attempt(draft, run, AttemptState.KILLED)
            draft.put(replace(killed, state=StepState.KILLED))


def _grace_ends(draft: ExecutionDraft, run: TaskRun) -> datetime | None:
    """Return when a step that is killed is waited for no more; None: a child ends by itself."""
    is_child = run.wait is not None and run.wait.kind is WaitsFor.CHILD
    return None if is_child else draft.now + draft.execution.plan.kill_grace


def cancel_held(draft: ExecutionDraft, run: TaskRun) -> bool:
    """Ask who holds an attempt to stop; return False if nobody does."""
    attempt = run.attempt
    if run.wait is not None and run.wait.kind is WaitsFor.CHILD and attempt is not None:
        child = child_id(run.id, attempt.number)
        draft.messages.append(Send(child, KillIt(by=draft.execution.id)))
        return True
    if run.state is StepState.RUNNING and attempt is not None and attempt.runner is not None:
        draft.messages.append(Cancel(run.id, attempt.number, attempt.runner))
        return True
    return False


def pause(draft: ExecutionDraft, asked: PauseIt) -> Drop | None:
    """Let nothing new begin; what runs goes on."""
    if draft.execution.state is not ExecutionState.RUNNING:
        return Drop.NOT_NOW
    draft.write_event("pause-requested", by=asked.by)
    draft.move(ExecutionState.PAUSED)
    return None


def resume(draft: ExecutionDraft, asked: ResumeIt) -> Drop | None:
    """Let a paused execution go on."""
    if draft.execution.state is not ExecutionState.PAUSED:
        return Drop.NOT_NOW
    draft.write_event("resume-requested", by=asked.by)
    draft.move(ExecutionState.RUNNING)
    draft.scopes.extend(open_scopes(draft))
    return None


def retry(draft: ExecutionDraft, asked: RetryStep) -> Drop | None:
    """Begin another attempt now; the one that is under way is given up, and a late end of it."""
    run = draft.run(asked.run)
    if run is None:
        return Drop.UNKNOWN_RUN
    may_come_again = isinstance(draft.step_of(run).work, _COMES_AGAIN)
    is_over = run.state.ended or run.state is StepState.KILLING
    if is_over or not may_come_again or draft.execution.killed:
        return Drop.NOT_NOW
    draft.write_event("retry-requested", run.id, by=asked.by, step=run.step)
    cancel_held(draft, run)
    run = end_attempt(draft, run, AttemptState.KILLED)
    again = replace(run, state=StepState.RETRYING, retry_at=draft.now, wait=None, due_at=None)
    run = draft.put(again)
    if draft.execution.state is not ExecutionState.PAUSED:
        submit_again(draft, run)
    return None


def skip(draft: ExecutionDraft, asked: SkipStep) -> Drop | None:
    """Let the execution go on without a step of which nothing runs."""
    run = draft.run(asked.run)
    if run is None:
        return Drop.UNKNOWN_RUN
    if run.state not in {StepState.WAITING, StepState.RETRYING}:
        return Drop.NOT_NOW
    draft.write_event("skip-requested", run.id, by=asked.by, step=run.step)
    cancel_held(draft, run)
    run = end_attempt(draft, run, AttemptState.KILLED)
    draft.put(replace(run, state=StepState.SKIPPED))
    return None


def answer(draft: ExecutionDraft, asked: AnswerStep) -> Drop | None:
    """Take the answer to an `approve` step; a no fails the step."""
    run = draft.run(asked.run)
    if run is None:
        return Drop.UNKNOWN_RUN
    if run.wait is None or run.wait.kind is not WaitsFor.ANSWER:
        return Drop.NOT_NOW
    draft.write_event("answered", run.id, by=asked.by, step=run.step, yes=asked.yes)
    if asked.yes:
        outputs = {"by": asked.by, "comment": asked.comment}
        draft.put(replace(run, state=StepState.SUCCESS, outputs=outputs))
    else:
        comment = f": {asked.comment}" if asked.comment else ""
        give_up(draft, run, StepError("refused", f"{asked.by} said no{comment}"))
    return None


def refuse(draft: ExecutionDraft, asked: SlotRefused) -> None:
    """End an execution that got no slot, as its flow says."""
    error = StepError("no-slot", f"{draft.execution.flow} runs as often as it may")
    note_failure(draft, RunFailure("", "", error, draft.now))
    cancels = asked.when_full is WhenFull.CANCEL
    draft.execution = replace(draft.execution, gate=None, killed=cancels, failed=not cancels)
    end_unbegun(draft)


def end_unbegun(draft: ExecutionDraft) -> None:
    """End an execution that has not begun; a rerun's steps that were to go on end with it."""
    stop_open(draft, at_once=True)
    end(draft)
