"""Time chunks: they tile time, and Spark's rule is Python's."""

from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.contract.ingest_spec import Granularity, PeriodChunks
from tasks.ingest.decode.chunks import TIME_MAX, TIME_MIN, Chunks
from tasks.ingest.decode.java_clock import chunks_of
from tasks.ingest.decode.transform import micros
from tasks.spark.session import SparkRuntime

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
    assert Chunks(Granularity(granularity)).of(moment) == expected


@given(moment=MOMENTS, granularity=st.sampled_from(Granularity))
def test_chunks_tile_time(moment: datetime, granularity: Granularity) -> None:
    start, end = Chunks(granularity).of(moment)

    assert start <= moment < end
    assert Chunks(granularity).of(start) == (start, end)
    assert Chunks(granularity).of(end - timedelta(microseconds=1)) == (start, end)
    if end != TIME_MAX:
        assert Chunks(granularity).of(end)[0] == end


@given(
    moments=st.lists(MOMENTS | st.sampled_from(EDGES), max_size=8),
    granularity=st.sampled_from(Granularity),
)
def test_what_was_asked_before_changes_no_chunk(
    moments: list[datetime], granularity: Granularity
) -> None:
    chunks = Chunks(granularity)
    for moment in moments:
        assert chunks.of(moment) == Chunks(granularity).of(moment)


@pytest.mark.spark
def test_spark_and_python_agree_on_every_chunk(spark: SparkRuntime) -> None:
    frame = spark.session.createDataFrame([(micros(edge),) for edge in EDGES], "m long")
    timed = frame.selectExpr("m", "timestamp_micros(m) AS t")
    folder = spark.work_dir / "chunks"
    rules = [f"{Chunks(g).sql('t')} AS {g.value}" for g in Granularity]

    timed.selectExpr("m", *rules).coalesce(1).write.mode("overwrite").parquet(folder.as_uri())

    for row in pq.read_table(folder).to_pylist():
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row["m"])
        for granularity in set(Granularity) - {Granularity.ALL}:
            start, _ = Chunks(granularity).of(moment)
            assert row[granularity.value] == micros(start), (granularity, moment)


PERIODS = [
    PeriodChunks(period="PT2H", origin=datetime(2024, 1, 1, 0, 30, tzinfo=UTC)),
    PeriodChunks(period="PT7200S", origin=datetime(1970, 1, 1, tzinfo=UTC)),
    PeriodChunks(period="P1D", time_zone="+05:30"),
    PeriodChunks(period="P1D", time_zone="Europe/Berlin"),
    PeriodChunks(period="PT1H", time_zone="Australia/Lord_Howe"),
    PeriodChunks(period="PT2H", time_zone="America/Los_Angeles"),
    PeriodChunks(period="P1M", time_zone="Asia/Tokyo"),
    PeriodChunks(period="P1Y", origin=datetime(2020, 2, 29, tzinfo=UTC)),
    PeriodChunks(period="P400Y", time_zone="Europe/Berlin"),
]


@pytest.mark.spark
def test_spark_and_python_agree_on_the_chunks_of_periods(spark: SparkRuntime) -> None:
    """Goal: in files, as merges divide them; the first year and the last are no exceptions."""
    hours = [datetime(2024, 3, 31, tzinfo=UTC) + timedelta(hours=n / 2) for n in range(48)]
    moments = sorted({*EDGES, *hours})
    frame = spark.session.createDataFrame([(micros(moment),) for moment in moments], "m long")
    folder = spark.work_dir / "period-chunks"
    every = [chunks_of(spark.session, period) for period in PERIODS]
    rules = [f"{chunks.sql('t')} AS c{number}" for number, chunks in enumerate(every)]

    timed = frame.selectExpr("m", "timestamp_micros(m) AS t").selectExpr("m", *rules)
    timed.coalesce(1).write.mode("overwrite").parquet(folder.as_uri())

    for row in pq.read_table(folder).to_pylist():
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row["m"])
        for number, chunks in enumerate(every):
            start, end = chunks.of(moment)
            assert TIME_MIN <= start <= moment <= end <= TIME_MAX, (str(chunks), moment)
            assert row[f"c{number}"] == micros(start), (str(chunks), moment)
