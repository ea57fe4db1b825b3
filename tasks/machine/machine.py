"""The state machine of one ingestion task, as a pure function: (state, event) -> (state, effects).

              looked                   an end is known            all read, merged
    STARTING ────────► READING ──────────────► FINISHING ─────────────► PUBLISHING ──► SUCCESS
                        │   ▲                    ▲                        │    ▲          ▲
                  pause │   │ resume, or         │ an end                 ▼    │ turn,    │
                        ▼   │ lease over         │                     WAITING─┘ 10 s     │
                       PAUSED ───────────────────┘                        └───────────────┘
    any ──a fact forbids to go on──► FAILED          any ──StopRequested──► stopped, journal kept

The task's thread does one thing at a time (`TaskState.busy`).  When it is idle, `_decide` looks at
the whole state and picks the next work.  So no event is needed twice, and a late event does no
harm.  A batch is read, a look at Kafka compares the topic ids (P11), and it counts once journaled.
"""

from dataclasses import replace
from typing import assert_never

from tasks.contract.messages import (
    DesiredTask,
    FailureCode,
    PublishAnswer,
    PublishOutcome,
    PublishRequest,
    RunState,
    TaskPhase,
)
from tasks.contract.offsets import Offsets, count, is_at_end
from tasks.machine.events import (
    Answered,
    Append,
    BatchRead,
    Broke,
    Discard,
    DropTail,
    Effect,
    Event,
    JobDropped,
    JobMoved,
    Journaled,
    Look,
    Looked,
    LookFailed,
    Merge,
    Merged,
    Ordered,
    Publish,
    StopRequested,
    TailDropped,
    Ticked,
    TurnKnown,
    Unanswered,
    Unwritten,
)
from tasks.machine.orders import Step, act_on, failed, ordered, without_lease_over
from tasks.machine.pacing import Limits, first_pace
from tasks.machine.progress import hurry, moved, stalls
from tasks.machine.reading import beyond, next_batch, other_topics, unreadable
from tasks.machine.state import (
    Dropping,
    Failure,
    JournalContents,
    Journaling,
    LookWork,
    Merging,
    PublishWork,
    ReadWork,
    TaskState,
    added,
    newest_samples,
    rows_by_chunk,
    too_many_exceptions,
    totals,
)
from tasks.ports import JournalEntry, MergeResult, StreamView


def begin(
    task: DesiredTask, incarnation: int, held: JournalContents | None, limits: Limits, now: float
) -> Step:
    """Return a task's first state; `held` is the content of the task's journal, None without one.

    A task that an earlier incarnation ran goes on from its journal, or fails with JOURNAL_LOST.
    """
    state = TaskState(
        task=task,
        incarnation=incarnation,
        limits=limits,
        pace=first_pace(task.spec.tuning, limits),
        phase=TaskPhase.STARTING,
        order=task.order.model_copy(update={"end": None, "state": RunState.RUN}),
        started_at=now,
        progressed_at=now,
        predecessors_published=task.turn,
    )
    if held is not None:
        numbers = [entry.number for entry in held.entries]
        state = replace(
            state,
            entries=held.entries,
            end=held.end,
            number=max(numbers, default=0) + 1,
            counters=totals(held.entries, cancelled_rows=0),
            chunk_rows=rows_by_chunk(held.entries),
            samples=newest_samples(state, held.entries),
        )
    elif task.taken_up:
        lost = "no journal of it that matches its start is left on this worker"
        return failed(state, FailureCode.JOURNAL_LOST, lost)
    first, effects = act_on(state, task.order, now)
    first, effects = _then_decide(first, effects, now)
    return stalls(state, first, now), effects


def refuse(
    task: DesiredTask, incarnation: int, limits: Limits, now: float, *, failure: Failure
) -> TaskState:
    """Return the state of a task that failed before it began."""
    state, _ = begin(task.model_copy(update={"taken_up": False}), incarnation, None, limits, now)
    return failed(replace(state, busy=None), failure.code, failure.detail)[0]


