"""Timeouts of a running job, and the detection of stalled tasks; a part of `machine.py`.

    runs ──no progress for `progress_s`──► cancelled ──ends──► run again
      └──a pause, an end, a stop──────────►    │
                                               └──still runs after `give_up_s`──► the worker ends

The overlord sees a stall by `TaskReport.stalled_for`.  This time grows while the task could go on:
a batch, a look at Kafka or a merge runs, or the task's own worker hinders it.  It is zero while the
task waits for others: for Kafka, its predecessor, records, the end of a pause, or the jobs of other
tasks that finish before it on this worker.  Those jobs are watched themselves.  If they counted
here, one long merge would have all tasks behind it replaced, and each replacement reads anew.

An unanswered request to publish is counted separately (`TaskState.unanswered_s`): the time of the
request and the pause after it, and only while an overlord answers syncs.  While the overlord is
away as a whole, the count does not change.
"""

from dataclasses import replace

from tasks.contract.messages import TaskPhase
from tasks.machine.events import CancelJob, Effect, GiveUp
from tasks.machine.orders import Step
from tasks.machine.state import LookWork, Merging, PublishWork, ReadWork, TaskState


def hurry(state: TaskState, now: float) -> Step:
    """Cancel the running work if that is due, give up if cancelling does not help, else wait."""
    if (
        isinstance(state.busy, LookWork)
        and state.paused_until is not None
        and not state.batch_to_confirm
    ):
        state = replace(state, phase=TaskPhase.PAUSED)  # looking changes nothing
    if not isinstance(state.busy, ReadWork | Merging):
        return replace(state, wake_at=state.paused_until), ()
    state = _stuck(state, now)
    effects: tuple[Effect, ...] = ()
    if state.cancel_at is not None and now >= state.cancel_at:
        first = now if state.cancelled_at is None else state.cancelled_at
        again = now + state.limits.cancel_again_s
        state, effects = replace(state, cancel_at=again, cancelled_at=first), (CancelJob(),)
        if now - first >= state.limits.give_up_s:
            effects = (*effects, GiveUp(_given_up(state, now - first)))
    patience = None if state.cancelled_for_stall else state.moved_at + state.limits.progress_s
    due = [t for t in (state.cancel_at, state.paused_until, patience) if t is not None]
    return replace(state, wake_at=min(due)), effects


def _stuck(state: TaskState, now: float) -> TaskState:
    if (
        state.cancelled_for_stall
    ):  # an order that resumes takes back the cancelling of a pause, not this one
        return replace(state, cancel_at=now if state.cancel_at is None else state.cancel_at)
    silent = now - state.moved_at
    if silent < state.limits.progress_s:
        return state
    what = _job(state)
    why = f"{what} showed no progress for {silent:.0f} s: it is cancelled and run again"
    return replace(state, cancelled_for_stall=why, note=why, cancel_at=now)


def _given_up(state: TaskState, seconds: float) -> str:
    return f"{state.task.task_id}: {_job(state)} was cancelled and still runs {seconds:.0f} s later"


def _job(state: TaskState) -> str:
    return f"batch {state.busy.number}" if isinstance(state.busy, ReadWork) else "the merge"


def moved(state: TaskState, now: float) -> TaskState:
    """Return `state` after its job showed progress: neither stuck nor stalled."""
    return replace(state, moved_at=now, stalled_since=now)


def stalls(before: TaskState, state: TaskState, now: float) -> TaskState:
    """Return `state` with an updated `stalled_since`, after a step from `before`."""
    waits = state.busy is None and (not state.blocked_locally or state.paused_until is not None)
    if state.over or waits or isinstance(state.busy, PublishWork):
        return replace(state, stalled_since=None)
    went_on = before.position != state.position or before.merged is not state.merged
    if state.stalled_since is None or went_on:
        return replace(state, stalled_since=now)
    return state
