"""What becomes of a step whose attempt has failed: another attempt, a person, or its end."""

import hashlib
from dataclasses import replace
from datetime import timedelta

from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import (
    RunAttempt,
    RunFailure,
    StepError,
    StepScope,
    TaskRun,
    Wait,
    WaitsFor,
)
from supervisor.core.executions.plan import OnError, OnLost, RetryRule
from supervisor.core.executions.scopes import open_scopes
from supervisor.core.executions.states import AttemptState, StepState

CHILD_REFUSED = "child-refused"
"""The code of a step whose execution cannot begin: nothing of it has been done."""
LOSSES_MAX = 10
"""Attempts of one step that may be lost, and tried again, before the step fails."""
_JITTER = 0.2


def end_attempt(
    draft: ExecutionDraft, run: TaskRun, state: AttemptState, error: StepError | None = None
) -> TaskRun:
    """Return a task run whose newest attempt is over; one without an open attempt stays."""
    attempt = run.attempt
    if attempt is None or attempt.state.ended:
        return run
    ended = replace(attempt, state=state, ended_at=draft.now, error=error)
    return replace(run, attempts=(*run.attempts[:-1], ended), due_at=None)


def fail_attempt(draft: ExecutionDraft, run: TaskRun, error: StepError) -> None:
    """End the newest attempt as failed, and decide what follows."""
    run = end_attempt(draft, run, AttemptState.FAILED, error)
    rule = draft.step_of(run).retry
    if run.state is not StepState.KILLING and _tries_again(run, rule, error):
        retry_at = draft.now + delay_of(run, rule)
        draft.put(replace(run, state=StepState.RETRYING, retry_at=retry_at, wait=None, error=error))
    else:
        give_up(draft, run, error)


def lose_attempt(draft: ExecutionDraft, run: TaskRun, runner: str) -> None:
    """End the newest attempt as lost, and decide what follows."""
    why = f"the runner {runner} is gone; how far it came is not known"
    error = StepError("lost", why, known=False)
    run = end_attempt(draft, run, AttemptState.LOST, error)
    losses = sum(attempt.state is AttemptState.LOST for attempt in run.attempts)
    if run.state is StepState.KILLING:
        draft.put(replace(run, state=StepState.KILLED, error=error))
        return
    match draft.step_of(run).on_lost:
        case OnLost.RETRY if losses <= LOSSES_MAX:
            draft.put(replace(run, state=StepState.RETRYING, retry_at=draft.now, error=error))
        case OnLost.ASK:
            _ask_a_person(draft, run, error)
        case _:
            give_up(draft, run, error)


def give_up(draft: ExecutionDraft, run: TaskRun, error: StepError) -> None:
    """Let a step fail for good, as its `onError` says."""
    how = draft.step_of(run).on_error
    asks = run.wait is not None and run.wait.kind is WaitsFor.ANSWER
    may_wait = (bool(run.attempts) or asks) and run.state is not StepState.KILLING
    if how is OnError.PAUSE and may_wait and not draft.execution.killed:
        _ask_a_person(draft, run, error)
        return
    draft.put(replace(run, state=StepState.FAILED, error=error))
    if how is not OnError.CONTINUE:
        note_failure(draft, RunFailure(run.id, run.step, error, draft.now))
        lose_scope(draft, run.scope)


def note_failure(draft: ExecutionDraft, failure: RunFailure) -> None:
    """Add what the end of the execution will name."""
    failures = (*draft.execution.failures, failure)
    draft.execution = replace(draft.execution, failures=failures)


def lose_scope(draft: ExecutionDraft, scope: StepScope) -> None:
    """Let no further step of a scope begin."""
    parent = draft.run(scope.parent)
    if parent is None:
        draft.execution = replace(draft.execution, loses=True)
    else:
        draft.put(replace(parent, loses=True))
    draft.scopes.extend(open_scopes(draft))  # those in which nothing runs are over now


def delay_of(run: TaskRun, rule: RetryRule) -> timedelta:
    """Return how long a task run waits before its next attempt.

    The deviation, up to a fifth either way, follows from its id: no chance is in it.
    """
    tries = _tries(run)
    doubled: timedelta = rule.backoff * 2 ** min(tries - 1, 30)
    whole = min(doubled, rule.longest)
    digest = hashlib.blake2b(f"{run.id}/{tries}".encode(), digest_size=4).digest()
    share = int.from_bytes(digest, "big") / 2**32
    return whole * (1 + _JITTER * (2 * share - 1))


def next_effect(attempt: RunAttempt | None) -> int:
    """Return the number of the next attempt's effect.

    It grows when the last effect is known not to have come about.  Else the next attempt repeats
    the key, and finds the answer of the one before.
    """
    if attempt is None:
        return 1
    known = attempt.state is AttemptState.FAILED and attempt.error is not None
    return attempt.effect + (known and attempt.error is not None and attempt.error.known)


def _tries_again(run: TaskRun, rule: RetryRule, error: StepError) -> bool:
    wanted = error.code in rule.errors if rule.errors else error.passes
    return wanted and _tries(run) < rule.attempts


def _tries(run: TaskRun) -> int:
    """Count the attempts that were not lost: a loss is no fault of the step."""
    return sum(attempt.state is not AttemptState.LOST for attempt in run.attempts)


def _ask_a_person(draft: ExecutionDraft, run: TaskRun, error: StepError) -> None:
    what = f"somebody to retry or skip {run.step}: {error.message}"
    wait = Wait(WaitsFor.PERSON, what, draft.now)
    waiting = replace(run, state=StepState.WAITING, wait=wait, error=error)
    draft.put(replace(waiting, retry_at=None, due_at=None))