def step(state: TaskState, event: Event) -> Step:
    """Return the state after `event`, and the effects to carry out.  Same input, same result."""
    if state.over:
        return state, ()
    taken, effects = _take(state, event)
    after, effects = _then_decide(taken, effects, event.now)
    return stalls(state, after, event.now), effects


def _take(state: TaskState, event: Event) -> Step:
    match event:
        case Ordered(now, order):
            return ordered(state, order, now)
        case TurnKnown(now, turn):
            came = turn and not state.predecessors_published
            return replace(
                state, predecessors_published=turn, ask_at=now if came else state.ask_at
            ), ()
        case Looked(now, view):
            return _looked(replace(state, busy=None), view, now)
        case LookFailed(now, reason):
            state = replace(state, busy=None, blocked_locally=False)
            return _later(state, f"Kafka does not answer: {reason}", now), ()
        case BatchRead(now, entry):
            return _batch_read(state, entry, now)
        case JobDropped(now, trouble, own, lacks):
            return replace(_job_dropped(state, trouble, now, own=own), missing_dependency=lacks), ()
        case JobMoved(now):
            return moved(state, now), ()
        case Journaled(now):
            return _journaled(state, now), ()
        case Unwritten(now, reason):
            return _unwritten(state, reason, now), ()
        case TailDropped():
            return _tail_dropped(state), ()
        case Merged(_, result):
            merged = replace(state, busy=None, merged=result, cancel_at=None)
            return replace(merged, blocked_locally=False, tries=0, note=""), ()
        case Answered(now, answer):
            state = replace(state, busy=None, tries=0, note="", unanswered_s=0.0)
            return _answered(state, answer, now)
        case Unanswered(now, reason, waited_s):
            return _unanswered(replace(state, busy=None), reason, now, waited_s), ()
        case Broke(_, code, detail):
            return failed(replace(state, busy=None), code, detail)
        case Ticked():
            return state, ()
        case StopRequested(_, cancel_at):
            return replace(state, stopping=True, cancel_at=cancel_at), ()
        case _:
            assert_never(event)


# ---------------------------------------------------------------- answers to effects


def _looked(state: TaskState, view: StreamView, now: float) -> Step:
    if other := other_topics(state.task.topic_ids, view):
        return failed(state, FailureCode.TOPIC_CHANGED, other)
    if state.phase is TaskPhase.STARTING:
        state = replace(state, phase=TaskPhase.READING)
    state = replace(state, view=view, look_at=now)
    entry = state.batch_to_confirm
    if entry is None or state.stopping or (state.end and beyond(entry.end, state.end)):
        return state, ()
    return replace(state, batch_to_confirm=None, busy=Journaling(entry)), (Append(entry),)


def _later(state: TaskState, note: str, now: float) -> TaskState:
    tries = state.tries + 1
    return replace(state, tries=tries, note=note, look_at=now + state.limits.retry_s(tries))


def _batch_read(state: TaskState, entry: JournalEntry, now: float) -> Step:
    work = state.busy
    assert isinstance(work, ReadWork), "a batch ended that was not running"
    state = replace(state, busy=None)
    if (entry.number, entry.start, entry.end) != (work.number, work.start, work.end):
        odd = f"batch {work.number} came back with another range: {entry.start} to {entry.end}"
        return failed(state, FailureCode.INTERNAL, odd)
    seconds = now - work.since
    pace = state.pace.after(work.size, work.rows, seconds, state.tuning)
    state = replace(state, pace=pace, batch_seconds=seconds, batch_to_confirm=entry)
    return replace(state, view=None, look_at=now, tries=0, note="", missing_dependency=None), ()


def _job_dropped(state: TaskState, trouble: str, now: float, *, own: bool) -> TaskState:
    work, state = state.busy, replace(state, busy=None)
    if trouble := trouble or state.cancelled_for_stall:
        hindered = own or bool(state.cancelled_for_stall)
        state = replace(
            state, view=None, cancel_at=None, blocked_locally=hindered, read_at_once=True
        )
        return _later(state, trouble, now)
    if not isinstance(work, ReadWork):
        return state
    state = _given_up(replace(state, pace=state.pace.cancelled(state.tuning)), work.rows)
    return replace(state, view=None, look_at=now)


