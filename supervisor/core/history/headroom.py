"""Retention headroom: the time until Kafka deletes records that are not published yet.

    earliest ──►  ──►  ──►          committed ──────────── latest
         move 1  move 2  move 3        ▲ the first record that would be lost

Kafka deletes whole log segments, so the earliest offset moves in jumps.  Its slope is measured from
the end of one jump to the end of a later one: a slope that began before a jump would count records
of a time that nobody has watched.  No topic setting is read, because deletion by size, by age and
by an operator all move the same offset.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tasks.contract.offsets import Offsets, TopicPartition

MOVES_KEPT = 8
"""Moves of the earliest offset per partition; with older ones a new retention would show late."""
HEADROOM_MAX = timedelta(days=3650)
"""The longest headroom that is shown; a longer one is shown as this."""
_PATIENCE = 2
"""Retention counts as ended after so many times the longest pause between two moves."""

NOTHING_UNREAD = "everything that Kafka held at the last look is published"
NEVER_MOVED = "Kafka has deleted nothing since this leader looks at it"
MOVED_ONCE = (
    "Kafka has deleted records once since this leader looks at it: how fast shows the next time"
)


@dataclass(frozen=True)
class EarliestMoves:
    """The earliest offset of one partition, and how it came there."""

    offset: int
    """As the newest look saw it."""
    moves: tuple[tuple[datetime, int], ...] = ()
    """(time of the look that saw the move, the offset then), oldest first."""


@dataclass(frozen=True)
class EarliestHistory:
    """How the earliest offsets of one supervisor's partitions moved, look by look."""

    at: datetime | None = None
    """When the newest look began; None: there was none."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Topic -> the id that the newest look saw."""
    moves: Mapping[TopicPartition, EarliestMoves] = field(default_factory=dict)
    """Of the partitions that the newest look saw."""


def with_earliest(
    history: EarliestHistory, at: datetime, earliest: Offsets, topic_ids: Mapping[str, str]
) -> EarliestHistory:
    """Return the history with one more look; a look that is not newer than the last adds nothing.

    A topic with another id, and an earliest offset that went back, begin a history anew: it is
    another log.
    """
    if history.at is not None and at <= history.at:
        return history
    same = {topic for topic, known in topic_ids.items() if history.topic_ids.get(topic) == known}
    moves = {
        p: _moved(history.moves.get(p) if p.topic in same else None, at, offset)
        for p, offset in earliest.items()
    }
    return EarliestHistory(at, topic_ids, moves)


def _moved(before: EarliestMoves | None, at: datetime, offset: int) -> EarliestMoves:
    if before is None or offset < before.offset:
        return EarliestMoves(offset)
    if offset == before.offset:
        return before
    return EarliestMoves(offset, (*before.moves, (at, offset))[-MOVES_KEPT:])


@dataclass(frozen=True)
class Headroom:
    """The records and the time until retention reaches the first unpublished record."""

    records: int
    """Below 0: so many records were deleted before they were published."""
    left: timedelta | None
    """Zero: retention is there already.  None: not known."""
    why: str = ""
    """Why the time is not known; else empty."""


def headroom(known: EarliestMoves, committed: int, latest: int, at: datetime) -> Headroom:
    """Return the headroom of one partition at the time of the newest look."""
    records = committed - known.offset
    if committed >= latest:
        return Headroom(records, None, NOTHING_UNREAD)
    if records < 0:
        return Headroom(records, timedelta(0))
    match known.moves:
        case ():
            return Headroom(records, None, NEVER_MOVED)
        case (_,):
            return Headroom(records, None, MOVED_ONCE)
    (began, first), (ended, last) = known.moves[0], known.moves[-1]
    pauses = [b[0] - a[0] for a, b in zip(known.moves, known.moves[1:], strict=False)]
    quiet = max(timedelta(0), at - ended)
    if quiet > _PATIENCE * max(pauses):
        why = f"the earliest offset has not moved for {quiet}, and moved more often before"
        return Headroom(records, None, why)
    seconds = (committed - last) * (ended - began).total_seconds() / (last - first)
    if seconds > HEADROOM_MAX.total_seconds():
        return Headroom(records, HEADROOM_MAX)
    return Headroom(records, max(timedelta(0), timedelta(seconds=seconds) - quiet))
