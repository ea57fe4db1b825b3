"""Orders to an ingestion task: pause with a lease, end, resume; a part of `machine.py`.

An order that is not higher than the highest order seen has no effect.  A lower order is late, and
an equal order is done already.  PAUSE stops the task at the batch boundary, or cancels the batch.
After the pause lease the task resumes by itself (P5, R12).  RUN resumes.  An order with an end
resumes too, whatever its state is, and this end stays fixed for good.
"""

from dataclasses import replace
from typing import TypeAlias

from tasks.contract.messages import FailureCode, Order, RunState, TaskPhase
from tasks.contract.offsets import Offsets, is_at_end
from tasks.machine.events import CancelJob, Effect, RecordEnd
from tasks.machine.reading import beyond
from tasks.machine.state import Failure, Merging, ReadWork, TaskState, written

Step: TypeAlias = tuple[TaskState, tuple[Effect, ...]]


def ordered(state: TaskState, order: Order, now: float) -> Step:
    """Act on `order` if it is newer than every order seen."""
    if order.rank <= state.order.rank:  # late: without effect; repeated: already done
        return state, ()
    return act_on(replace(state, lease_note=""), order, now)


def act_on(state: TaskState, order: Order, now: float) -> Step:
    """Make `order` the highest order seen, and act on it."""
    state = replace(state, order=order)
    if order.end is not None:
        return _take_end(state, order.end, now)
    if state.end is not None:  # a fixed end stays, and nothing pauses on the way to it (C4)
        return state, ()
    if order.state is RunState.RUN:
        return resumed(state), ()
    lease = order.pause_lease.total_seconds()
    return replace(state, paused_until=now + lease, cancel_at=_cancel_at(state, now)), ()


def _cancel_at(state: TaskState, now: float) -> float | None:
    """Return when to cancel the running work, so that it stops within the target of a pause."""
    latest = now + state.limits.pause_s(state.tuning)
    work = state.busy
    if isinstance(work, ReadWork) and _has_to_end(state, work):
        return state.cancel_at
    if isinstance(work, ReadWork):
        expected = work.since + state.pace.expected_s(work.rows, work.size.target_s)
        wanted = now if expected > latest else latest
        return wanted if state.cancel_at is None else min(wanted, state.cancel_at)
    return latest if state.batch_to_confirm is not None else None


def _has_to_end(state: TaskState, work: ReadWork) -> bool:
    """Whether a pause waits for the batch, however long that is: its range has no other.

    If taskDuration is shorter than a batch lasts, each pause would cancel the batch, and nothing
    would ever be read.  So that happens to a range once; and never to a batch that cannot become
    smaller.
    """
    least = work.rows <= state.tuning.batch_rows_min
    return not state.entries and (least or state.counters.cancelled_rows > 0)


def resumed(state: TaskState) -> TaskState:
    """Return `state` without its pause; records that wait are read at once."""
    if state.paused_until is None:
        return state
    phase = TaskPhase.READING if state.phase is TaskPhase.PAUSED else state.phase
    state = replace(state, phase=phase, paused_until=None, cancel_at=None, view=None)
    return replace(state, look_at=0.0, read_at_once=True)


def _take_end(state: TaskState, end: Offsets, now: float) -> Step:
    if state.end is not None:
        if end == state.end:
            return state, ()
        both = f"first [{written(state.end)}], then [{written(end)}]"
        return failed(state, FailureCode.INTERNAL, f"it was told two ends: {both}")
    if end.keys() != state.start.keys() or not is_at_end(end, state.start):
        odd = f"the end [{written(end)}] does not fit the start [{written(state.start)}]"
        return failed(state, FailureCode.INTERNAL, odd)
    state = replace(resumed(state), end=end, cancel_at=None, view=None, look_at=0.0)
    if isinstance(state.busy, ReadWork) and beyond(state.busy.end, end):
        state = replace(state, cancel_at=now)  # nothing that lies beyond the end is kept (P14)
    return state, (RecordEnd(end),)


def without_lease_over(state: TaskState, now: float) -> TaskState:
    """Return `state` without its pause if the lease is over, with a note that says so."""
    if state.paused_until is None or now < state.paused_until:
        return state
    lease = state.order.pause_lease.total_seconds()
    note = (
        f"the pause of order {state.order.term}/{state.order.sequence} heard nothing newer "
        f"for {lease:g} s: reads on"
    )
    return replace(resumed(state), lease_note=note)


def failed(state: TaskState, code: FailureCode, detail: str) -> Step:
    """End the task as FAILED, and cancel its running job."""
    effects: tuple[Effect, ...] = ()
    if isinstance(state.busy, ReadWork | Merging):
        effects = (CancelJob(),)
    ended = replace(state, phase=TaskPhase.FAILED, failure=Failure(code, detail))
    return replace(ended, paused_until=None, wake_at=None), effects