def _given_up(state: TaskState, rows: int) -> TaskState:
    """Count a batch that this task reads again."""
    more = 0 if state.stopping else rows  # its range is published, or its worker ends
    cancelled = {"cancelled_rows": state.counters.cancelled_rows + more}
    return replace(state, counters=state.counters.model_copy(update=cancelled), cancel_at=None)


def _journaled(state: TaskState, now: float) -> TaskState:
    work = state.busy
    assert isinstance(work, Journaling), "an entry was journaled that was not asked for"
    state = replace(state, busy=None, entries=(*state.entries, work.entry), progressed_at=now)
    state = replace(state, blocked_locally=False, tries=0, note="")
    counters = added(state.counters, work.entry)
    samples = newest_samples(state, (_sampled(work.entry, state), work.entry))
    chunks = rows_by_chunk([work.entry], state.chunk_rows)
    state = replace(state, counters=counters, chunk_rows=chunks)
    return replace(state, samples=samples, waiting_since=None)


def _unwritten(state: TaskState, reason: str, now: float) -> TaskState:
    work = state.busy
    assert isinstance(work, Journaling | Dropping), "the journal failed that was not asked"
    kept = work.entry if isinstance(work, Journaling) else state.batch_to_confirm
    state = replace(state, busy=None, batch_to_confirm=kept, view=None, blocked_locally=True)
    return _later(state, reason, now)


def _sampled(entry: JournalEntry, state: TaskState) -> JournalEntry:
    """Return an entry with the samples of all earlier entries, to be joined with newer samples."""
    return entry.model_copy(update={"samples": state.samples})


def _tail_dropped(state: TaskState) -> TaskState:
    work = state.busy
    assert isinstance(work, Dropping), "a tail was dropped that was not asked for"
    kept = state.entries[: len(state.entries) - len(work.entries)]
    counters = totals(kept, state.counters.cancelled_rows)
    samples = newest_samples(state, kept)
    state = replace(state, busy=None, entries=kept, counters=counters, samples=samples)
    state = replace(state, chunk_rows=rows_by_chunk(kept))
    return replace(state, blocked_locally=False, tries=0, note="")


def _answered(state: TaskState, answer: PublishAnswer, now: float) -> Step:
    match answer.outcome:
        case PublishOutcome.COMMITTED | PublishOutcome.ALREADY_PUBLISHED:
            return replace(state, phase=TaskPhase.SUCCESS, note=answer.reason), ()
        case PublishOutcome.WAIT_FOR_PREDECESSOR:
            wait = (
                state.limits.retry_first_s if state.predecessors_published else state.limits.turn_s
            )
            note = answer.reason or "waits for its predecessor to be published"
            return replace(state, phase=TaskPhase.WAITING, note=note, ask_at=now + wait), ()
        case PublishOutcome.SUPERSEDED:
            return failed(state, FailureCode.REFUSED, f"superseded: {answer.reason}")
        case PublishOutcome.STALE:
            alert = (
                f"stale: {answer.reason}; this range starts behind the committed offsets and is "
                "not published: a restored database or a bug, so the files are kept"
            )
            return failed(state, FailureCode.INTERNAL, alert)
        case _:
            assert_never(answer.outcome)


def _unanswered(state: TaskState, reason: str, now: float, waited_s: float | None) -> TaskState:
    tries = state.tries + 1
    rest_s = state.limits.retry_s(tries)
    # Not the time from one question to the next: it may have to wait for jobs of other tasks.
    more_s = 0.0 if waited_s is None else waited_s + rest_s
    note = f"no overlord answers the publish request: {reason}"
    state = replace(state, tries=tries, note=note, unanswered_s=state.unanswered_s + more_s)
    return replace(state, ask_at=now + rest_s)


# ---------------------------------------------------------------- what is next


def _then_decide(state: TaskState, effects: tuple[Effect, ...], now: float) -> Step:
    if state.over:
        return replace(state, wake_at=None), effects
    state, more = _decide(replace(state, wake_at=None), now)
    return state, effects + more


