"""Tiles: without a gap, without an overlap, in SQL as in Python, against clocks of `zoneinfo`."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tasks.ingest.decode.java_clock import JavaClock
from tasks.rows.time.period import read_period, tile_sql
from tasks.rows.time.tiling import FixedClock, Tiling, WallClock
from tasks.rows.time.zones import read_zone
from tasks.spark.session import SparkRuntime
from tests.tasks.rows.time.calendar import ZonedPeriod
from tests.tasks.rows.time.evaluate import at, evaluated, instant, micros
from tests.tasks.rows.time.tiles import CHANGES, ORIGINS, PERIODS, ZONES, ZoneClock, tile

X = "timestamp_micros(x)"
MICROSECOND = timedelta(microseconds=1)

periods = st.builds(
    lambda period, zone, origin: replace(period, zone=zone, origin=origin),
    st.sampled_from(PERIODS),
    st.sampled_from(ZONES),
    st.sampled_from(ORIGINS),
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[ZonedPeriod, datetime]:
    """A period in a zone, and a moment: anywhere, or where the clocks of the zone are changed."""
    question = draw(periods)
    near = [moment for zone, moment in CHANGES if zone == question.zone]
    if not near or draw(st.booleans()):
        since = st.integers(micros(at("1880-01-02")), micros(at("2037-12-30")))
        return question, instant(draw(since))
    minutes = draw(st.integers(-26 * 60, 26 * 60))
    rest = draw(st.sampled_from([0, 1, -1, 500_000]))
    changed = at(draw(st.sampled_from(near)))
    return question, changed + timedelta(minutes=minutes, microseconds=rest)


def tiling_of(period: ZonedPeriod, clock: WallClock | None = None) -> Tiling:
    zone = read_zone(period.zone)
    own = ZoneClock(period.zone) if zone.offset is None else FixedClock(zone.offset)
    origin = None if period.origin is None else micros(period.origin)
    return Tiling(read_period(period.text), clock or own, origin)


@given(questions())
def test_a_tile_is_that_of_the_clocks(question: tuple[ZonedPeriod, datetime]) -> None:
    period, moment = question
    start, end = tiling_of(period).around(micros(moment))
    assert (instant(start), instant(end)) == tile(moment, period)


@given(questions())
def test_tiles_leave_no_gap_and_do_not_overlap(question: tuple[ZonedPeriod, datetime]) -> None:
    """Goal: the rows of a tile are all in it, and where it ends the next begins."""
    period, moment = question
    tiling = tiling_of(period)
    start, end = tiling.around(micros(moment))
    assert start <= micros(moment) < end
    assert tiling.around(start) == tiling.around(end - 1) == (start, end)
    assert tiling.around(end)[0] == end
    assert tiling.around(start - 1)[1] == start


@pytest.mark.parametrize(("zone", "changed"), CHANGES)
def test_hours_and_months_around_a_change_of_the_clock(zone: str, changed: str) -> None:
    """Goal: changes of less than an hour too, and months that lack the origin's day."""
    hour, month = (next(own for own in PERIODS if own.text == text) for text in ("PT1H", "P1M"))
    for period in (replace(hour, zone=zone), replace(month, zone=zone, origin=ORIGINS[1])):
        step = timedelta(minutes=25) if period.months == 0 else timedelta(days=9)
        for number in range(-7, 8):
            moment = at(changed) + number * step
            start, end = tiling_of(period).around(micros(moment))
            assert (instant(start), instant(end)) == tile(moment, period), (period, moment)


@pytest.mark.spark
@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.integers())
def test_sql_and_python_agree_on_every_tile(spark: SparkRuntime, seed: int) -> None:
    """Goal: by the clocks of Java, and so by those of `zoneinfo`, near every change of them."""
    draw = Random(seed)
    cases: list[tuple[str, datetime, datetime]] = []
    clocks: dict[str, WallClock] = {}
    for zone, changed in CHANGES:
        for own in draw.sample(list(product(PERIODS, ORIGINS)), 8):
            period = replace(own[0], zone=zone, origin=own[1])
            sql = tile_sql(X, read_period(period.text), zone=zone, origin=period.origin)
            if zone not in clocks:
                place = read_zone(zone)
                clocks[zone] = (
                    JavaClock(spark.session, zone)
                    if place.offset is None
                    else FixedClock(place.offset)
                )
            for quarter in draw.sample(range(-105, 106), 8):
                moment = (
                    at(changed)
                    + quarter * timedelta(minutes=15)
                    - draw.choice((0, 1)) * MICROSECOND
                )
                start, end = tile(moment, period)
                tiling = tiling_of(period, clocks[zone])
                assert tiling.around(micros(moment)) == (micros(start), micros(end)), period
                cases.append((sql, moment, start))
    answers = evaluated(spark, [(sql, micros(moment)) for sql, moment, _ in cases], "long")
    wrong = [
        (sql, str(moment), str(want), got)
        for (sql, moment, want), got in zip(cases, answers, strict=True)
        if got != micros(want)
    ]
    assert wrong[:3] == []


# period, zone, moment, start, end
TABLE = [
    ("P1D", "Europe/Berlin", "2024-03-31T12", "2024-03-30T23", "2024-03-31T22"),  # of 23 hours
    ("P1D", "America/Sao_Paulo", "2018-11-04T12", "2018-11-04T03", "2018-11-05T02"),
    ("P1D", "America/Havana", "2024-11-03T05:30", "2024-11-03T04", "2024-11-04T05"),
    ("P1D", "Pacific/Apia", "2011-12-30T11", "2011-12-30T10", "2011-12-31T10"),
    ("P1D", "America/Toronto", "1919-03-31T04:45", "1919-03-30T05", "1919-03-31T05"),
    ("P1W", "Asia/Tokyo", "2024-05-05T14:59", "2024-04-28T15", "2024-05-05T15"),  # Monday there
    ("P1M", "Europe/Berlin", "2024-03-31T22", "2024-03-31T22", "2024-04-30T22"),
    ("PT1H", "Australia/Lord_Howe", "2024-04-06T15:10", "2024-04-06T14", "2024-04-06T15:30"),
    ("PT1H", "Asia/Kolkata", "2024-05-01T19:45", "2024-05-01T19:30", "2024-05-01T20:30"),
    ("PT2H", "Europe/Berlin", "2024-05-01T00:30", "2024-04-30T23", "2024-05-01T01"),
    ("PT2H", "UTC", "1969-12-31T23:30", "1969-12-31T22", "1970-01-01"),
    ("P400Y", "UTC", "9999-05-01", "9970-01-01", None),
    ("P400Y", "Europe/Berlin", "0300-05-01", None, "0369-12-31T23:06:32"),
]


@pytest.mark.spark
def test_tiles_are_those_of_the_table(spark: SparkRuntime) -> None:
    """Goal: what is too far from us for a date begins with year 1."""
    cases = []
    for text, zone, moment, start, end in TABLE:
        place = read_zone(zone)
        clock = (
            FixedClock(place.offset) if place.offset is not None else JavaClock(spark.session, zone)
        )
        low, high = Tiling(read_period(text), clock).around(micros(at(moment)))
        assert start is None or instant(low) == at(start), (text, zone, moment)
        assert end is None or instant(high) == at(end), (text, zone, moment)
        cases.append((tile_sql(X, read_period(text), zone=zone), micros(at(moment))))
    found = evaluated(spark, cases, "long")
    wanted = [micros(at(start or "0001-01-01")) for *_, start, _ in TABLE]
    assert found == wanted
