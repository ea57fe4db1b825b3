"""Stretches of time as people write them."""

from datetime import UTC, datetime

import pytest

from supervisor.core.values.intervals import Interval, parse_interval

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-01/2026-01-02", "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"),
        ("2026-01-01T06:00Z/2026-01-01T07:30Z", "2026-01-01T06:00:00Z/2026-01-01T07:30:00Z"),
        ("2026-01-01T02:00+02:00/2026-01-02", "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"),
    ],
)
def test_both_ends_are_read_as_utc(text: str, written: str) -> None:
    assert str(parse_interval(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        *("", "/", "2026-01-01", "2026-01-01/", "2026-01-01/2026-01-02/2026-01-03"),
        *("2026-01-01/P1D", "now/2026-01-02", "2026-01-02/2026-01-01", "2026-01-01/2026-01-01"),
        *("2026-02-30/2026-03-01", "0001-01-01T00:00+14:00/2026-01-01"),
    ],
)
def test_anything_else_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="start/end in ISO 8601"):
        parse_interval(text)


def test_an_interval_contains_what_ends_where_it_ends() -> None:
    day = Interval(NEW_YEAR, NEW_YEAR.replace(day=2))

    assert day.contains(NEW_YEAR, NEW_YEAR.replace(day=2))
    assert not day.contains(NEW_YEAR, NEW_YEAR.replace(day=2, second=1))
