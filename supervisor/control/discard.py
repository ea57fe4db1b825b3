"""Discard and reset: parts of a transaction that give ranges up unpublished (P16).

    doomed ─► every later live range that shares a partition, transitively ─► DISCARDED,
              its tasks end ─► each of its partitions goes on from its committed offset

A reset also moves committed offsets, and declares which records the move skips, loses or repeats.
Offset rows are written before generations, in the order of a publish, so that the two cannot
deadlock.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from supervisor.control.end_task import TaskEnder
from supervisor.core.history.lifecycle_events import (
    EventKind,
    LifecycleEvent,
    by_author,
    shown_offsets,
)
from supervisor.core.model.rows import (
    AuditEntry,
    CommittedOffset,
    Generation,
    GenerationState,
    OffsetGap,
    TaskStatus,
)
from supervisor.core.planning.offset_moves import NewOffsets, OffsetMove, moves
from supervisor.core.planning.offset_ranges import format_range
from supervisor.core.values.errors import StateMoved
from supervisor.ports.store import Transaction
from tasks.contract.offsets import Offsets, TopicPartition


@dataclass(frozen=True)
class Cause:
    """The actor, action, reason and time of a change: for the audit log, the tasks and the gaps."""

    actor: str
    action: str
    why: str
    now: datetime


def close(
    tx: Transaction,
    endings: TaskEnder,
    generation_id: str,
    state: GenerationState,
    *,
    why: str,
    now: datetime,
) -> bool:
    """End a generation and its tasks together: no task of an ended generation runs on.

    Returns False, without a change, if the generation has ended already.
    """
    if not tx.generations.close(generation_id, state, now, why):
        return False
    empty = state is GenerationState.EMPTY
    status = TaskStatus.SUCCESS if empty else TaskStatus.FAILED
    for task in tx.tasks.of_generations([generation_id], active=True):
        endings.end(tx, task, status, why, now, lost=not empty)  # the task is not at fault
    return True


def discard(
    tx: Transaction,
    endings: TaskEnder,
    supervisor_id: str,
    cause: Cause,
    *,
    generation_id: str = "",
    partitions: Collection[TopicPartition] = (),
) -> tuple[Generation, ...]:
    """Discard a generation, or all that hold `partitions`, with all later overlaps (P16).

    Returns the discarded generations, oldest first.  Each has an audit row with its unpublished
    range.
    """
    live = tx.generations.live(supervisor_id)
    if generation_id:
        first = next((g for g in live if g.id == generation_id), None)
        live = [g for g in live if first is not None and g.ordinal >= first.ordinal]
        partitions = () if first is None else first.start
    gone: list[Generation] = []
    for generation in doomed(live, partitions):
        why = cause.why
        if generation_id and generation.id != generation_id:
            why = f"it follows {generation_id}, which was discarded"
        state = GenerationState.DISCARDED
        if not close(tx, endings, generation.id, state, why=why, now=cause.now):
            continue
        gone.append(generation)
        detail = {"supervisor": supervisor_id, "why": why, "unpublished": format_range(generation)}
        tx.audit.write(AuditEntry(cause.now, cause.actor, "discard", generation.id, detail))
    return tuple(gone)


def doomed(
    live: Iterable[Generation], partitions: Collection[TopicPartition]
) -> tuple[Generation, ...]:
    """Return the live generations that hold `partitions`, transitively; `live` is by ordinal."""
    affected, given_up = [], set(partitions)
    for generation in live:
        if not given_up.isdisjoint(generation.start):
            affected.append(generation)
            given_up.update(generation.start)
    return tuple(affected)


def begin_offsets(
    tx: Transaction,
    supervisor_id: str,
    topic_ids: Mapping[str, str],
    offsets: Offsets,
    cause: Cause,
) -> None:
    """Store the initial offsets of partitions that have no offset yet.

    Raises:
        StateMoved: one of the partitions has a stored offset.
    """
    for topic, topic_id in sorted(topic_ids.items()):
        mine = {p: at for p, at in offsets.items() if p.topic == topic}
        if not tx.offsets.initialise(supervisor_id, topic_id, mine):
            raise StateMoved(f"a partition of {topic} has a stored offset")
    kind = EventKind.OFFSETS_INITIALISED
    detail: dict[str, JsonValue] = {"offsets": shown_offsets(offsets), "why": cause.why}
    tx.happenings.record(LifecycleEvent(cause.now, kind, supervisor_id, detail))


def move_offsets(
    tx: Transaction,
    endings: TaskEnder,
    supervisor_id: str,
    new: NewOffsets,
    cause: Cause,
    *,
    rows: Mapping[TopicPartition, CommittedOffset] | None = None,
) -> tuple[OffsetMove, ...]:
    """Move committed offsets, on record; a publish in flight is answered SUPERSEDED (P22).

    `rows` are the committed offsets from which `new` was computed; None: they are read here.

    Raises:
        StaleCommit: an offset moved since this transaction read it; the caller must not commit.
    """
    if rows is None:
        rows = tx.offsets.of(supervisor_id)
    offset_moves = moves(rows, new)
    newest = tx.generations.newest(supervisor_id)
    expected = {p: row.next_offset for p, row in rows.items() if p in new.touched}
    tx.offsets.reset(supervisor_id, new.offsets, new.topic_ids, expected)
    tx.offsets.drop(supervisor_id, new.gone)
    tx.specs.awaken(supervisor_id)  # what was read to its end is to be read again
    discard(tx, endings, supervisor_id, cause, partitions=new.touched)
    for move in offset_moves:
        for piece in move.breaks:
            tx.offsets.declare(
                OffsetGap(
                    supervisor_id,
                    move.partition,
                    first=piece.first,
                    end=piece.end,
                    kind=piece.kind,
                    author=cause.actor,
                    why=cause.why,
                    at=cause.now,
                    last_ordinal=newest.ordinal if newest else 0,
                )
            )
    tx.happenings.record(
        LifecycleEvent(
            cause.now,
            EventKind.OFFSETS_RESET,
            supervisor_id,
            {
                "from": shown_offsets(expected),
                "to": shown_offsets(new.offsets),
                **by_author(cause.actor),
                "why": cause.why,
            },
        )
    )
    detail = {"why": cause.why, "moved": "; ".join(str(move) for move in offset_moves)}
    tx.audit.write(AuditEntry(cause.now, cause.actor, cause.action, supervisor_id, detail))
    return offset_moves
