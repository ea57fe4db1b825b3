"""Which patterns and zones are refused, where and with which advice; no Spark."""

import pytest

from tasks.rows.time.joda import PATTERN_LENGTH_MAX, PatternError, Piece, read_pattern
from tasks.rows.time.zones import ZoneError, read_zone


def test_a_pattern_is_runs_of_letters_and_what_stands_for_itself() -> None:
    assert read_pattern("yyyy-MM'T''x'''H ''").pieces == (
        Piece("y", 4, "", 0),
        Piece("'", 1, "-", 4),
        Piece("M", 2, "", 5),
        Piece("'", 1, "T'x'", 7),
        Piece("H", 1, "", 15),
        Piece("'", 1, " '", 16),
    )


@pytest.mark.parametrize(
    ("pattern", "at", "message"),
    [
        ("", 0, "is empty"),
        ("y" * (PATTERN_LENGTH_MAX + 1), PATTERN_LENGTH_MAX, "has 201 characters"),
        ("yyyy-MM-ddTHH", 10, "'T' is no letter"),
        ("yyyy-MM-dd HH:mm:ss.nnn", 20, "'n' is no letter"),
        ("uuuu", 0, "'u' is no letter"),
        ("HH:mmX", 5, "'X' is no letter"),
        ("yyyy-MM-dd'T", 10, "a quote has no end"),
        ("''HH'x''", 4, "a quote has no end"),
        ("'", 0, "a quote has no end"),
    ],
)
def test_a_pattern_that_is_none_is_refused_at_its_place(
    pattern: str, at: int, message: str
) -> None:
    with pytest.raises(PatternError, match=message) as refused:
        read_pattern(pattern)
    assert refused.value.at == at
    assert refused.value.fix
    assert f"character {at + 1}" in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "at", "message"),
    [
        ("CC", 0, "a century can be printed but not parsed"),
        ("HH zzzz", 3, "a zone's long name can be printed but not parsed"),
        ("yyyy yy", 5, "the year stands twice"),
        ("yyyy Y", 5, "the year stands twice"),
        ("dd HH hh", 6, "the hour stands twice"),
        ("dd EEE e", 7, "the weekday stands twice"),
        ("'now'", 0, "has no field"),
        ("yyyy-ww", 5, "the week does not go with the year"),
        ("xxxx-MM", 0, "the weekyear does not go with the month"),
        ("yyyy-DDD dd", 5, "the dayofyear does not go with the day"),
        ("ww", 0, "needs the year that it is counted in"),
        ("yyyy EEE", 5, "the weekday alone names no day"),
    ],
)
def test_a_pattern_that_names_no_one_time_is_not_parsed(
    pattern: str, at: int, message: str
) -> None:
    read = read_pattern(pattern)
    assert read.format_sql("t")
    with pytest.raises(PatternError, match=message) as refused:
        read.parse_sql("x")
    assert refused.value.at == at


def test_names_of_zones_are_printed_only_where_they_do_not_change() -> None:
    with pytest.raises(PatternError, match="the name of Europe/Berlin is not known") as refused:
        read_pattern("HH z").format_sql("t", "Europe/Berlin")
    assert refused.value.at == 3


@pytest.mark.parametrize(
    "name",
    [
        *("", "utc", "PST", "+5", "+24:00", "+05:60", "Europe/", "/Berlin", "Europe/Ber lin"),
        *("a/b", "Europe/Berlin\n", "Europe/Berlin'", "Europe/../x", "+05:30\n"),
        "E" * 60 + "/Berlin",
    ],
)
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ZoneError, match="is no time zone"):
        read_zone(name)


def test_a_zone_is_a_name_or_an_offset() -> None:
    assert read_zone("UTC").offset == read_zone("Z").offset == read_zone("-00:00").offset == 0
    assert read_zone("-00:00").id == "UTC"
    assert read_zone("+05:30").offset == 19_800_000_000
    assert read_zone("-03:30").offset == -12_600_000_000
    for name in ("America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Pacific"):
        assert (read_zone(name).id, read_zone(name).offset) == (name, None)


def test_what_a_user_writes_stays_within_its_literal() -> None:
    """Goal: neither a quote nor a variable of Spark's gets out."""
    sql = read_pattern("HH'x'' OR 1=1 -- ${env:HOME}'").parse_sql("x")
    assert "${" not in sql
    assert "OR 1=1" not in sql.replace("\\\\ OR\\\\ 1\\\\=1", "")
