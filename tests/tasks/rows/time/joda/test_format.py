"""How a time is printed by a Joda pattern, and that what is printed parses back.

Source: Joda-Time's DateTimeFormat.
"""

from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tasks.rows.time.joda import format_iso_sql, parse_iso_sql, read_pattern
from tasks.spark.session import SparkRuntime
from tests.tasks.rows.time.evaluate import EPOCH, at, evaluated, instant, micros, times

pytestmark = pytest.mark.spark

MAY = "2024-05-01T13:04:09.012345"  # a Wednesday, day 122, week 18
NIGHT = "0987-01-01T00:00:00"  # a Monday, week 1
LAST = "2020-12-31T23:59:59.999999"  # a Thursday, day 366, week 53

TABLE: list[tuple[str, str, str, str]] = [
    ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "UTC", MAY, "2024-05-01T13:04:09.012Z"),
    ("y yy yyy yyyy yyyyy", "UTC", MAY, "2024 24 2024 2024 02024"),
    ("y yy yyy yyyy yyyyy", "UTC", NIGHT, "987 87 987 0987 00987"),
    ("Y YY YYYY G C CC CCC", "UTC", MAY, "2024 24 2024 AD 20 20 020"),
    ("x xx xxxx w ww e ee", "UTC", MAY, "2024 24 2024 18 18 3 03"),
    ("xxxx-'W'ww-e", "UTC", "2021-01-03", "2020-W53-7"),
    ("xxxx-'W'ww-e", "UTC", "2018-12-31", "2019-W01-1"),
    ("xxxx-'W'ww-e", "UTC", NIGHT, "0987-W01-1"),
    ("D DD DDD DDDD", "UTC", "2024-01-05", "5 05 005 0005"),
    ("DDD", "UTC", LAST, "366"),
    ("M MM MMM MMMM MMMMM", "UTC", MAY, "5 05 May May May"),
    ("M MM MMM MMMM", "UTC", LAST, "12 12 Dec December"),
    ("MMM MMMM", "UTC", "2024-09-30", "Sep September"),
    ("d dd ddd", "UTC", MAY, "1 01 001"),
    ("E EE EEE EEEE EEEEE", "UTC", MAY, "Wed Wed Wed Wednesday Wednesday"),
    ("EEE EEEE", "UTC", "2024-05-05", "Sun Sunday"),
    ("EEE EEEE", "UTC", NIGHT, "Mon Monday"),
    ("h hh H HH k kk K KK a", "UTC", MAY, "1 01 13 13 13 13 1 01 PM"),
    ("h hh H HH k kk K KK a", "UTC", NIGHT, "12 12 0 00 24 24 0 00 AM"),
    ("h K a", "UTC", "2024-05-01T12:00", "12 0 PM"),
    ("m mm s ss", "UTC", MAY, "4 04 9 09"),
    ("S SS SSS SSSS SSSSS SSSSSS SSSSSSS", "UTC", MAY, "0 01 012 0123 01234 012345 0123450"),
    ("s.S", "UTC", LAST, "59.9"),
    ("S", "UTC", "1969-12-31T23:59:59.9", "9"),
    ("Z ZZ ZZZ ZZZZ", "UTC", MAY, "+0000 +00:00 UTC UTC"),
    ("z zzz zzzz", "UTC", MAY, "UTC UTC Coordinated Universal Time"),
    ("z zzzz", "GMT", MAY, "GMT Greenwich Mean Time"),
    ("HH Z ZZ ZZZ z", "+05:30", MAY, "18 +0530 +05:30 +05:30 +05:30"),
    ("HH Z ZZ", "-03:30", MAY, "09 -0330 -03:30"),
    ("HH Z ZZ ZZZ", "America/Los_Angeles", MAY, "06 -0700 -07:00 America/Los_Angeles"),
    ("HH Z", "America/Los_Angeles", "2024-01-01", "16 -0800"),
    ("dd HH ZZ", "Australia/Lord_Howe", MAY, "01 23 +10:30"),
    ("dd HH ZZ", "Asia/Kolkata", "2024-05-01T20:00", "02 01 +05:30"),
    ("HH:mm Z", "America/Los_Angeles", "2024-11-03T08:30", "01:30 -0700"),
    ("HH:mm Z", "America/Los_Angeles", "2024-11-03T09:30", "01:30 -0800"),
    ("'%d' HH'%'mm '%%s%0$'", "UTC", MAY, "%d 13%04 %%s%0$"),
    ("'o''clock' ''HH''", "UTC", MAY, "o'clock '13'"),
    (r"'\n$1${env:HOME}\u0041'", "UTC", MAY, r"\n$1${env:HOME}\u0041"),
    ("'é😀'HH年", "UTC", MAY, "é😀13年"),
    ("'constant'", "UTC", MAY, "constant"),
]

