"""What becomes of each record: the table of results, the same for the same bytes."""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from tasks.contract.ingest_spec import Column, ColumnType, RowSpec, TimestampSpec, Transform
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest import decoding
from tests.tasks.ingest.decoding import Row, reason

pytestmark = pytest.mark.spark

TIME = b'"t":"2024-05-01T10:00:00Z"'
NOON = datetime(2024, 5, 1, 10, tzinfo=UTC)
DEEP = b"[" * 10_000 + b"]" * 10_000


def judged(
    spark: SparkRuntime,
    values: Sequence[bytes | None],
    *,
    columns: Sequence[Column] = (Column(name="a"),),
    timestamp: TimestampSpec | None = None,
    known: Sequence[str] = (),
) -> list[Row]:
    """Decode JSON values as the records 0, 1, … of partition 0; the result in their order."""
    spec = RowSpec(timestamp=timestamp or TimestampSpec(column="t"))
    return decoding.judged(spark, values, columns=columns, spec=spec, known=known)


def with_a(text: bytes) -> bytes:
    return b'{"a":' + text + b"," + TIME + b"}"


ONES = (with_a(b"1"), with_a(b"{}") + b" ", b"[1]", b"12")

# value, reason or None, a as a string column
TABLE: list[tuple[bytes | None, str | None, str | None]] = [
    (None, "null-value", None),
    (b"", "empty", None),
    (b" \t\r\n ", "empty", None),
    (with_a(b'"x"'), None, "x"),
    (b" \n" + with_a(b'"x"') + b"\r\n ", None, "x"),
    (with_a(b'"\xff"'), "not-json", None),  # no UTF-8
    (b"\xef\xbb\xbf" + with_a(b"1"), "not-json", None),  # a byte order mark
    (with_a(b'"\xed\xa0\x80"'), "not-json", None),  # half a surrogate pair, as bytes
    (with_a(b'"\\ud800"'), "not-json", None),  # the same, escaped
    (with_a(b'"x\\uDC00y"'), "not-json", None),
    (with_a(b'"\\ude00\\ud83d"'), "not-json", None),
    (with_a(b'"\\ud83d \\ude00"'), "not-json", None),
    (with_a(b'["\\ud83d"]'), "not-json", None),
    (b'{"\\ud83d":1,"a":"x",' + TIME + b"}", "not-json", None),  # within a name
    (b'{"zz":{"\\ud83d":1},"a":"x",' + TIME + b"}", "not-json", None),
    (with_a(b'"\\ud83d\\uDE00"'), None, "\U0001f600"),
    (with_a(b'"\\\\ud83d"'), None, "\\ud83d"),  # a backslash, and letters behind it
    (with_a(b'"\\u0000"'), None, "\x00"),
    (with_a(DEEP), "not-json", None),
    (b'{"zz":' + DEEP + b"," + TIME + b"}", "not-json", None),
    (DEEP, "not-json", None),
    (b'{"a":1,"a":2,' + TIME + b"}", None, "2"),  # the last of duplicate keys counts
    (b'{"a":1,"a":null,' + TIME + b"}", None, None),
    (b'{"A":1,' + TIME + b"}", None, None),  # keys differ by case
    (with_a(b"NaN"), "not-json", None),
    (with_a(b"-Infinity"), "not-json", None),
    (with_a(b'"NaN"'), None, "NaN"),
    (with_a(b"1e999"), None, '"Infinity"'),  # numbers are read as doubles
    (with_a(b"1.10"), None, "1.1"),
    (with_a(b"123456789012345678901234567890"), None, "123456789012345678901234567890"),
    (with_a(b"9" * 2_000), "not-json", None),  # the parser's limit is 1,000 digits
    (with_a(b"true"), None, "true"),
    (with_a(b"null"), None, None),
    (with_a(b'{"x": [1,  2.50, "e"]}'), None, '{"x":[1,2.5,"e"]}'),
    (with_a(b'[1e10,1E-5,2.0,[{"x":10000000.0}]]'), None, '[1.0E10,1.0E-5,2.0,[{"x":1.0E7}]]'),
    (with_a(b'"}"'), None, "}"),
    (with_a(b'[{"b":{}}]'), None, '[{"b":{}}]'),
    (b"{" + TIME + b"}", None, None),
    (b"[1]", "not-an-object", None),
    (b"[" + with_a(b"1") + b"]", "not-an-object", None),
    (b"null", "not-an-object", None),
    (b'"x"', "not-an-object", None),
    (b"12", "not-an-object", None),
    (b"hello", "not-json", None),
    (b"{'a':1," + TIME + b"}", "not-json", None),
    (b'{"a":1,}', "not-json", None),
    (b"{a:1}", "not-json", None),
    (b'{"a":"x', "not-json", None),
    (with_a(b'"a\tb"'), "not-json", None),  # a control character must be escaped
    (with_a(b"tru"), "not-json", None),
    (with_a(b"007"), "not-json", None),
    (with_a(b"1") + with_a(b"2"), "not-json", None),  # one record is one object
    (with_a(b"1") + b"\n" + with_a(b"2"), "not-json", None),
    (with_a(b"1") + b" tail", "not-json", None),
    (with_a(b"1") + b"}", "not-json", None),
    (with_a(b"1") + b"]", "not-json", None),
    (with_a(b"1") + b"," + with_a(b"2"), "not-json", None),
    (with_a(b"1") + b',"b":{}}', "not-json", None),
    *((one + b',"end"' + more, "not-json", None) for one in ONES for more in (b"", b",{}", b"}")),
    (b"{}", "no-timestamp", None),
    (b'{"t":null}', "no-timestamp", None),
    (b'{"t":" "}', "no-timestamp", None),
    (b'{"t":"12:30"}', "bad-timestamp", None),  # Spark alone would take today's 12:30
    (b'{"t":"now"}', "bad-timestamp", None),
    (b'{"t":{"a":1}}', "bad-timestamp", None),
    (b'{"t":true}', "bad-timestamp", None),
]


