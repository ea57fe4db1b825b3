"""Bounds of the next micro-batch, decided from one look at Kafka; pure, a part of `machine.py`."""

from collections.abc import Mapping
from dataclasses import replace

from tasks.contract.offsets import Offsets, clip, count
from tasks.machine.events import Effect, ReadBatch
from tasks.machine.state import ReadWork, TaskState
from tasks.machine.suspects import caution, reach_of
from tasks.ports import StreamView

_ALL = 2**62


def beyond(position: Offsets, end: Offsets) -> bool:
    """Whether `position` lies past `end` in any partition."""
    return any(position[p] > end[p] for p in end)


def other_topics(known: Mapping[str, str], view: StreamView) -> str:
    """Name the topics that were recreated, or are gone, since the offsets were taken (P11).

    The text is empty if there are none.
    """
    changed = [
        f"topic {topic} was recreated: its id was {known[topic]} and is {found}"
        for topic, found in sorted(view.topic_ids.items())
        if known.get(topic, found) != found
    ]
    gone = [f"topic {topic} is gone" for topic in sorted(known.keys() - view.topic_ids.keys())]
    return "; ".join(changed + gone)


def unreadable(state: TaskState, view: StreamView) -> str:
    """Name the records that Kafka no longer holds, although this task has yet to read them.

    A position above the last stable offset is not named here: an open transaction looks the
    same, so the task only waits.
    """
    lost = []
    for partition, position in sorted(state.position.items()):
        earliest = view.earliest[partition]
        until = earliest if state.limit is None else min(earliest, state.limit[partition])
        if until > position:
            lost.append(
                f"{partition}: the next offset to read is {position}, the earliest that Kafka "
                f"still holds is {earliest}: {until - position:,} records are lost"
            )
    return "; ".join(lost)


def next_batch(
    state: TaskState, view: StreamView, now: float
) -> tuple[TaskState, tuple[Effect, ...]]:
    """Start the next batch, or wait for more records; the new state has no `view` in both cases."""
    state = replace(state, view=None)
    readable = clip(state.position, view.stable, end=state.limit, rows_max=_ALL)
    lag = count(state.position, readable)
    ending = state.end is not None
    if lag == 0:
        state = replace(state, waiting_since=None, tries=0, note=_waits_for(state, view))
        state = replace(state, blocked_locally=False)
        return _wait(replace(state, read_at_once=False), now, now + state.limits.poll_s)
    since = now if state.waiting_since is None else state.waiting_since
    due = since + state.tuning.linger.total_seconds()
    few = lag < state.tuning.batch_rows_min
    if few and now < due and not (ending or state.read_at_once):
        state = replace(state, waiting_since=since, note="")
        return _wait(state, now, min(due, now + state.limits.poll_s))
    size = state.pace.size(state.tuning, state.limits, lag=lag, ending=ending)
    bounds = caution(state.position, readable, state.suspects)
    rows_max = min(size.rows, bounds.rows_max)
    to = clip(state.position, view.stable, end=bounds.end, rows_max=rows_max)
    rows = count(state.position, to)
    work = ReadWork(state.number, state.position, to, rows, size, since=now)
    newest = state.entries[-1] if state.entries else None
    note = state.note if state.tries else ""  # the trouble is not over before a batch is read
    state = replace(state, busy=work, number=state.number + 1, note=note, read_at_once=False)
    state = replace(state, waiting_since=None, cancel_at=None)
    state = replace(state, moved_at=now, cancelled_at=None, cancelled_for_stall="")
    state = replace(state, wake_at=now + state.limits.progress_s)
    read = ReadBatch(work.number, work.start, work.end, newest.columns if newest else ())
    reach = reach_of(work.start, to, view.stable, bounds.care)
    read = replace(read, care=bounds.care, reach=reach)
    return state, (replace(read, kinds=newest.kinds) if newest else read,)


def _wait(state: TaskState, now: float, until: float) -> tuple[TaskState, tuple[Effect, ...]]:
    until = max(until, now)
    return replace(state, look_at=until, wake_at=until), ()


def _waits_for(state: TaskState, view: StreamView) -> str:
    """Explain why no record is readable: an open transaction, or a log that ends too early."""
    ahead = [
        f"{p}: the next offset to read is {position}, the last stable offset is {view.stable[p]}"
        for p, position in sorted(state.position.items())
        if position > view.stable[p]
    ]
    short = [
        f"{p}: the range ends at {end}, the last stable offset is {view.stable[p]}"
        for p, end in sorted((state.limit or {}).items())
        if state.position[p] <= view.stable[p] < end
    ]
    details = "; ".join(ahead + short)
    return f"waits for records that are not readable yet: {details}" if details else ""
