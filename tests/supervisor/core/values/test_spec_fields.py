"""The small types of a spec: durations, moments, names of columns."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from supervisor.core.values.field_types import (
    DURATION_MAX,
    Duration,
    Moment,
    format_duration,
    nearest,
    parse_duration,
    shown,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT0S", 0),
        ("PT1M", 60),
        ("PT60S", 60),
        ("PT1H30M", 5_400),
        ("PT36H", 129_600),
        ("P1D", 86_400),
        ("P1DT1S", 86_401),
        ("P2W", 1_209_600),
        ("PT0.5S", 0.5),
        ("PT1M0.000001S", 60.000001),
        ("PT999999999S", 999_999_999),
    ],
)
def test_a_duration_is_what_iso_8601_says(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an ISO 8601"),
        ("P", "not an ISO 8601"),
        ("PT", "not an ISO 8601"),
        ("P1DT", "not an ISO 8601"),
        ("T1M", "not an ISO 8601"),
        ("1M", "not an ISO 8601"),
        ("60", "not an ISO 8601"),
        ("60s", "not an ISO 8601"),
        ("pt1m", "not an ISO 8601"),
        ("PT1M ", "not an ISO 8601"),
        ("PT1M\n", "not an ISO 8601"),
        ("PT1S1M", "not an ISO 8601"),
        ("PT1.5M", "not an ISO 8601"),
        ("PT1,5S", "not an ISO 8601"),
        ("PT.5S", "not an ISO 8601"),
        ("PT+1S", "not an ISO 8601"),
        ("PT\u0661S", "not an ISO 8601"),
        ("PT1_0S", "not an ISO 8601"),
        ("PT99999999999999999999S", "not an ISO 8601"),
        ("-PT1M", "negative"),
        ("PT-1M", "negative"),
        ("P1M", "months and years"),
        ("P1Y", "months and years"),
        ("P1Y2M3DT4H", "months and years"),
        ("PT1000000000S", "too long"),
        ("P2147483647D", "too long"),
        ("P9999999999W", "too long"),
    ],
)
def test_what_is_no_length_of_time_is_refused_with_the_reason(text: str, why: str) -> None:
    """Source: Joda's P1M depends on the calendar; pydantic takes it for 30 days."""
    with pytest.raises(ValueError, match=why):
        parse_duration(text)


@pytest.mark.parametrize(
    "value", [60, 60.0, "60", True, None, [], timedelta(seconds=-1), DURATION_MAX]
)
def test_a_duration_is_never_a_bare_number(value: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Duration).validate_python(value)


@given(st.timedeltas(min_value=timedelta(0), max_value=DURATION_MAX - timedelta(microseconds=1)))
def test_a_duration_is_read_as_it_was_written(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(st.text())
def test_any_text_is_a_duration_or_is_refused(text: str) -> None:
    try:
        duration = parse_duration(text)
    except ValueError:
        return
    assert timedelta(0) <= duration < DURATION_MAX


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2000-01-01", datetime(2000, 1, 1, tzinfo=UTC)),
        ("2000-01-01T10:00:00", datetime(2000, 1, 1, 10, tzinfo=UTC)),
        ("2000-01-01T10:00:00Z", datetime(2000, 1, 1, 10, tzinfo=UTC)),
        ("2000-01-01T10:00:00+02:00", datetime(2000, 1, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_moment_without_a_zone_is_in_utc(value: str, moment: datetime) -> None:
    assert TypeAdapter(Moment).validate_python(value) == moment


@pytest.mark.parametrize("value", [0, 1.5, True, "", "now", "0001-01-01T00:00:00+05:00"])
def test_a_moment_is_iso_8601_text(value: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Moment).validate_python(value)


def test_the_nearest_name_is_found_whatever_the_case() -> None:
    known = ["taskDuration", "taskCount", "topic"]
    assert nearest("TASKDURATION", known) == "taskDuration"
    assert nearest("topics", known) == "topic"
    assert nearest("zzz", known) is None


@given(st.text())
def test_a_value_in_a_message_is_short_and_plain(text: str) -> None:
    assert shown(text).isascii()
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60 * len("\\U00000000") + 3
