"""Buckets and shifts by periods, against tables and against the calendar of `zoneinfo`.

Source: Druid's `PeriodGranularity`; its tests are not used.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tasks.rows.time.period import Period, PeriodError, ceil_sql, floor_sql, read_period, shift_sql
from tasks.spark.session import SparkRuntime
from tests.tasks.rows.time.calendar import ZonedPeriod, ceil, floor
from tests.tasks.rows.time.evaluate import at, micros, times

X = "timestamp_micros(x)"
ZONES = (
    *("UTC", "America/Los_Angeles", "Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe"),
    "-03:30",
)

HOUR = timedelta(hours=1)
PERIODS = [
    *(
        ZonedPeriod(text, months=n)
        for text, n in [("P1M", 1), ("P3M", 3), ("P1Y", 12), ("P1Y6M", 18)]
    ),
    *(ZonedPeriod(text, days=n) for text, n in [("P1D", 1), ("P1W", 7), ("P2W", 14), ("P3D", 3)]),
    ZonedPeriod("P1W2D", days=9),
    *(ZonedPeriod(f"PT{n}H", length=n * HOUR) for n in (1, 2, 5, 6, 12, 24)),
    *(ZonedPeriod(f"PT{n}M", length=n * HOUR / 60) for n in (1, 5, 7, 15, 30, 45, 90)),
    *(ZonedPeriod(f"PT{n}S", length=n * HOUR / 3_600) for n in (1, 10, 61)),
    ZonedPeriod("PT1H30M", length=HOUR * 1.5),
    ZonedPeriod("PT0.250S", length=timedelta(milliseconds=250)),
    ZonedPeriod("PT1.5S", length=timedelta(milliseconds=1_500)),
]
FIXED_ONLY = [
    ZonedPeriod("P1DT12H", days=1, length=12 * HOUR),
    ZonedPeriod("P1W1DT0.5S", days=8, length=timedelta(milliseconds=500)),
]
ORIGINS = (at("2012-02-29T13:45:10.5"), at("1969-07-20T20:17:40"), at("2024-03-31T01:30:00"))


def in_zones(zoned: ZonedPeriod) -> list[ZonedPeriod]:
    return [
        ZonedPeriod(zoned.text, zoned.months, zoned.days, zoned.length, zone, origin)
        for zone, origin in product(ZONES, (None, *ORIGINS))
        if zoned not in FIXED_ONLY or zone in {"UTC", "-03:30"}
    ]


ALL = [own for zoned in (*PERIODS, *FIXED_ONLY) for own in in_zones(zoned)]

CHANGES = [
    "2024-03-10T10:00",  # Los Angeles, forward and back
    "2024-11-03T09:00",
    "2024-03-31T01:00",  # Berlin
    "2024-10-27T01:00",
    "2024-10-05T15:30",  # Lord Howe, by half an hour
    "2024-04-06T15:00",
    "2024-02-29T00:00",
    "1969-12-31T23:00",
    "1965-06-15T12:34:56",
]

instants = st.one_of(
    st.integers(micros(at("1965-01-02")), micros(at("2037-12-30"))),
    st.builds(
        lambda change, minutes, rest: micros(at(change)) + minutes * 60_000_000 + rest,
        st.sampled_from(CHANGES),
        st.integers(-26 * 60, 26 * 60),
        st.sampled_from([0, 1, -1, 500_000]),
    ),
)


def sql_of(rule: Callable[..., str], zoned: ZonedPeriod, time: str = X) -> str:
    return rule(time, read_period(zoned.text), zone=zoned.zone, origin=zoned.origin)


@pytest.mark.spark
@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(instants, min_size=60, max_size=80), st.integers())
def test_buckets_are_those_of_the_calendar(
    spark: SparkRuntime, given: list[int], seed: int
) -> None:
    """Goal: floor and ceil of each period, zone and origin; floor is idempotent and not after."""
    draw = random.Random(seed)
    moments = [at(change) + n * HOUR / 4 for change in CHANGES for n in range(-9, 9)]
    moments += [datetime.fromtimestamp(0, UTC) + timedelta(microseconds=n) for n in given]
    cases: list[tuple[str, datetime, datetime]] = []
    for zoned in draw.sample(ALL, 120):
        down, up = sql_of(floor_sql, zoned), sql_of(ceil_sql, zoned)
        for moment in draw.sample(moments, 30):
            low, high = floor(moment, zoned), ceil(moment, zoned)
            again, further = floor(low, zoned), ceil(high, zoned)
            assert low <= moment <= high
            # Where a clock is put back by half an hour, an hour begins within another: Joda's way.
            assert (again, further) == (low, high) or zoned.zone == "Australia/Lord_Howe"
            cases += [(down, moment, low), (up, moment, high)]
            cases += [(down, low, again), (up, high, further)]
    answers = times(spark, [(sql, micros(moment)) for sql, moment, _ in cases], "long")
    wrong = [
        (sql, str(moment), str(want), str(got))
        for (sql, moment, want), got in zip(cases, answers, strict=True)
        if got != want
    ]
    assert wrong[:5] == []


LA = "America/Los_Angeles"
# period, zone, time, floor, ceil
TABLE = [
    ("P1W", "UTC", "2024-05-01T10", "2024-04-29", "2024-05-06"),
    ("P1W", "UTC", "2024-04-29", "2024-04-29", "2024-04-29"),
    ("P2W", "UTC", "1970-01-20", "1970-01-15", "1970-01-29"),  # from a Thursday, as in Druid
    ("P1M", "UTC", "2024-02-29T10", "2024-02-01", "2024-03-01"),
    ("P3M", "UTC", "2024-05-01T10", "2024-04-01", "2024-07-01"),
    ("P1Y", "UTC", "1969-05-01", "1969-01-01", "1970-01-01"),
    ("P2Y", "UTC", "1969-05-01", "1968-01-01", "1970-01-01"),
    ("P12M", "UTC", "2024-05-01", "2024-01-01", "2025-01-01"),
    ("P1D", LA, "2024-03-10T20:00", "2024-03-10T08:00", "2024-03-11T07:00"),
    ("P1D", LA, "2024-11-03T20:00", "2024-11-03T07:00", "2024-11-04T08:00"),
    ("P1D", "Asia/Kolkata", "2024-05-01T19:00", "2024-05-01T18:30", "2024-05-02T18:30"),
    ("PT1H", "Asia/Kolkata", "2024-05-01T19:45", "2024-05-01T19:30", "2024-05-01T20:30"),
    ("PT6H", "UTC", "2024-05-01T19:45", "2024-05-01T18:00", "2024-05-02T00:00"),
    ("PT6H", LA, "2024-05-01T19:45", "2024-05-01T14:00", "2024-05-01T20:00"),
    ("PT15M", "UTC", "1969-12-31T23:59", "1969-12-31T23:45", "1970-01-01"),
    ("PT6H", "UTC", "1969-12-31T23:59", "1969-12-31T18:00", "1970-01-01"),
    ("P1DT12H", "UTC", "1970-01-02T13", "1970-01-02T12", "1970-01-04"),
    ("PT0.001S", "UTC", "2024-05-01T00:00:00.123456", "2024-05-01T00:00:00.123", None),
    ("P1D", "America/Sao_Paulo", "2018-11-04T12", "2018-11-04T03:00", "2018-11-05T02:00"),
    ("P1D", "America/Havana", "2024-11-03T04:30", "2024-11-03T04:00", "2024-11-04T05:00"),
    ("P1D", "America/Havana", "2024-11-03T05:30", "2024-11-03T05:00", "2024-11-04T05:00"),
    ("P400Y", "UTC", "0300-05-01", None, "0370-01-01"),
    ("P400Y", "UTC", "9999-05-01", "9970-01-01", None),
    ("P10000Y", "UTC", "2024-05-01", "1970-01-01", None),
]

# period, step, zone, time, shifted
SHIFTS = [
    ("P1M", "1", "UTC", "2024-01-31T10:00:00.000001", "2024-02-29T10:00:00.000001"),
    ("P1M", "-1", "UTC", "2024-03-31", "2024-02-29"),
    ("P1Y", "1", "UTC", "2024-02-29T10", "2025-02-28T10"),
    ("P1Y1M1D", "1", "UTC", "2024-02-29", "2025-03-29"),
    ("P1Y1M1D", "-1", "UTC", "2024-03-31", "2023-02-27"),
    ("P1D", "1", LA, "2024-03-09T20:00", "2024-03-10T19:00"),
    ("PT24H", "1", LA, "2024-03-09T20:00", "2024-03-10T20:00"),
    ("P1D", "1", LA, "2024-03-09T10:30", "2024-03-10T10:30"),  # 02:30 is skipped: 03:30
    ("P1M1D", "1", LA, "2024-02-10T10:30", "2024-03-11T10:30"),
    ("P1D", "0", LA, "2024-11-03T09:30", "2024-11-03T09:30"),  # the second 01:30
    ("P1W", "-2", "UTC", "2024-05-01T10", "2024-04-17T10"),
    ("P1DT1.5S", "2", "UTC", "2024-05-01", "2024-05-03T00:00:03"),
    ("PT1H", "-1", "UTC", "1970-01-01", "1969-12-31T23:00"),
    ("P1M", "CAST(month(timestamp_micros(x)) AS INT)", "UTC", "2024-05-01", "2024-10-01"),
    ("P1M", "'3'", "UTC", "2024-05-01", "2024-08-01"),
    ("P1M", "NULL", "UTC", "2024-05-01", None),
    ("P1M", "'x'", "UTC", "2024-05-01", None),
    ("P1Y", "9000", "UTC", "2024-05-01", None),
    ("P1Y", "-2024", "UTC", "2024-05-01", None),
    ("P1Y", "9223372036854775807L", "UTC", "2024-05-01", None),
    ("P1M", "-9223372036854775808L", "UTC", "2024-05-01", None),
    ("PT1S", "9223372036854775807L", "UTC", "2024-05-01", None),
    ("P1D", "9223372036854775807L", LA, "2024-05-01", None),
]


@pytest.mark.spark
def test_buckets_and_shifts_are_those_of_the_table(spark: SparkRuntime) -> None:
    rows: list[tuple[str, str, str | None]] = []
    for text, zone, moment, low, high in TABLE:
        period = read_period(text)
        rows.append((floor_sql(X, period, zone=zone), moment, low))
        if high is not None or text != "PT0.001S":
            rows.append((ceil_sql(X, period, zone=zone), moment, high))
    for text, step, zone, moment, moved in SHIFTS:
        rows.append((shift_sql(X, read_period(text), step, zone=zone), moment, moved))
    answers = times(spark, [(sql, micros(at(moment))) for sql, moment, _ in rows], "long")
    wrong = [
        (sql, moment, want, str(got))
        for (sql, moment, want), got in zip(rows, answers, strict=True)
        if got != (None if want is None else at(want))
    ]
    assert wrong[:5] == []
    nothing = {sql for sql, *_ in rows}
    assert set(times(spark, [(sql, None) for sql in nothing], "long")) == {None}


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("P1Y2M3W4DT5H6M7.089S", Period(years=1, months=2, weeks=3, days=4, hours=5, minutes=6,
         seconds=7, millis=89)),
        ("PT15M", Period(minutes=15)),
        ("P15M", Period(months=15)),
        ("p1d", Period(days=1)),
        ("PT0.5S", Period(millis=500)),
        ("PT1,25S", Period(seconds=1, millis=250)),
        ("P0YT1H", Period(hours=1)),
        (" P1D ", Period(days=1)),
    ],
)  # fmt: skip
def test_a_period_is_read(text: str, period: Period) -> None:
    assert read_period(text) == period


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no period"),
        ("P", "is no period"),
        ("PT", "is no period"),
        ("P1DT", "is no period"),
        ("1D", "is no period"),
        ("P1H", "is no period"),
        ("P1D1W", "is no period"),
        ("P1.5D", "is no period"),
        ("PT1.2345S", "is no period"),
        ("hour", "is no period"),
        ("P٣D", "is no period"),
        ("P1000000000D", "is no period"),
        ("-P1D", "is negative"),
        ("P-1D", "is negative"),
        ("P0D", "has no length"),
        ("PT0.000S", "has no length"),
        ("P10001Y", "longer than 10,000 years"),
        ("P99999999D", "longer than 10,000 years"),
    ],
)
def test_a_period_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(PeriodError, match=message) as refused:
        read_period(text)
    assert refused.value.fix


def test_buckets_without_a_fixed_place_are_refused() -> None:
    with pytest.raises(PeriodError, match="months and days in one period"):
        floor_sql("t", read_period("P1M1D"))
    with pytest.raises(PeriodError, match="no fixed place in Europe/Berlin"):
        ceil_sql("t", read_period("P1DT12H"), zone="Europe/Berlin")
    naive = datetime(2024, 1, 1)  # noqa: DTZ001 -- what the test is about
    day = read_period("P1D")
    with pytest.raises(PeriodError, match="the origin has no time zone"):
        floor_sql("t", day, origin=naive)
