"""The offsets that people mean by a time, by an end of the log, or by a number of records.

    a time      ──► the first record with that time or a later one; after the last: the stable end
    earliest    ──► where the log begins          latest ──► the last stable offset
    committed   ──► the next offset that is in no published file
    a shift     ──► so many records after one of these; never outside of the log

An offset is `exact` if it is what was asked for, and not the nearest one that there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from supervisor.core.model.rows import CommittedOffset
from supervisor.core.planning.dry_run import Probed
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import TopicPartition

NO_PARTITION = "the topic has no such partition now"
NOT_STORED = "no offset of it is stored yet, from which to count"


class LogPlace(StrEnum):
    """A place in a log that has a name."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"


@dataclass(frozen=True)
class AtTime:
    """The first record with this time, or a later one."""

    at: datetime


@dataclass(frozen=True)
class OffsetWish:
    """The offset that is so many records after a place or a time; below 0: before it."""

    begin: AtTime | LogPlace
    shift: int = 0


@dataclass(frozen=True)
class TimedRecord:
    """A record as Kafka finds it by a time."""

    offset: int
    time: datetime


@dataclass(frozen=True)
class TimedOffsets:
    """The log of each partition, and its first record with a time or a later one."""

    log: Probed
    records: Mapping[TopicPartition, TimedRecord] = field(default_factory=dict)
    """A partition without such a record is left out."""


@dataclass(frozen=True)
class WishedOffset:
    """The offset of one partition."""

    partition: TopicPartition
    offset: int | None
    exact: bool
    time: datetime | None = None
    """Of the record at the offset, if one was looked for by its time."""
    why: str = ""
    """Why the offset is not exact, or not known; else empty."""


def wished_offsets(
    wish: OffsetWish,
    spec: SupervisorSpec,
    stored: Mapping[TopicPartition, CommittedOffset],
    seen: TimedOffsets,
) -> list[WishedOffset]:
    """Return the offset of each partition that the supervisor reads, by topic and number.

    Before offsets are stored these are all partitions of its topics, and afterwards the stored
    ones: a reset to offsets takes no others.
    """
    offsets = []
    for partition in _read_by(spec, stored, seen):
        if partition not in seen.log.earliest:
            offsets.append(WishedOffset(partition, None, exact=False, why=NO_PARTITION))
        else:
            begin = _begin(wish.begin, partition, stored, seen)
            offsets.append(_bounded(spec, _shifted(wish, begin, seen.log)))
    return offsets


def _read_by(
    spec: SupervisorSpec, stored: Iterable[TopicPartition], seen: TimedOffsets
) -> list[TopicPartition]:
    source = spec.io_config

    def mine(partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        ends = source.ends
        return sorted(p for p in partitions if source.reads(p.topic) and (not ends or p in ends))

    return mine(stored) or mine(seen.log.earliest)


def _begin(
    begin: AtTime | LogPlace,
    partition: TopicPartition,
    stored: Mapping[TopicPartition, CommittedOffset],
    seen: TimedOffsets,
) -> WishedOffset:
    log = seen.log
    match begin:
        case LogPlace.EARLIEST:
            return WishedOffset(partition, log.earliest[partition], exact=True)
        case LogPlace.LATEST:
            return WishedOffset(partition, log.stable[partition], exact=True)
        case LogPlace.COMMITTED:
            row = stored.get(partition)
            if row is None:
                return WishedOffset(partition, None, exact=False, why=NOT_STORED)
            return WishedOffset(partition, row.next_offset, exact=True)
        case AtTime(at):
            return _timed(log, partition, seen.records.get(partition), at)
    assert_never(begin)


def _shifted(wish: OffsetWish, begin: WishedOffset, log: Probed) -> WishedOffset:
    """Move an offset by the shift, and no further than the log goes."""
    if begin.offset is None or (wish.shift == 0 and wish.begin is not LogPlace.COMMITTED):
        return begin
    offset, partition = begin.offset + wish.shift, begin.partition
    first, last = log.earliest[partition], log.stable[partition]
    nearest = min(max(offset, first), last)
    if nearest == offset:
        return replace(begin, offset=offset, time=None)
    why = f"Kafka holds {first} to {last}, and not {offset}"
    return WishedOffset(partition, nearest, exact=False, why=why)


def _timed(
    log: Probed, partition: TopicPartition, record: TimedRecord | None, at: datetime
) -> WishedOffset:
    if record is None:
        why = "no record has that time or a later one: this is the end of the log"
        return WishedOffset(partition, log.stable[partition], exact=False, why=why)
    exact = record.time == at
    why = "" if exact else "no record has that very time: this is the next one"
    return WishedOffset(partition, record.offset, exact, record.time, why)


def _bounded(spec: SupervisorSpec, wished: WishedOffset) -> WishedOffset:
    """Keep the offset within the range of a bounded supervisor."""
    starts, ends = spec.io_config.starts, spec.io_config.ends
    if starts is None or ends is None or wished.offset is None:
        return wished
    first, last = starts[wished.partition], ends[wished.partition]
    nearest = min(max(wished.offset, first), last)
    if nearest == wished.offset:
        return wished
    why = f"boundedStreamConfig names {first} to {last}, and not {wished.offset}"
    return replace(wished, offset=nearest, exact=False, time=None, why=why)
