"""How far reading jumps when committed offsets are set elsewhere, and what that means for rows.

    from ──────────── to      later: LOST as far as Kafka no longer holds it, else SKIPPED
    to ────────────── from    earlier: REPEATED, its records become rows a second time
    another topic id          what was committed belongs to records that are gone: RECREATED

Every piece is a row of `offset_gaps`, so `tidegate verify` knows what to expect (P25).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from supervisor.core.model.rows import CommittedOffset, GapKind
from tasks.contract.offsets import Offsets, TopicPartition


class LogEnd(StrEnum):
    """An end of what Kafka holds."""

    EARLIEST = "earliest"
    LATEST = "latest"
    """The last stable offset: behind it lies an open transaction, if there is one."""


@dataclass(frozen=True)
class NewOffsets:
    """Where partitions go on from now on."""

    offsets: Offsets
    topic_ids: Mapping[str, str]
    """Of the topics of `offsets`."""
    earliest: Offsets
    """What Kafka still holds, per partition of `offsets`."""
    gone: frozenset[TopicPartition] = field(default_factory=frozenset)
    """Partitions that exist no more."""

    @property
    def touched(self) -> frozenset[TopicPartition]:
        """Every partition that is moved, or goes."""
        return self.gone | self.offsets.keys()


@dataclass(frozen=True)
class Break:
    """One piece of a move, `[first, end)`, and what it means."""

    first: int
    end: int
    kind: GapKind


@dataclass(frozen=True)
class OffsetMove:
    """One partition and where its reading jumps."""

    partition: TopicPartition
    start: int | None
    """The committed offset before; None: it had none."""
    to: int | None
    """None: the partition exists no more."""
    breaks: tuple[Break, ...] = ()

    def piece(self, kind: GapKind) -> Break | None:
        """Return what this move skips, loses or repeats; None: nothing of it."""
        return next((each for each in self.breaks if each.kind is kind), None)

    def count(self, kind: GapKind) -> int:
        """Return how many offsets this move skips, loses, repeats or leaves behind."""
        return sum(each.end - each.first for each in self.breaks if each.kind is kind)

    def __str__(self) -> str:
        """Say it for people: the partition, both offsets, and the numbers."""
        counts = [f"{n} {kind}" for kind in GapKind if (n := self.count(kind))]
        went = "nowhere" if self.to is None else str(self.to)
        came = "nowhere" if self.start is None else str(self.start)
        return f"{self.partition} from {came} to {went}" + (
            f" ({', '.join(counts)})" if counts else ""
        )


DIGEST_DIGITS = 32


def preview_digest(
    subject: Sequence[str], offset_moves: Iterable[OffsetMove], given_up: Iterable[str]
) -> str:
    """Return a digest of what a verb would do: the same digest, the same effect.

    `subject`: the verb, its supervisor and its options; `given_up`: ids of ranges.  How far these
    ranges have read is left out, because that moves on by itself and is given up in any case.
    """
    moved = [
        (
            str(move.partition),
            move.start,
            move.to,
            [(each.first, each.end, each.kind) for each in move.breaks],
        )
        for move in offset_moves
    ]
    text = json.dumps([list(subject), moved, sorted(given_up)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def moves(
    rows: Mapping[TopicPartition, CommittedOffset], new: NewOffsets
) -> tuple[OffsetMove, ...]:
    """Return what setting the committed offsets `rows` to `new` means, by partition."""
    return tuple(_move(p, rows.get(p), new) for p in sorted(new.touched))


def _move(partition: TopicPartition, row: CommittedOffset | None, new: NewOffsets) -> OffsetMove:
    to = new.offsets.get(partition)
    if row is None:
        return OffsetMove(partition, None, to)
    return OffsetMove(partition, row.next_offset, to, tuple(_breaks(row, to, new)))


def _breaks(row: CommittedOffset, to: int | None, new: NewOffsets) -> Iterator[Break]:
    first, at = row.first_offset, row.next_offset
    if to is None or new.topic_ids[row.partition.topic] != row.topic_id:
        yield Break(first, at, GapKind.RECREATED)  # also when empty: it tells when
        return
    held = min(max(at, new.earliest[row.partition]), to)
    for piece in (
        Break(at, held, GapKind.LOST),
        Break(held, to, GapKind.SKIPPED),
        Break(max(to, first), at, GapKind.REPEATED),  # below `first` nothing was ever read
    ):
        if piece.first < piece.end:
            yield piece