PATTERNS = {
    "yyyy-MM-dd HH:mm:ss.SSSSSS": 1,
    "yyyyMMddHHmmssSSSSSS": 1,
    "EEE, dd MMM yyyy HH:mm:ss.SSS Z": 1_000,
    "EEEE d MMMM y h:m:s a ZZ": 1_000_000,
    "xxxx-'W'ww-e KK:mm a Z": 60_000_000,
    "yyyyDDDHHmm Z": 60_000_000,
    "G Y/M/d k:m Z": 60_000_000,
    "yyyy-MM-dd'T'HH:mm:ss.SSSZZ": 1_000,
}
"""Pattern: its precision, in microseconds."""

ZONES = ("UTC", "+05:30", "America/Los_Angeles", "Australia/Lord_Howe")


def test_a_time_is_printed_as_the_table_says(spark: SparkRuntime) -> None:
    rows: list[tuple[str, object, object]] = []
    for pattern, zone, moment, want in TABLE:
        sql = read_pattern(pattern).format_sql("timestamp_micros(x)", zone)
        rows += [(sql, micros(at(moment)), want), (sql, None, None)]
    iso = format_iso_sql("timestamp_micros(x)")
    rows += [(iso, micros(at(MAY)), "2024-05-01T13:04:09.012Z"), (iso, None, None)]
    found = evaluated(spark, [(sql, value) for sql, value, _ in rows], "long")
    assert found == [want for *_, want in rows]


whole_days = st.integers(min_value=0, max_value=86_400_000_000 - 1)
moments = st.tuples(
    st.datetimes(min_value=datetime(1900, 1, 2), max_value=datetime(2099, 12, 30)),  # noqa: DTZ001
    whole_days,
).map(lambda pair: pair[0].replace(tzinfo=EPOCH.tzinfo) + timedelta(microseconds=pair[1]))


@settings(
    max_examples=2,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(moments, min_size=40, max_size=80))
def test_what_is_printed_parses_back(spark: SparkRuntime, given: list[datetime]) -> None:
    """Goal: each pattern with a date and an offset, or read in UTC, gives the instant back."""
    rules: list[tuple[str, int]] = []
    for pattern, precision in PATTERNS.items():
        read = read_pattern(pattern)
        for zone in ZONES if "Z" in pattern else ZONES[:2]:
            printed = read.format_sql("timestamp_micros(x)", zone)
            rules.append((read.parse_sql(printed, zone), precision))
    iso = parse_iso_sql(format_iso_sql("timestamp_micros(x)"), "America/Los_Angeles")
    rules.append((iso, 1_000))
    # An offset of years past has seconds, which Joda does not print: whole minutes since 1920.
    recent = [moment for moment in given if moment.year > 1920]
    cases = [(sql, moment, unit) for sql, unit in rules for moment in recent]
    found = times(spark, [(sql, micros(moment)) for sql, moment, _ in cases], "long")
    wanted = [instant(micros(moment) // unit * unit) for _, moment, unit in cases]
    wrong = [case for case in zip(cases, found, wanted, strict=True) if case[1] != case[2]]
    assert wrong == []
