"""Counts of bad records by reason, time and partition, within bounds."""

from datetime import UTC, datetime, timedelta

from supervisor.core.tables import bad_records
from supervisor.core.tables.bad_records import BadCount, BucketWidth, summarise

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def count(
    hour: datetime | None, records: int = 1, reason: str = "empty", partition: int = 0
) -> BadCount:
    return BadCount("clicks", partition, reason, hour, records)


def test_days_are_the_sums_of_their_hours_in_utc() -> None:
    late, next_day = count(NOON + 11 * HOUR, 3), count(NOON + 12 * HOUR, 5)
    counts = [
        count(NOON, 2),
        late,
        next_day,
        count(NOON, 7, "not-json"),
        count(NOON, 1, partition=4),
    ]

    by_hour, by_day = (summarise(counts, bucket) for bucket in BucketWidth)

    assert [(b.start, b.records) for b in by_hour.buckets] == [
        (NOON, 10),
        (NOON + 11 * HOUR, 3),
        (NOON + 12 * HOUR, 5),
    ]
    midnight = NOON - 12 * HOUR
    assert [(b.start, b.records) for b in by_day.buckets] == [
        (midnight, 13),
        (midnight + 24 * HOUR, 5),
    ]
    assert by_day.buckets[0].counts == (
        count(midnight, 5),
        count(midnight, 1, partition=4),
        count(midnight, 7, "not-json"),
    )
    assert by_day.reasons == by_hour.reasons == {"empty": 11, "not-json": 7}


def test_records_without_a_time_are_in_the_sums_and_in_no_bucket() -> None:
    summary = summarise([count(None, 4), count(NOON)], BucketWidth.HOUR)

    assert (summary.undated, summary.reasons) == (4, {"empty": 5})
    assert [b.records for b in summary.buckets] == [1]
    assert not summary.truncated


def test_the_newest_buckets_are_kept_and_all_are_in_the_sums() -> None:
    many = [count(NOON + n * HOUR) for n in range(bad_records.BUCKETS_MAX + 1)]

    summary = summarise(many, BucketWidth.HOUR)

    assert summary.truncated
    assert len(summary.buckets) == bad_records.BUCKETS_MAX
    assert summary.buckets[0].start == NOON + HOUR
    assert summary.reasons == {"empty": bad_records.BUCKETS_MAX + 1}
    assert not summarise(many[1:], BucketWidth.HOUR).truncated


def test_no_answer_has_more_counts_than_its_bound() -> None:
    """Goal: whole buckets are left out, of a single one that is too large small counts."""
    wide = [count(NOON + HOUR, n + 1, partition=n) for n in range(bad_records.COUNTS_MAX)]

    beside = summarise([count(NOON), *wide], BucketWidth.HOUR)
    alone = summarise(
        [*wide, count(NOON + HOUR, 1, partition=bad_records.COUNTS_MAX)], BucketWidth.HOUR
    )

    assert [b.start for b in beside.buckets] == [NOON + HOUR]
    assert len(beside.buckets[0].counts) == bad_records.COUNTS_MAX
    assert [len(b.counts) for b in alone.buckets] == [bad_records.COUNTS_MAX]
    assert min(each.records for each in alone.buckets[0].counts) == 1
    assert beside.truncated
    assert alone.truncated
