"""Counts of bad records: of each immutable errors file once, then by reason, time and partition.

Times are those that records had in Kafka, in UTC.  A file is counted by hours; days are sums.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

BUCKETS_MAX = 200
"""The number of buckets with records that an answer has: the newest ones."""
COUNTS_MAX = 10_000
"""The number of counts in an answer, over all of its buckets."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BucketWidth(StrEnum):
    """The width of a bucket of time."""

    HOUR = "hour"
    DAY = "day"

    @property
    def width(self) -> timedelta:
        """The width as a duration."""
        return timedelta(hours=1) if self is BucketWidth.HOUR else timedelta(days=1)

    def start_of(self, at: datetime) -> datetime:
        """Return the start of the bucket that has this time."""
        return at - (at - _EPOCH) % self.width


@dataclass(frozen=True)
class BadCount:
    """How many bad records there are of one reason, partition and hour."""

    topic: str
    partition: int
    reason: str
    hour: datetime | None
    """The start of an hour; None: their times in Kafka are not known, or too many to count."""
    records: int


@dataclass(frozen=True)
class BadBucket:
    """The counts of one bucket of time; their `hour` is its start."""

    start: datetime
    counts: tuple[BadCount, ...]
    """By reason, topic and partition."""

    @property
    def records(self) -> int:
        """The number of records in the bucket."""
        return sum(each.records for each in self.counts)


@dataclass(frozen=True)
class BadSummary:
    """Counts of the newest buckets, and the sums of all."""

    buckets: tuple[BadBucket, ...]
    """Those that have records, by time."""
    reasons: dict[str, int]
    """Reason -> number of records, with those that are in no bucket."""
    undated: int
    """Records whose time is not known."""
    truncated: bool
    """Whether older buckets, or the smallest counts of the only one, are left out."""


def count_by_reason(counts: Iterable[BadCount]) -> dict[str, int]:
    """Return reason -> number of records, by reason."""
    sums: Counter[str] = Counter()
    for each in counts:
        sums[each.reason] += each.records
    return dict(sorted(sums.items()))


def summarise(counts: Sequence[BadCount], bucket: BucketWidth) -> BadSummary:
    """Return the newest BUCKETS_MAX buckets that have records, as far as COUNTS_MAX allows."""
    sums: dict[datetime, Counter[tuple[str, str, int]]] = {}
    for each in counts:
        if each.hour is not None:
            cells = sums.setdefault(bucket.start_of(each.hour), Counter())
            cells[each.reason, each.topic, each.partition] += each.records
    kept: list[BadBucket] = []
    left = COUNTS_MAX
    truncated = len(sums) > BUCKETS_MAX
    for start in sorted(sums, reverse=True)[:BUCKETS_MAX]:
        cells = sums[start]
        if len(cells) > left:
            truncated = True
            if not kept:
                kept.append(_bucket(start, Counter(dict(cells.most_common(left)))))
            break
        left -= len(cells)
        kept.append(_bucket(start, cells))
    return BadSummary(
        tuple(reversed(kept)),
        count_by_reason(counts),
        sum(each.records for each in counts if each.hour is None),
        truncated,
    )


def _bucket(start: datetime, cells: Counter[tuple[str, str, int]]) -> BadBucket:
    counts = (
        BadCount(topic, partition, reason, start, records)
        for (reason, topic, partition), records in sorted(cells.items())
    )
    return BadBucket(start, tuple(counts))