def test_a_name_cannot_read_the_environment_of_the_worker(spark: SparkRuntime) -> None:
    """Goal: Spark would replace this in any SQL text, also between quotes."""
    name = "${env:PATH} ${system:user.dir} ${spark.app.id}"
    value = json.dumps({"t": "2024-05-01T10:00:00Z", name: name}).encode()
    transform = Transform(name="made", expression=f"concat(\"{name}\", '{name}')")
    spec = RowSpec(timestamp=TimestampSpec(column="t"), transforms=(transform,))
    columns = (Column(name=name), Column(name="made"))

    [row] = decoding.judged(spark, [value], columns=columns, spec=spec, known=[name, "t"])

    assert (row["c0"], row["c1"], row["unknown"]) == (name, name + name, None)


def test_each_value_has_its_row_or_its_reason(spark: SparkRuntime) -> None:
    rows = judged(spark, [value for value, _, _ in TABLE])

    outcomes = [
        (v, reason(row), row["c0"] if row["reason"] == 0 else None)
        for (v, _, _), row in zip(TABLE, rows, strict=True)
    ]
    assert outcomes == TABLE
    assert not any(row["bad"] for row in rows if row["reason"] == 0)
    assert [row["size"] for row in rows] == [len(value or b"") for value, _, _ in TABLE]


LAST = datetime(2024, 5, 1, 23, 59, 59, 999_999, tzinfo=UTC)
"""The last moment of a day that a time can be."""

