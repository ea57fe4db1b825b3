"""Records at the ends of what there is: no one of them may stop the range that it is in."""

from datetime import UTC, datetime

import pytest

from tasks.contract.ingest_spec import (
    KafkaColumns,
    RowSpec,
    TextFormat,
    TimestampSpec,
    Truncation,
)
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import NOON, Decoded, Record, decoded

pytestmark = pytest.mark.spark

FIRST = datetime(1, 1, 1, tzinfo=UTC)
LINE = TextFormat(type="csv", columns=("a", "b"), delimiter=",", list_delimiter="\x01")
CSV = RowSpec(value_format=LINE, timestamp=TimestampSpec(column="t", missing_value=NOON))
VALUES_MAX = 20_480


@pytest.mark.parametrize(
    "cut",
    [
        Truncation(period="P1D", time_zone="Europe/Berlin"),
        Truncation(period="PT7H"),
        Truncation(period="P7D"),
        Truncation(period="P7D", origin=NOON),
    ],
    ids=str,
)
def test_a_time_that_is_cut_down_below_year_1_is_the_first(
    spark: SparkRuntime, cut: Truncation
) -> None:
    """Goal: a row has a time.  Source: `tile_sql`, by which the chunk around it begins there."""
    spec = RowSpec(timestamp=TimestampSpec(column="t", format="iso"), truncation=cut)
    records = [b'{"t":"0001-01-01T00:00:00Z"}', b'{"t":"soon"}']
    assert decoded(spark, spec, records, []) == [
        Decoded(None, FIRST, ()),
        Decoded("bad-timestamp", None, ()),
    ]


def _line(values: int, each: str = "x") -> bytes:
    return ",".join([each] * values).encode()


def test_a_line_of_more_values_than_its_parser_takes_is_no_line(spark: SparkRuntime) -> None:
    """Source: univocity's `CommonParserSettings.maxColumns`, as Spark's CSVOptions sets it."""
    quoted = b'x,"' + b"," * (2 * VALUES_MAX) + b'"'
    most = [*(_line(VALUES_MAX, each) for each in ("x", "", '"x"')), quoted]
    more = [*(_line(VALUES_MAX + 1, each) for each in ("x", "", "é", '"x"')), _line(100_000, "")]
    lines = [record + end for end in (b"", b"\n", b"\r\n") for record in (*most, *more, b"x,y")]

    decoded_rows = decoded(spark, CSV, lines, ["a"])

    assert [row.reason for row in decoded_rows] == 3 * [*([None] * 4), *(["not-a-line"] * 5), None]
    rows = [row.columns for row in decoded_rows if row.reason is None]
    assert rows == 3 * [("x",), (None,), ("x",), ("x",), ("x",)]


ODD = ('x"', 'x"y"', '"x"y', '" "', '""""', ' "x,y"', 'x",', '"x",y"', '"x\n"', '\xa0"x,"', '"",""')


def test_quotes_in_odd_places_do_not_hide_that_values_are_too_many(spark: SparkRuntime) -> None:
    """Goal: what the parser would fail at does not reach it; each of them has too many values."""
    lines = [_line(VALUES_MAX + 2, each) for each in ODD]
    lines += [_line(2, each) + b"," + _line(VALUES_MAX, '"x,"') for each in ODD]
    reasons = [row.reason for row in decoded(spark, CSV, lines, ["a"])]
    assert reasons == ["not-a-line"] * len(lines)


def test_a_key_of_too_many_values_is_null(spark: SparkRuntime) -> None:
    spec = CSV.model_copy(update={"kafka_columns": KafkaColumns(key="k", key_format=LINE)})
    keys = [b"k,l", _line(VALUES_MAX), _line(VALUES_MAX + 1), _line(2, "k") + b"\n" + b"," * 90_000]
    decoded_rows = decoded(spark, spec, [Record(b"x,y", key=key) for key in keys], ["a", "k"])
    assert [row.columns for row in decoded_rows] == [
        ("x", "k"),
        ("x", "x"),
        ("x", None),
        ("x", "k"),
    ]