def _decide(state: TaskState, now: float) -> Step:
    state = without_lease_over(state, now)
    if state.end is not None and state.phase in _BEFORE_THE_END:
        state = replace(state, phase=TaskPhase.FINISHING)
    if state.busy is not None:
        return hurry(state, now)
    if state.batch_to_confirm is not None:
        return _check(state, state.batch_to_confirm, now)
    if state.stopping:
        return replace(state, stopped=True), ()
    if state.blocked_locally and now < state.look_at:
        due = [t for t in (state.look_at, state.paused_until) if t is not None]
        return replace(_paused(state), wake_at=min(due)), ()
    if state.end is not None and (tail := _tail_beyond(state.entries, state.end)):
        return replace(state, busy=Dropping(tail)), (DropTail(tail),)
    if odd := too_many_exceptions(state):
        return failed(state, FailureCode.TOO_MANY_PARSE_EXCEPTIONS, odd)
    if state.end is not None and is_at_end(state.position, state.end):
        return _finish(state, state.end, now)
    if state.paused_until is not None:
        return replace(_paused(state), note="", wake_at=state.paused_until), ()
    return _read_on(state, now)


def _paused(state: TaskState) -> TaskState:
    if state.paused_until is None:
        return state
    return replace(state, phase=TaskPhase.PAUSED, cancel_at=None)


_BEFORE_THE_END = (TaskPhase.STARTING, TaskPhase.READING, TaskPhase.PAUSED)


def _check(state: TaskState, entry: JournalEntry, now: float) -> Step:
    """Look at Kafka to compare the topic ids of a batch that is read, or give the batch up."""
    too_late = state.cancel_at is not None and now >= state.cancel_at
    outside = state.end is not None and beyond(entry.end, state.end)
    if too_late or outside or state.stopping:
        state = _given_up(replace(state, batch_to_confirm=None), count(entry.start, entry.end))
        state, effects = _decide(state, now)
        return state, (Discard(entry), *effects)
    if now >= state.look_at:
        return replace(state, busy=LookWork(), wake_at=state.paused_until), (Look(),)
    due = [t for t in (state.look_at, state.cancel_at, state.paused_until) if t is not None]
    return replace(state, wake_at=min(due)), ()


def _tail_beyond(entries: tuple[JournalEntry, ...], end: Offsets) -> tuple[JournalEntry, ...]:
    first = len(entries)
    while first and beyond(entries[first - 1].end, end):
        first -= 1
    return entries[first:]


def _finish(state: TaskState, end: Offsets, now: float) -> Step:
    if state.merged is None:
        if state.entries:
            note = state.note if state.tries else ""
            state = replace(
                state, busy=Merging(), moved_at=now, cancelled_at=None, cancelled_for_stall=""
            )
            state = replace(state, note=note, wake_at=now + state.limits.progress_s)
            return state, (Merge(state.entries),)
        state = replace(state, merged=MergeResult((), None))
    if now < state.ask_at:
        return replace(state, wake_at=state.ask_at), ()
    phase = state.phase if state.phase is TaskPhase.WAITING else TaskPhase.PUBLISHING
    assert state.merged is not None
    request = PublishRequest(
        task_id=state.task.task_id,
        incarnation=state.incarnation,
        start=dict(state.start),
        end=dict(end),
        topic_ids=state.task.topic_ids,
        segments=state.merged.segments,
        rejects=state.merged.rejects,
        columns=state.merged.columns,
        quarantine=state.merged.quarantine,
        counters=state.counters,
        samples=state.samples,
        digest=state.digest,
    )
    return replace(state, phase=phase, busy=PublishWork()), (Publish(request),)


def _read_on(state: TaskState, now: float) -> Step:
    if state.view is None:
        if now < state.look_at:
            return replace(state, wake_at=state.look_at), ()
        return replace(state, busy=LookWork()), (Look(),)
    if lost := unreadable(state, state.view):
        return failed(state, FailureCode.OFFSETS_UNREADABLE, lost)
    return next_batch(state, state.view, now)
