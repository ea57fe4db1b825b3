"""May a report enter the state?  The rules of joining: nothing is ever rolled back.

In this order, the first that applies decides:

    the task run is not known                     dead letter: only the reducer makes task runs
    the attempt is newer than the newest          dead letter: nobody may make up attempts
    the attempt is older                          dropped
    the attempt has ended so already              dropped, as a duplicate
    the attempt has ended otherwise               dropped
    the claim is another runner's                 dropped
    the look is older than the newest look        dropped
    else                                          it joins
"""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import (
    RunAttempt,
    Runner,
    StepError,
    TaskRun,
    Wait,
    WaitsFor,
)
from supervisor.core.executions.failing import (
    CHILD_REFUSED,
    end_attempt,
    fail_attempt,
    lose_attempt,
)
from supervisor.core.executions.inputs import (
    AttemptLost,
    ChildEnded,
    Claim,
    Fails,
    Outcome,
    Report,
    Stopped,
    Succeeded,
    Waits,
)
from supervisor.core.executions.reduced import ClaimReply, Drop
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState

LOOK_FIRST = timedelta(seconds=1)
LOOK_LONGEST = timedelta(seconds=15)
"""Between two looks at a condition; the time grows by half each time."""
_STOPPED = "stopped"
"""The code of a call that has stopped, and was not to."""


def claim(draft: ExecutionDraft, asked: Claim) -> Drop | None:
    """ClaimReply a claim once; a repeat of the holder is granted again."""
    run, drop = _addressed(draft, asked.run, asked.attempt)
    granted = False
    if run is not None and drop is None:
        attempt = run.attempts[-1]
        if run.state is StepState.SUBMITTED:
            _start(draft, run, attempt, asked.runner)
            granted = True
        else:
            is_holder = attempt.runner == asked.runner
            granted = is_holder and run.state is StepState.RUNNING
            late = Drop.LATE if is_holder else Drop.CLAIMED
            drop = Drop.DUPLICATE if granted else late
    draft.messages.append(ClaimReply(asked.run, asked.attempt, asked.runner, granted=granted))
    return drop


def _start(draft: ExecutionDraft, run: TaskRun, attempt: RunAttempt, runner: Runner) -> None:
    timeout = draft.step_of(run).timeout
    held = replace(attempt, state=AttemptState.RUNNING, runner=runner, began_at=draft.now)
    draft.put(
        replace(
            run,
            state=StepState.RUNNING,
            attempts=(*run.attempts[:-1], held),
            due_at=None if timeout is None else draft.now + timeout,
        )
    )
    draft.write_event(
        "attempt-claimed", run.id, step=run.step, attempt=attempt.number, runner=runner.name
    )


def report(draft: ExecutionDraft, given: Report) -> Drop | None:
    """Join what came of an attempt, or of a look."""
    run, drop = _addressed(draft, given.run, given.attempt)
    if run is None or drop is not None:
        return _again(run, drop, *_end_of(given.outcome))
    drop = _look_drop(run, given) if given.check else _call_drop(run, given)
    if drop is not None:
        return drop
    match given.outcome:
        case Succeeded(outputs):
            run = end_attempt(draft, run, AttemptState.SUCCESS)
            draft.put(replace(run, state=StepState.SUCCESS, outputs=outputs, error=None))
        case Fails(error):
            fail_attempt(draft, run, error)
        case Stopped():
            _stop(draft, run)
        case Waits():
            _wait(draft, run, given.outcome, given.check)
    return None


def lost(draft: ExecutionDraft, given: AttemptLost) -> Drop | None:
    """Join that the holder of a claim is gone."""
    run, drop = _addressed(draft, given.run, given.attempt)
    if run is None or drop is not None:
        return _again(run, drop, AttemptState.LOST)
    if run.attempts[-1].runner != given.runner:
        return Drop.CLAIMED
    if run.state not in {StepState.RUNNING, StepState.KILLING}:
        return Drop.NOT_NOW
    lose_attempt(draft, run, given.runner.name)
    return None


