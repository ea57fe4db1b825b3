"""Transforms, filters and bounds of time: what is made of a record's fields, which rows stay."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tasks.contract.filters import Filter
from tasks.contract.ingest_spec import (
    Column,
    RowSpec,
    TextFormat,
    TimestampSpec,
    Transform,
    Truncation,
)
from tasks.ingest.formats.parse import parse
from tasks.ingest.formats.parsed import WantedFields
from tasks.rows.expression.value import Value
from tasks.rows.filter_sql import filter_sql
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import NOON, Decoded, decoded, rows_of

pytestmark = pytest.mark.spark

TIME = b'"t":"2024-05-01T12:00:00Z"'


def with_fields(text: bytes) -> bytes:
    return b"{" + text + b"," + TIME + b"}"


TYPED = TimestampSpec(column="t", format="iso")
TRANSFORMS = (
    Transform(name="upper", expression="upper(name)"),
    Transform(name="total", expression="price * amount"),
    Transform(name="sum", expression="price + amount"),
    Transform(name="first", expression="nvl(array_offset(tags, 0), 'none')"),
    Transform(name="hour", expression="__time / 3600000"),
    Transform(name="city", expression="json_value(address, '$.city')"),
)


def test_transforms_see_the_types_that_records_have(spark: SparkRuntime) -> None:
    """Goal: 1 + 1 is 2, "1" + "1" is "11", as they are in Druid."""
    spec = RowSpec(timestamp=TYPED, transforms=TRANSFORMS)
    hours = Column(name="hour", type="long")
    columns: list[Column | str] = ["upper", "total", "sum", "first", hours, "city"]
    records = [
        with_fields(b'"name":"ann","price":2,"amount":3,"tags":["a","b"]'),
        with_fields(b'"name":"bob","price":2.5,"amount":2,"address":{"city":"Ulm"}'),
        with_fields(b'"price":"1","amount":"1"'),
        with_fields(b'"name":7,"price":true,"amount":2'),
    ]
    hour = int(NOON.timestamp()) // 3600
    assert [row.columns for row in decoded(spark, spec, records, columns)] == [
        ("ANN", "6", "5", "a", hour, None),
        ("BOB", "5.0", "4.5", "none", hour, "Ulm"),
        (None, None, "11", "none", hour, None),
        ("7", "2", "3", "none", hour, None),
    ]


def test_a_transform_hides_the_field_of_its_name_and_sees_it(spark: SparkRuntime) -> None:
    transforms = (
        Transform(name="a", expression="concat(a, '!')"),
        Transform(name="b", expression="concat(a, '?')"),  # the record's a, not the other's
    )
    spec = RowSpec(timestamp=TYPED, transforms=transforms)
    [row] = decoded(spark, spec, [with_fields(b'"a":"x"')], ["a", "b"])
    assert row.columns == ("x!", "x?")


def test_a_result_that_does_not_fit_its_column_is_null_and_counted(spark: SparkRuntime) -> None:
    spec = RowSpec(timestamp=TYPED, transforms=(Transform(name="n", expression="a"),))
    records = [with_fields(b'"a":"x"'), with_fields(b'"a":5'), with_fields(b'"a":null')]
    found = decoded(spark, spec, records, [Column(name="n", type="long")])
    assert found == [
        Decoded(None, NOON, (None,), bad=True),
        Decoded(None, NOON, (5,)),
        Decoded(None, NOON, (None,)),
    ]


def test_a_transform_of_time_moves_the_row(spark: SparkRuntime) -> None:
    moved = Transform(name="__time", expression="__time + days * 86400000")
    spec = RowSpec(timestamp=TYPED, transforms=(moved,))
    records = [
        with_fields(b'"days":2'),
        with_fields(b'"days":-1'),
        with_fields(b'"days":null'),
        with_fields(b'"days":99999999999'),  # in microseconds it is no long
    ]
    found = decoded(spark, spec, records, [])
    assert [(row.reason, row.time) for row in found] == [
        (None, NOON + timedelta(days=2)),
        (None, NOON - timedelta(days=1)),
        ("bad-timestamp", None),
        ("bad-timestamp", None),
    ]


RECORDS = [
    b'"n":0,"a":"x","v":5',
    b'"n":1,"a":"y","v":5.0',
    b'"n":2,"a":"yes, it is","v":"5"',
    b'"n":3,"v":-7.25',
    b'"n":4,"a":"","v":null',
    b'"n":5,"a":null,"v":"text"',
    b'"n":6,"a":["x","z"],"v":50,"c":[true,5]',
    b'"n":7,"a":"Z%_","v":true,"b":"true"',
]

IS_X = {"type": "selector", "dimension": "a", "value": "x"}
# a filter as Druid writes it, and the records that it lets pass
FILTERS: list[tuple[dict[str, object], set[int]]] = [
    ({"type": "true"}, {0, 1, 2, 3, 4, 5, 6, 7}),
    ({"type": "false"}, set()),
    ({"type": "selector", "dimension": "a", "value": "x"}, {0, 6}),
    ({"type": "selector", "dimension": "a", "value": None}, {3, 5}),
    # Druid's SelectorPredicateFactory: since nulls are SQL's (28), an empty text is itself alone.
    ({"type": "selector", "dimension": "a", "value": ""}, {4}),
    # Its predicates of longs and doubles: 5 and 5.0 are "5" and "5.0", the text "5" is "5" only.
    ({"type": "selector", "dimension": "v", "value": 5}, {0, 1, 2}),
    ({"type": "selector", "dimension": "v", "value": "5.0"}, {0, 1}),
    # PredicateValueMatcherFactory.makeComplexProcessor: "Boolean values are handled here as well".
    ({"type": "selector", "dimension": "v", "value": "true"}, {7}),
    ({"type": "selector", "dimension": "v", "value": True}, {7}),
    ({"type": "selector", "dimension": "v", "value": "1"}, set()),
    ({"type": "selector", "dimension": "c", "value": "true"}, {6}),
    (
        {"type": "not", "field": {"type": "selector", "dimension": "v", "value": "false"}},
        {0, 1, 2, 3, 5, 6, 7},
    ),
    ({"type": "selector", "dimension": "nowhere", "value": "x"}, set()),
    ({"type": "selector", "dimension": "nowhere"}, {0, 1, 2, 3, 4, 5, 6, 7}),
    ({"type": "in", "dimension": "a", "values": ["y", "z"]}, {1, 6}),
    ({"type": "in", "dimension": "a", "values": ["y", None]}, {1, 3, 5}),
    ({"type": "in", "dimension": "a", "values": ["", "y"]}, {1, 4}),
    ({"type": "in", "dimension": "a", "values": []}, set()),
    ({"type": "in", "dimension": "v", "values": ["5.0", "text", "-7.25"]}, {0, 1, 3, 5}),
    ({"type": "in", "dimension": "v", "values": ["true", None]}, {4, 7}),
    ({"type": "null", "column": "a"}, {3, 5}),
    ({"type": "not", "field": {"type": "null", "column": "a"}}, {0, 1, 2, 4, 6, 7}),
    # What a null leaves undecided is neither in nor out.
    (
        {"type": "not", "field": {"type": "selector", "dimension": "a", "value": "x"}},
        {1, 2, 4, 7},
    ),
    # Source: Druid's IsBooleanFilter: what a null leaves undecided is neither true nor false.
    ({"type": "istrue", "field": IS_X}, {0, 6}),
    ({"type": "isfalse", "field": IS_X}, {1, 2, 4, 7}),
    ({"type": "not", "field": {"type": "istrue", "field": IS_X}}, {1, 2, 3, 4, 5, 7}),
    ({"type": "not", "field": {"type": "isfalse", "field": IS_X}}, {0, 3, 5, 6}),
    ({"type": "equals", "column": "v", "matchValueType": "LONG", "matchValue": 5}, {0, 1, 2}),
    (
        {"type": "equals", "column": "v", "matchValueType": "DOUBLE", "matchValue": -7.25},
        {3},
    ),
    (
        {"type": "equals", "column": "a", "matchValueType": "STRING", "matchValue": "y"},
        {1},
    ),
    (
        {"type": "equals", "column": "v", "matchValueType": "STRING", "matchValue": "5.0"},
        {0, 1},
    ),
    (
        {"type": "equals", "column": "v", "matchValueType": "STRING", "matchValue": "true"},
        {7},
    ),
    ({"type": "equals", "column": "v", "matchValueType": "LONG", "matchValue": 1}, set()),
    # What is no number lies below all numbers: StringComparators.NUMERIC.
    ({"type": "bound", "dimension": "v", "lower": "0", "ordering": "numeric"}, {0, 1, 2, 6}),
    ({"type": "bound", "dimension": "v", "upper": "5", "ordering": "numeric"}, {0, 1, 2, 3, 5, 7}),
    (
        {
            "type": "bound",
            "dimension": "v",
            "lower": 5,
            "lowerStrict": True,
            "upper": "100",
            "ordering": "numeric",
        },
        {6},
    ),
    ({"type": "bound", "dimension": "a", "lower": "x", "upper": "y"}, {0, 1, 6}),
    (
        {"type": "bound", "dimension": "a", "lower": "x", "upper": "y", "upperStrict": True},
        {0, 6},
    ),
    ({"type": "bound", "dimension": "a", "upper": "aa", "ordering": "strlen"}, {0, 1, 4, 6}),
    (
        {"type": "range", "column": "v", "matchValueType": "LONG", "lower": 5, "lowerOpen": True},
        {6},
    ),
    ({"type": "bound", "dimension": "v", "lower": "t", "upper": "u"}, {5, 7}),
    ({"type": "range", "column": "a", "matchValueType": "STRING", "upper": "Zz"}, {4, 7}),
    ({"type": "range", "column": "v", "matchValueType": "STRING", "lower": "true"}, {7}),
    ({"type": "like", "dimension": "a", "pattern": "y%"}, {1, 2}),
    ({"type": "like", "dimension": "a", "pattern": "_"}, {0, 1, 6}),
    ({"type": "like", "dimension": "a", "pattern": "Z!%!_", "escape": "!"}, {7}),
    ({"type": "like", "dimension": "a", "pattern": "Z\\%_"}, set()),  # no escape unless given
    ({"type": "like", "dimension": "v", "pattern": "tr%"}, {7}),
    ({"type": "regex", "dimension": "a", "pattern": "^y|z$"}, {1, 2, 6}),
    ({"type": "regex", "dimension": "v", "pattern": "^t"}, {5, 7}),
    ({"type": "search", "dimension": "v", "query": {"type": "contains", "value": "RU"}}, {7}),
    ({"type": "search", "dimension": "a", "query": {"type": "contains", "value": "Z"}}, {6, 7}),
    (
        {
            "type": "search",
            "dimension": "a",
            "query": {"type": "contains", "value": "Z", "caseSensitive": True},
        },
        {7},
    ),
    (
        {
            "type": "search",
            "dimension": "a",
            "query": {"type": "fragment", "values": ["IT", "yes"]},
        },
        {2},
    ),
    (
        {
            "type": "interval",
            "dimension": "__time",
            "intervals": ["2024-05-01T12:00:00Z/2024-05-01T12:00:00.001Z"],
        },
        {0, 1, 2, 3, 4, 5, 6, 7},
    ),
    (
        {"type": "interval", "dimension": "__time", "intervals": ["2024-05-02/2024-05-03"]},
        set(),
    ),
    ({"type": "columnComparison", "dimensions": ["a", "a"]}, {0, 1, 2, 3, 4, 5, 6, 7}),
    ({"type": "columnComparison", "dimensions": ["n", "v"]}, set()),
    ({"type": "columnComparison", "dimensions": ["b", "v"]}, {4, 7}),
    ({"type": "expression", "expression": "n > 2 && v > 0"}, {6, 7}),
    ({"type": "expression", "expression": "v == 1"}, {7}),  # to expressions it is a number
    (
        {
            "type": "or",
            "fields": [
                {"type": "selector", "dimension": "n", "value": "0"},
                {
                    "type": "and",
                    "fields": [
                        {"type": "expression", "expression": "n >= 6"},
                        {
                            "type": "not",
                            "field": {"type": "selector", "dimension": "v", "value": 50},
                        },
                    ],
                },
            ],
        },
        {0, 7},
    ),
]


def filter_of(written: object) -> Filter:
    found = RowSpec.model_validate({"filter": written}).filter
    assert found is not None
    return found


def test_each_filter_lets_its_rows_pass(spark: SparkRuntime) -> None:
    passed = passing(spark, RECORDS, [written for written, _ in FILTERS])
    assert list(zip([written for written, _ in FILTERS], passed, strict=True)) == FILTERS


def passing(
    spark: SparkRuntime, texts: Sequence[bytes], filters: Sequence[dict[str, object]]
) -> list[set[object]]:
    """Return the records that each filter lets pass; they have fields `a`, `b`, `c`, `n`, `v`."""
    rows = [(0, n, bytearray(with_fields(text))) for n, text in enumerate(texts)]
    records = spark.session.createDataFrame(rows, "p int, o long, v binary")
    parsed = parse(records, RowSpec(), WantedFields(values=("a", "b", "c", "n", "v")))
    millis = Value(long=f"{int(NOON.timestamp() * 1000)}L")
    tests = [
        filter_sql(
            filter_of(written), lambda name: millis if name == "__time" else parsed.value(name)
        )
        for written in filters
    ]
    frame = parsed.frame.selectExpr("o", *(f"({test}) AS f{n}" for n, test in enumerate(tests)))
    found = rows_of(spark, frame)
    return [{row["o"] for row in found if row[f"f{n}"]} for n in range(len(filters))]


NUMBERS = [
    *(b"5", b"5.0", b'"5"', b"0.1", b"1e2", b"9007199254740993", b'"0x5"', b"true", b"null"),
]
# what a selector names, and which of them it is
NAMED: list[tuple[str, set[int]]] = [
    ("5", {0, 1, 2}),
    ("+5", {0, 1}),
    ("5.0", {0, 1}),
    ("5e0", {0, 1}),
    ("5d", {1}),  # to Java a double, and to BigDecimal nothing
    (" 5", set()),
    ("0.1", {3}),
    ("1e-1", {3}),
    ("100", {4}),
    ("1e2", {4}),
    ("9007199254740993", {5}),
    ("9007199254740992", set()),  # as doubles they would be alike
    ("0x5", {6}),
    ("1", set()),
    ("true", {7}),
    ("1e999999999", set()),
    (f"1e{'9' * 30}", set()),
    ("Infinity", set()),
]


def test_a_number_is_compared_with_the_number_that_a_text_writes(spark: SparkRuntime) -> None:
    """Goal: exactly; a number that is sent as a text is a text.

    Source: Druid's SelectorPredicateFactory, and DimensionHandlerUtils.convertObjectToLong and
    convertObjectToDouble, which InDimFilter uses as well.
    """
    records = [b'"v":' + number for number in NUMBERS]
    selectors: list[dict[str, object]] = [
        {"type": "selector", "dimension": "v", "value": text} for text, _ in NAMED
    ]
    others: list[dict[str, object]] = [
        {"type": "in", "dimension": "v", "values": [text, "no"]} for text, _ in NAMED
    ]
    inverted: list[dict[str, object]] = [{"type": "not", "field": one} for one in selectors]

    passed = passing(spark, records, [*selectors, *others, *inverted])

    texts = [text for text, _ in NAMED]
    known = set(range(len(NUMBERS) - 1))  # what a null leaves undecided is neither in nor out
    assert list(zip(texts, passed[: len(texts)], strict=True)) == NAMED
    assert passed[len(texts) : 2 * len(texts)] == passed[: len(texts)]
    assert passed[2 * len(texts) :] == [known - wanted for _, wanted in NAMED]


def test_a_filter_sees_what_transforms_make(spark: SparkRuntime) -> None:
    wanted = filter_of({"type": "selector", "dimension": "big", "value": "1"})
    spec = RowSpec(
        timestamp=TYPED, transforms=(Transform(name="big", expression="v > 6"),), filter=wanted
    )
    records = [with_fields(text) for text in RECORDS]
    found = decoded(spark, spec, records, [Column(name="n", type="long")])
    assert [row.columns[0] for row in found if row.reason is None] == [6]


def test_broken_records_are_told_as_broken_and_not_as_filtered(spark: SparkRuntime) -> None:
    spec = RowSpec.model_validate({"timestamp": TYPED, "filter": {"type": "false"}})
    found = decoded(spark, spec, [b"{", b"{}", None, with_fields(b'"a":1')], [])
    assert [row.reason for row in found] == ["not-json", "no-timestamp", "null-value", "filtered"]


def test_rows_out_of_bounds_are_thrown_away(spark: SparkRuntime) -> None:
    second = timedelta(seconds=1)
    spec = RowSpec(
        timestamp=TimestampSpec(column="t", format="millis"),
        not_before=NOON,
        not_after=NOON + second,
        truncation=Truncation(period="P1D"),
    )
    millis = int(NOON.timestamp() * 1000)
    records = [b'{"t":%d}' % (millis + more) for more in (-1, 0, 1000, 1001)]
    rows = decoded(spark, spec, records, [])
    assert [row.reason for row in rows] == [
        "before-minimum-time",
        None,
        None,
        "after-maximum-time",
    ]
    assert {row.time for row in rows if row.time} == {NOON.replace(hour=0)}


def test_times_are_cut_down_in_a_time_zone(spark: SparkRuntime) -> None:
    spec = RowSpec(timestamp=TYPED, truncation=Truncation(period="P1D", time_zone="Asia/Tokyo"))
    [row] = decoded(spark, spec, [b"{" + TIME + b"}"], [])
    assert row.time == datetime(2024, 4, 30, 15, tzinfo=UTC)


def test_texts_of_a_line_are_texts_to_an_expression(spark: SparkRuntime) -> None:
    line = TextFormat(type="csv", columns=("a", "b"), delimiter=",", list_delimiter="|")
    transforms = (
        Transform(name="sum", expression="a + b"),
        Transform(name="product", expression="a * cast(b, 'LONG')"),
        Transform(name="several", expression="array_length(b)"),
    )
    spec = RowSpec(
        value_format=line,
        timestamp=TimestampSpec(missing_value=NOON),
        transforms=transforms,
    )
    found = decoded(spark, spec, [b"2,3", b"2,x|y"], ["sum", "product", "several"])
    assert [row.columns for row in found] == [("23", "6.0", "1"), (None, None, "2")]
