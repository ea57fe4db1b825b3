"""Totals of tables and their timelines: sums over files, which no file is read for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from supervisor.core.model.rows import Segment
from supervisor.core.tables.totals import (
    SmallBelow,
    SmallSizes,
    TableTotals,
    TimeBucket,
    TimeWindow,
)
from tests.conformance.stories import (
    HOUR,
    MINUTE,
    NOON,
    P0,
    Leader,
    attempt,
    opening,
    publication,
    segment,
)

FIRST = datetime(1, 1, 1, tzinfo=UTC)


def window(
    bucket: timedelta = HOUR,
    *,
    begin: datetime | None = None,
    end: datetime | None = None,
    limit: int = 9,
) -> TimeWindow:
    return TimeWindow(bucket, begin, end, small_rows=20, small_bytes=1_000, limit=limit)


def sized(path: str, at: datetime, size_bytes: int = 100, table: str = "table") -> Segment:
    whole = segment(path, at)
    file = replace(whole, data_source=table).file
    return replace(
        whole, data_source=table, file=file.model_copy(update={"size_bytes": size_bytes})
    )


@pytest.fixture
def published(leader: Leader) -> Leader:
    """Five files of one table and one of another; one is taken out."""
    leader.opens(opening("g1", 1, {P0: 0}))
    files = [
        sized("table/a", NOON),
        sized("table/b", NOON + 59 * MINUTE, 5_000),
        sized("table/c", NOON + HOUR),
        sized("table/out", NOON + HOUR),
        sized("table/all", FIRST),
        sized("errors/a", NOON, table="table__errors"),
    ]
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1", "g1"))
        tx.segments.add(publication(), files)
        tx.segments.mark_unused(["id of table/out"], NOON + HOUR)
    return leader


def test_totals_are_of_files_in_use_and_count_those_taken_out(published: Leader) -> None:
    small = SmallSizes(SmallBelow(20, 1_000), {"table__errors": SmallBelow(20, 100)})
    with published.reads() as tx:
        found = tx.segments.totals(small)

    assert found == {
        "table": TableTotals(
            rows=40,
            size_bytes=5_300,
            files=4,
            small_files=3,
            unused_files=1,
            time_min=FIRST,
            time_max=NOON + HOUR + MINUTE,
            written_at=NOON,
        ),
        "table__errors": TableTotals(10, 100, 1, 0, 0, NOON, NOON + MINUTE, NOON),
    }


def test_buckets_begin_at_multiples_of_their_length_and_tell_what_is_small(
    published: Leader,
) -> None:
    with published.reads() as tx:
        hours = tx.segments.timeline("table", window())
        days = tx.segments.timeline("table", window(timedelta(days=1)))

    assert hours == [
        TimeBucket(NOON + HOUR, rows=10, size_bytes=100, files=1, small=1, unused=1),
        TimeBucket(NOON, rows=20, size_bytes=5_100, files=2, small=1, unused=0),
        TimeBucket(FIRST, rows=10, size_bytes=100, files=1, small=1, unused=0),
    ]
    midnight = NOON.replace(hour=0)
    assert days == [
        TimeBucket(midnight, rows=30, size_bytes=5_200, files=3, small=2, unused=1),
        TimeBucket(FIRST, rows=10, size_bytes=100, files=1, small=1, unused=0),
    ]


def test_a_bucket_that_would_begin_before_the_year_1_begins_there(published: Leader) -> None:
    with published.reads() as tx:
        found = tx.segments.timeline("table", window(timedelta(days=7)))
    assert found[-1].start == FIRST


def test_a_window_takes_files_whose_interval_begins_in_it_and_the_newest_first(
    published: Leader,
) -> None:
    def starts(asked: TimeWindow) -> list[datetime]:
        with published.reads() as tx:
            return [each.start for each in tx.segments.timeline("table", asked)]

    assert starts(window(begin=NOON + MINUTE)) == [NOON + HOUR, NOON]
    assert starts(window(end=NOON + HOUR)) == [NOON, FIRST]
    assert starts(window(begin=NOON + 2 * HOUR)) == []
    assert starts(window(limit=1)) == [NOON + HOUR]
    with published.reads() as tx:
        assert tx.segments.timeline("never", window()) == []