def child_ended(draft: ExecutionDraft, given: ChildEnded) -> Drop | None:
    """Join the end of the execution that a `subflow` step waits for."""
    run, drop = _addressed(draft, given.run, given.attempt)
    if run is None or drop is not None:
        return _again(run, drop, AttemptState(given.state), _code_of(given))
    if given.state is ExecutionState.SUCCESS:
        run = end_attempt(draft, run, AttemptState.SUCCESS)
        draft.put(replace(run, state=StepState.SUCCESS, outputs=given.outputs, error=None))
    elif run.state is StepState.KILLING:
        _stop(draft, run)
    else:
        message = given.why or f"the execution ended as {given.state}"
        fail_attempt(draft, run, StepError(_code_of(given), message))
    return None


def _code_of(given: ChildEnded) -> str:
    return CHILD_REFUSED if given.refused else f"child-{given.state.lower()}"


def _addressed(
    draft: ExecutionDraft, run_id: str, attempt: int
) -> tuple[TaskRun | None, Drop | None]:
    """Return the task run that an input is about, or why it is dropped."""
    run = draft.run(run_id)
    if run is None:
        return None, Drop.UNKNOWN_RUN
    newest = len(run.attempts)
    if attempt > newest:
        return run, Drop.FUTURE_ATTEMPT
    if attempt < newest:
        return run, Drop.OLD_ATTEMPT
    if run.state.ended or run.attempts[-1].state.ended:
        return run, Drop.AFTER_TERMINAL
    return run, None


def _end_of(outcome: Outcome) -> tuple[AttemptState | None, str]:
    """Return the end that a report gives, None: it gives none, and the code as for `_again`."""
    match outcome:
        case Succeeded():
            return AttemptState.SUCCESS, ""
        case Fails():
            return AttemptState.FAILED, ""
        case Stopped():
            return AttemptState.KILLED, _STOPPED
        case Waits():
            return None, ""


def _again(
    run: TaskRun | None, drop: Drop | None, end: AttemptState | None, code: str = ""
) -> Drop | None:
    """Return why a report is dropped: one that gives the end that the attempt has comes twice.

    `code`: of the failure that it makes where its step was not to be killed; empty: of any.
    """
    attempt = None if run is None else run.attempt
    if drop is not Drop.AFTER_TERMINAL or attempt is None:
        return drop
    is_same = attempt.state is end
    if code and attempt.state is AttemptState.FAILED:
        is_same = attempt.error is not None and attempt.error.code == code
    return Drop.DUPLICATE if is_same else drop


def _call_drop(run: TaskRun, given: Report) -> Drop | None:
    attempt = run.attempts[-1]
    if attempt.runner is None or attempt.runner != given.runner:
        return Drop.CLAIMED
    if run.state is StepState.WAITING:
        return Drop.DUPLICATE if isinstance(given.outcome, Waits) else Drop.LATE
    return None


def _look_drop(run: TaskRun, given: Report) -> Drop | None:
    if run.state is not StepState.WAITING or run.wait is None:
        return Drop.LATE
    return None if given.check == run.wait.check else Drop.DUPLICATE


def _stop(draft: ExecutionDraft, run: TaskRun) -> None:
    """End an attempt that was cancelled: by a kill, or as one that has failed."""
    if run.state is StepState.KILLING:
        run = end_attempt(draft, run, AttemptState.KILLED)
        draft.put(replace(run, state=StepState.KILLED))
    else:
        error = StepError(_STOPPED, "its runner stopped", passes=True, known=False)
        fail_attempt(draft, run, error)


def _wait(draft: ExecutionDraft, run: TaskRun, outcome: Waits, check: int) -> None:
    """Let an attempt wait for what its verb has begun."""
    if run.state is StepState.KILLING:
        _stop(draft, run)
        return
    since = run.wait.since if run.wait is not None else draft.now
    until = draft.now + min(LOOK_FIRST * 1.5 ** min(check, 20), LOOK_LONGEST)
    wait = Wait(WaitsFor.CONDITION, outcome.what, since, until, check, outcome.state)
    held = replace(run.attempts[-1], state=AttemptState.WAITING)
    attempts = (*run.attempts[:-1], held)
    draft.put(replace(run, state=StepState.WAITING, attempts=attempts, wait=wait))
