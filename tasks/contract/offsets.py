"""Offset algebra of both planes: pure functions over maps from partition to offset.

Offsets count records and are exclusive at the end: after records 0 to 9 the offset is 10.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self, TypeAlias


class OffsetsError(ValueError):
    """Offsets do not fit together; the message names the partitions and the numbers."""


class TopicPartition(NamedTuple):
    """One partition of one topic; written `topic:number` on the wire."""

    topic: str
    partition: int

    def __str__(self) -> str:
        """Return the form `parse` reads."""
        return f"{self.topic}:{self.partition}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `topic:number`.

        Raises:
            OffsetsError: the text has another form.
        """
        topic, colon, number = text.rpartition(":")
        if not (topic and colon and number.isascii() and number.isdigit()):
            raise OffsetsError(f"{text!r} is not of the form topic:partition")
        return cls(topic, int(number))


Offsets: TypeAlias = Mapping[TopicPartition, int]
"""Partition -> next offset to read."""


def furthest(reports: Sequence[Offsets]) -> dict[TopicPartition, int]:
    """Return, per partition, the furthest offset that any paused replica reached.

    The result becomes the common end of the generation: a replica behind it reads on,
    then stops; one already there stops.

    Raises:
        OffsetsError: no report came, or the reports name different partitions.

    Source: Druid's SeekableStreamSupervisor.checkpointTaskGroup; where it takes the
    union of unequal reports we refuse them, for they mean a mixed group.
    """
    if not reports:
        raise OffsetsError("no replica reported its offsets")
    partitions = reports[0].keys()
    if any(report.keys() != partitions for report in reports):
        raise OffsetsError("replicas of one group report different partitions")
    return {p: max(report[p] for report in reports) for p in sorted(partitions)}


def is_empty(start: Offsets, end: Offsets) -> bool:
    """Tell whether the range `[start, end)` holds no offset in any partition."""
    return count(start, end) == 0


def count(start: Offsets, end: Offsets) -> int:
    """Return how many offsets `[start, end)` spans over all partitions.

    Raises:
        OffsetsError: the two name different partitions, or an end lies before its start.
    """
    if start.keys() != end.keys():
        raise OffsetsError("start and end name different partitions")
    for partition, first in start.items():
        if end[partition] < first:
            raise OffsetsError(f"{partition}: end {end[partition]} lies before start {first}")
    return sum(end[p] - start[p] for p in start)


def is_at_end(position: Offsets, end: Offsets) -> bool:
    """Tell whether `position` is at or past `end` in every partition.

    At or past, not equal: control records and compaction leave holes at the end (R10).
    """
    return all(position[p] >= end[p] for p in end)


def clip(
    start: Offsets, stable: Offsets, *, end: Offsets | None, rows_max: int
) -> dict[TopicPartition, int]:
    """Return how far one micro-batch from `start` may read.

    Per partition `max(start, min(end, start + share of rows_max, stable))`, where `stable`
    is the last stable offset (records beyond it may still be aborted).  `rows_max` bounds
    the offsets of the whole batch; partitions with less to read leave their share to the others.

    Source: protocol rule P10.
    """
    limit = {p: stable[p] if end is None else min(end[p], stable[p]) for p in start}
    wanted = {p: max(0, limit[p] - start[p]) for p in start}
    left, to = rows_max, dict(start)
    # Smallest first: what a nearly finished partition does not use goes to the longer ones.
    for done, partition in enumerate(sorted(start, key=lambda p: (wanted[p], p))):
        share = min(wanted[partition], left // (len(start) - done))
        to[partition] = start[partition] + share
        left -= share
    return to
