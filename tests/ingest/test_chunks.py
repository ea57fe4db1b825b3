"""Time chunks: they tile time, and Spark's rule is Python's."""

from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.ingest.chunks import TIME_MAX, chunk_of, chunk_sql
from tasks.ingest.transform import micros
from tasks.ingest_spec import Granularity
from tasks.spark_session import SparkRuntime

MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 -- hypothesis adds the zone

EDGES = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1970, 1, 4, 23, 59, tzinfo=UTC),
    datetime(1970, 1, 5, tzinfo=UTC),
    datetime(2024, 2, 29, 5, 59, 59, tzinfo=UTC),
    datetime(2024, 12, 31, 23, 59, tzinfo=UTC),
    datetime(1582, 10, 10, 12, 7, tzinfo=UTC),
    TIME_MAX,
]


@pytest.mark.parametrize(
    ("granularity", "start", "end"),
    [
        ("SECOND", "2024-02-29T17:38:01Z", "2024-02-29T17:38:02Z"),
        ("TEN_MINUTE", "2024-02-29T17:30Z", "2024-02-29T17:40Z"),
        ("THIRTY_MINUTE", "2024-02-29T17:30Z", "2024-02-29T18:00Z"),
        ("EIGHT_HOUR", "2024-02-29T16:00Z", "2024-03-01T00:00Z"),
        ("QUARTER", "2024-01-01T00:00Z", "2024-04-01T00:00Z"),
        ("MINUTE", "2024-02-29T17:38Z", "2024-02-29T17:39Z"),
        ("FIVE_MINUTE", "2024-02-29T17:35Z", "2024-02-29T17:40Z"),
        ("FIFTEEN_MINUTE", "2024-02-29T17:30Z", "2024-02-29T17:45Z"),
        ("HOUR", "2024-02-29T17:00Z", "2024-02-29T18:00Z"),
        ("SIX_HOUR", "2024-02-29T12:00Z", "2024-02-29T18:00Z"),
        ("DAY", "2024-02-29T00:00Z", "2024-03-01T00:00Z"),
        ("WEEK", "2024-02-26T00:00Z", "2024-03-04T00:00Z"),
        ("MONTH", "2024-02-01T00:00Z", "2024-03-01T00:00Z"),
        ("YEAR", "2024-01-01T00:00Z", "2025-01-01T00:00Z"),
        ("ALL", "0001-01-01T00:00Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_chunk_is_a_calendar_unit_in_utc(granularity: str, start: str, end: str) -> None:
    moment = datetime(2024, 2, 29, 17, 38, 1, 5, tzinfo=UTC)

    expected = (datetime.fromisoformat(start), datetime.fromisoformat(end))
    assert chunk_of(moment, Granularity(granularity)) == expected


@given(moment=MOMENTS, granularity=st.sampled_from(Granularity))
def test_chunks_tile_time(moment: datetime, granularity: Granularity) -> None:
    start, end = chunk_of(moment, granularity)

    assert start <= moment < end
    assert chunk_of(start, granularity) == (start, end)
    assert chunk_of(end - timedelta(microseconds=1), granularity) == (start, end)
    if end != TIME_MAX:
        assert chunk_of(end, granularity)[0] == end


@pytest.mark.spark
def test_spark_and_python_agree_on_every_chunk(spark: SparkRuntime) -> None:
    frame = spark.session.createDataFrame([(micros(edge),) for edge in EDGES], "m long")
    timed = frame.selectExpr("m", "timestamp_micros(m) AS t")
    folder = spark.work_dir / "chunks"
    rules = [f"{chunk_sql('t', g)} AS {g.value}" for g in Granularity]

    timed.selectExpr("m", *rules).coalesce(1).write.mode("overwrite").parquet(folder.as_uri())

    for row in pq.read_table(folder).to_pylist():
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row["m"])
        for granularity in set(Granularity) - {Granularity.ALL}:
            start, _ = chunk_of(moment, granularity)
            assert row[granularity.value] == micros(start), (granularity, moment)
