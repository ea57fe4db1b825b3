"""The offsets that people mean by a time, by an end of the log, or by a number of records.

    a time      ──► the first record with that time or a later one; after the last: the stable end
    earliest    ──► where the log begins          latest ──► the last stable offset
    a shift     ──► the committed offset and so many records; never outside of the log

An offset is `exact` if it is what was asked for, and not the nearest one that there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias, assert_never

from supervisor.core.model.rows import CommittedOffset
from supervisor.core.planning.dry_run import Probed
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import TopicPartition

NO_PARTITION = "the topic has no such partition now"
NOT_STORED = "no offset of it is stored yet, from which to count"


class EndOfLog(StrEnum):
    """The two ends of a log."""

    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True)
class AtTime:
    """The first record with this time, or a later one."""

    at: datetime


@dataclass(frozen=True)
class ShiftBy:
    """So many records after the committed offset; below 0: before it."""

    records: int


OffsetWish: TypeAlias = AtTime | ShiftBy | EndOfLog


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
    found: TimedOffsets,
) -> list[WishedOffset]:
    """Return the offset of each partition that the supervisor reads, by topic and number.

    Before offsets are stored these are all partitions of its topics, and afterwards the stored
    ones: a reset to offsets takes no others.
    """
    offsets = []
    for partition in _read_by(spec, stored, found):
        if partition not in found.log.earliest:
            offsets.append(WishedOffset(partition, None, exact=False, why=NO_PARTITION))
        else:
            offsets.append(_bounded(spec, _wished(wish, partition, stored, found)))
    return offsets


def _read_by(
    spec: SupervisorSpec, stored: Iterable[TopicPartition], found: TimedOffsets
) -> list[TopicPartition]:
    source = spec.io_config

    def mine(partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        ends = source.ends
        return sorted(p for p in partitions if source.reads(p.topic) and (not ends or p in ends))

    return mine(stored) or mine(found.log.earliest)


def _wished(
    wish: OffsetWish,
    partition: TopicPartition,
    stored: Mapping[TopicPartition, CommittedOffset],
    found: TimedOffsets,
) -> WishedOffset:
    log = found.log
    match wish:
        case EndOfLog.EARLIEST:
            return WishedOffset(partition, log.earliest[partition], exact=True)
        case EndOfLog.LATEST:
            return WishedOffset(partition, log.stable[partition], exact=True)
        case ShiftBy(records):
            row = stored.get(partition)
            if row is None:
                return WishedOffset(partition, None, exact=False, why=NOT_STORED)
            return _within_the_log(log, partition, row.next_offset + records)
        case AtTime(at):
            return _timed(log, partition, found.records.get(partition), at)
    assert_never(wish)


def _within_the_log(log: Probed, partition: TopicPartition, offset: int) -> WishedOffset:
    first, last = log.earliest[partition], log.stable[partition]
    nearest = min(max(offset, first), last)
    if nearest == offset:
        return WishedOffset(partition, offset, exact=True)
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