# format, JSON of the timestamp, expected time or the reason.  What iso and auto take for a time is
# Joda's: Druid's TimestampParser, DateTimes.of and ISODateTimeFormat.dateTimeParser.
TIMES: list[tuple[str, bytes, datetime | str]] = [
    ("iso", b'"2024-05-01T10:00:00Z"', NOON),
    ("iso", b'"2024-05-01T10:00:00"', NOON),
    ("iso", b'"2024-05-01 12:00:00+02:00"', NOON),
    ("iso", b'"2024-05-01T12:00:00+0200"', NOON),
    ("iso", b'"2024-05-01T10:00:00.123456789Z"', NOON.replace(microsecond=123_456)),
    ("iso", b'"2024-05-01"', NOON.replace(hour=0)),
    ("iso", b'"2024-05"', NOON.replace(hour=0)),
    ("iso", b'"2024"', NOON.replace(month=1, hour=0)),
    ("iso", b"2024", NOON.replace(month=1, hour=0)),
    ("iso", b'"2024T10Z"', NOON.replace(month=1)),
    ("iso", b'"2024-05T10"', NOON),
    ("iso", b'"2024-05-01T10"', NOON),
    ("iso", b'"2024-05-01T12+02:00"', NOON),
    ("iso", b'"2024-05-01T10:00:00,25Z"', NOON.replace(microsecond=250_000)),
    ("iso", b'"2024-122"', NOON.replace(hour=0)),
    ("iso", b'"2024-122T12:00:00+02:00"', NOON),
    ("iso", b'"2023-366"', "bad-timestamp"),
    ("iso", b'"2024-W18-3"', NOON.replace(hour=0)),
    ("iso", b'"2024-W18-3T10:00Z"', NOON),
    ("iso", b'"2024-W18"', NOON.replace(month=4, day=29, hour=0)),
    ("iso", b'"2024-W53-1"', "bad-timestamp"),
    ("iso", b"1714557600000", NOON),  # more digits than a year has: millis
    ("iso", b'"-1000000000"', datetime(1969, 12, 20, 10, 13, 20, tzinfo=UTC)),
    ("iso", b'"1714557600000.5"', "bad-timestamp"),
    ("iso", b"20240501", "bad-timestamp"),  # the year 20,240,501
    ("iso", b'"T10:00:00"', "bad-timestamp"),
    ("iso", b'"2024-13-01"', "bad-timestamp"),
    ("iso", b'"2023-02-29"', "bad-timestamp"),
    ("iso", b'"2024-05-01T24:00:00Z"', "bad-timestamp"),
    ("iso", b'"2024-12-31T23:59:60Z"', "bad-timestamp"),
    ("iso", b'"2024-05-01T10:00:00 Nowhere/Land"', "bad-timestamp"),
    ("iso", b'"0000-01-01"', "bad-timestamp"),
    ("iso", b'"0001-01-01"', datetime(1, 1, 1, tzinfo=UTC)),
    ("iso", b'"9999-12-31T23:59:59.999999Z"', datetime.max.replace(tzinfo=UTC)),
    ("iso", b'"9999-12-31T23:59:59-18:00"', "bad-timestamp"),
    ("iso", b'"+10000-01-01"', "bad-timestamp"),
    ("millis", b"1714557600000", NOON),
    ("millis", b'"1714557600000"', NOON),
    ("millis", b"1714557600000.0", NOON),
    ("millis", b"1714557600000.5", NOON.replace(microsecond=500)),
    ("millis", b"-1", datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
    ("millis", b"253402300799999", datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
    ("millis", b"253402300800000", "bad-timestamp"),
    ("millis", b"9223372036854775807", "bad-timestamp"),
    ("millis", b"-9223372036854775808", "bad-timestamp"),
    ("millis", b"123456789012345678901234567890", "bad-timestamp"),
    ("millis", b"1e300", "bad-timestamp"),
    ("millis", b"1e999", "bad-timestamp"),
    ("millis", b'"2024-05-01"', "bad-timestamp"),
    ("posix", b"1714557600", NOON),
    ("posix", b"1714557600.25", NOON.replace(microsecond=250_000)),
    ("posix", b"253402300800", "bad-timestamp"),
    # Down, as iso does: no record comes to lie in the chunk after its own.
    ("posix", b'"1714557600.0000009"', NOON),
    ("posix", b'"1714607999.9999999"', LAST),
    ("posix", b'"1.7146079999999999E9"', LAST),
    ("posix", b"-0.0000001", datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ("posix", b'"-62135596800.0000001"', "bad-timestamp"),
    ("posix", b'"253402300799.9999999"', datetime.max.replace(tzinfo=UTC)),
    ("millis", b'"1714607999999.9999"', LAST),
    ("micro", b'"1714607999999999.9"', LAST),
    ("micro", b"-0.1", datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ("ruby", b'"1714607999.9999999"', LAST),
    ("ruby", b"-0.0000001", datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ("auto", b'"1714607999999.9999"', LAST),
    ("nano", b'"1714607999999999999.9"', LAST),
    # What a program writes that multiplies seconds.
    ("nano", b"1714557600000000000.0", NOON),
    ("nano", b"1.7145576E18", NOON),
    ("nano", b'"1.7145576e18"', NOON),
    ("nano", b'"-1.5"', datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ("nano", b"1e300", "bad-timestamp"),
    ("nano", b'"NaN"', "bad-timestamp"),
    ("posix", b'"soon"', "bad-timestamp"),
    # Source: Druid's TimestampParser, which reads a double; here no digit of it is lost.
    ("ruby", b"1714557600", NOON),
    ("ruby", b"1714557600.25", NOON.replace(microsecond=250_000)),
    ("ruby", b'"1714557600.000001"', NOON.replace(microsecond=1)),
    ("ruby", b"1.71455760025E9", NOON.replace(microsecond=250_000)),
    ("ruby", b"253402300800.5", "bad-timestamp"),
    ("ruby", b'"soon"', "bad-timestamp"),
    ("micro", b"1714557600000001", NOON.replace(microsecond=1)),
    ("micro", b"1714557600000001.5", NOON.replace(microsecond=1)),
    ("micro", b"-62135596800000001", "bad-timestamp"),
    ("nano", b"1714557600000001999", NOON.replace(microsecond=1)),
    ("nano", b"-1", datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ("nano", b"1.5", datetime(1970, 1, 1, tzinfo=UTC)),
    ("nano", b'"soon"', "bad-timestamp"),
    ("dd/MM/yyyy HH:mm", b'"01/05/2024 10:00"', NOON),
    ("dd/MM/yyyy HH:mm", b'"1/5/2024 10:00"', NOON),
    ("dd/MM/yyyy HH:mm", b'"31/04/2024 10:00"', "bad-timestamp"),
    ("dd/MM/yyyy HH:mm", b"1714557600000", "bad-timestamp"),
    ("yyyyMMddHH", b"2024050110", NOON),
    ("auto", b"1714557600000", NOON),
    ("auto", b'"1714557600000"', NOON),
    ("auto", b'"2024-05-01T10:00:00Z"', NOON),
    ("auto", b"2024", datetime(1970, 1, 1, 0, 0, 2, 24_000, tzinfo=UTC)),
    ("auto", b'"2024T10"', NOON.replace(month=1)),
    ("auto", b'"2024-122"', NOON.replace(hour=0)),
    ("auto", b'"2024-W18-3 10:00"', NOON),
    ("auto", b'"12:30"', "bad-timestamp"),
    ("auto", b"true", "bad-timestamp"),
]


@pytest.mark.parametrize("written", sorted({form for form, _, _ in TIMES}))
def test_a_time_is_read_as_its_format_says(spark: SparkRuntime, written: str) -> None:
    cases = [(raw, expected) for form, raw, expected in TIMES if form == written]
    spec = TimestampSpec(column="t", format=written)
    values = [b'{"t":' + raw + b"}" for raw, _ in cases]

    rows = judged(spark, values, columns=(), timestamp=spec)

    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    expected = [
        e
        if isinstance(e, str)
        else ((e - epoch).days * 86_400 + (e - epoch).seconds) * 1_000_000 + e.microsecond
        for _, e in cases
    ]
    assert [reason(row) or row["micros"] for row in rows] == expected


def test_a_missing_time_takes_the_value_given_for_it_and_a_bad_one_does_not(
    spark: SparkRuntime,
) -> None:
    spec = TimestampSpec(column="t", missing_value=NOON)
    values = [b"{}", b'{"t":null}', b'{"t":""}', b'{"t":"soon"}']

    rows = judged(spark, values, columns=(), timestamp=spec)

    assert [reason(row) for row in rows] == [None, None, None, "bad-timestamp"]
    assert {row["micros"] for row in rows[:3]} == {int(NOON.timestamp()) * 1_000_000}


# type, JSON, value or None (does not fit)
VALUES: list[tuple[ColumnType, bytes, float | None]] = [
    ("long", b"1", 1),
    ("long", b"1.0", 1),
    ("long", b"1e3", 1000),
    ("long", b'"17"', 17),
    ("long", b"-9223372036854775808", -(2**63)),
    ("long", b"9223372036854775807", 2**63 - 1),
    ("long", b"9223372036854775808", None),
    ("long", b"1.5", None),
    ("long", b"1e300", None),
    ("long", b'"1d"', None),
    ("long", b'"0x10"', None),
    ("long", b'""', None),
    ("long", b"true", None),
    ("long", b"[1]", None),
    ("double", b"1.25", 1.25),
    ("double", b"7", 7.0),
    ("double", b"1e300", 1e300),
    ("double", b"1e999", None),
    ("double", b'"NaN"', None),
    ("double", b'"Infinity"', None),
    ("double", b'"1d"', None),
    ("double", b'"0x1p3"', None),
    ("double", b"{}", None),
    ("float", b"1.5", 1.5),
    ("float", b"1e39", None),
    ("float", b'"x"', None),
]


@pytest.mark.parametrize("kind", ["long", "double", "float"])
def test_a_value_that_does_not_fit_is_null_and_its_row_is_marked(
    spark: SparkRuntime, kind: ColumnType
) -> None:
    cases = [(raw, expected) for form, raw, expected in VALUES if form == kind]
    values = [with_a(raw) for raw, _ in cases]

    rows = judged(spark, values, columns=[Column(name="a", type=kind)])

    assert [reason(row) for row in rows] == [None] * len(cases)
    assert [(raw, row["c0"]) for (raw, _), row in zip(cases, rows, strict=True)] == cases
    assert [row["bad"] for row in rows] == [expected is None for _, expected in cases]
    assert not any(isinstance(row["c0"], float) and math.isnan(row["c0"]) for row in rows)


def test_a_null_or_absent_value_fits_every_type(spark: SparkRuntime) -> None:
    rows = judged(
        spark, [with_a(b"null"), b"{" + TIME + b"}"], columns=[Column(name="a", type="long")]
    )

    assert [(row["c0"], row["bad"]) for row in rows] == [(None, False)] * 2


def test_names_may_hold_any_character(spark: SparkRuntime) -> None:
    names = [
        "a b",
        "a.b",
        "a`b",
        "a'b",
        'a"b',
        "a\\b",
        "größe",
        "corrupt",
        "p",
        "v",
        "日本",
        "a\nb",
    ]
    record = "{" + ",".join(f"{json.dumps(n)}:{i}" for i, n in enumerate(names)) + ',"t":0}'

    [row] = judged(spark, [record.encode()], columns=[Column(name=n) for n in names])

    assert [row[f"c{i}"] for i in range(len(names))] == [str(i) for i in range(len(names))]


def test_unknown_keys_of_rows_are_told_and_those_of_rejects_are_not(spark: SparkRuntime) -> None:
    values = [with_a(b"1"), b'{"a":1,"b":2,"c":3,"t":0}', b'{"d":1}', b"[1]", b'{"it\'s":1,"t":0}']

    rows = judged(spark, values, known=["a", "t"])

    assert [row["unknown"] for row in rows] == [None, ["b", "c"], None, None, ["it's"]]
