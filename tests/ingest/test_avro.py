"""Avro records: what each type becomes, and which bytes are no record.

Source: Druid's documentation, "Avro extension", "Avro types"; the Avro specification 1.12.
"""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tasks.ingest_spec import Column
from tasks.spark_session import SparkRuntime
from tests.ingest.avros import record_of, rows_by, written
from tests.ingest.decoding import decoded

pytestmark = pytest.mark.spark

INNER = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": ["null", "int"]}]}
COLOUR = {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}
HASH = {"type": "fixed", "name": "Hash", "size": 3}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
DAY = {"type": "int", "logicalType": "date"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
ODD = 'a"b\\c\u0000\u00fc\U0001f600\n{}$'

VALUES: list[tuple[object, object, str | None]] = [
    # type, value, the text of its column
    ("null", None, None),
    ("boolean", True, "true"),
    ("boolean", False, "false"),
    ("int", -(2**31), "-2147483648"),
    ("long", 2**63 - 1, "9223372036854775807"),
    ("long", -(2**63), "-9223372036854775808"),
    ("long", 2**53 + 1, "9007199254740993"),
    ("float", 0.5, "0.5"),
    ("double", 1e300, "1.0E300"),
    ("double", float("nan"), "NaN"),
    ("double", float("-inf"), "-Infinity"),
    ("float", float("inf"), "Infinity"),
    ("string", "", ""),
    ("string", ODD, ODD),
    ("bytes", b"\x00\xff{", "AP97"),
    ("bytes", b"", ""),
    (HASH, b"abc", "YWJj"),
    (COLOUR, "GREEN", "GREEN"),
    ({"type": "array", "items": "int"}, [1, -2], "[1,-2]"),
    ({"type": "array", "items": "string"}, [], "[]"),
    ({"type": "array", "items": ["null", "string"]}, ["a", None], '["a",null]'),
    ({"type": "array", "items": ["int", "string"]}, ["a", 1], '["a",1]'),
    ({"type": "array", "items": HASH}, [b"abc"], '["YWJj"]'),
    ({"type": "map", "values": "long"}, {"z": 2**62, "a b": 0}, f'{{"a b":0,"z":{2**62}}}'),
    (
        {"type": "map", "values": ["null", "int", "string"]},
        {"b": 1, "a": "x", "c": None},
        '{"a":"x","b":1,"c":null}',
    ),
    ({"type": "map", "values": INNER}, {"k": {"x": None}}, '{"k":{"x":null}}'),
    (INNER, {"x": 5}, '{"x":5}'),
    (["null", INNER], None, None),
    (["null", INNER], {"x": None}, '{"x":null}'),
    (["null", "string"], None, None),
    (["string"], "only", "only"),
    (["null"], None, None),
    (["int", "null"], 7, "7"),
    (["null", "int", "long", "string", INNER, COLOUR], 2**40, str(2**40)),
    (["null", "int", "long", "string", INNER, COLOUR], "1", "1"),
    (["null", "int", "long", "string", INNER, COLOUR], ("shop.Inner", {"x": 3}), '{"x":3}'),
    (["null", "int", "long", "string", INNER, COLOUR], None, None),
    (["int", "long"], 5, "5"),
    (["float", "double"], ("double", 0.25), "0.25"),
    (["boolean", "double"], ("double", float("nan")), "NaN"),
    (["null", "bytes", "string"], b"\xff", "/w=="),
    (MILLIS, 1_714_564_800_123, "1714564800123"),
    (MICROS, datetime(2024, 5, 1, 12, tzinfo=UTC), "1714564800000000"),
    (DAY, 19_844, "19844"),
    (DECIMAL, Decimal("1.23"), "ew=="),  # the bytes of 123
    (
        {"type": "string", "logicalType": "uuid"},
        "0" * 8 + "-0000-0000-0000-" + "0" * 12,
        "0" * 8 + "-0000-0000-0000-" + "0" * 12,
    ),
]


def test_each_type_has_its_value(spark: SparkRuntime) -> None:
    """Goal: longs are exact, logical types are the plain value beneath, null is null."""
    for begin in range(0, len(VALUES), 12):
        some = VALUES[begin : begin + 12]
        schema = record_of(**{f"f{n}": _own(kind, n) for n, (kind, _, _) in enumerate(some)})
        value = {f"f{n}": _named(held, n) for n, (_, held, _) in enumerate(some)}

        [row] = decoded(spark, rows_by(schema), [written(schema, value)], sorted(value))

        wanted = [told for _, told in sorted((f"f{n}", t) for n, (_, _, t) in enumerate(some))]
        assert row.reason is None
        assert list(row.columns) == wanted


def _own(kind: object, number: int) -> object:
    """Give the named types of a schema names of their own."""
    match kind:
        case {"name": str(name)}:
            return kind | {"name": f"{name}{number}"}
        case dict():
            return {key: _own(inner, number) for key, inner in kind.items()}
        case list():
            return [_own(inner, number) for inner in kind]
        case _:
            return kind


def _named(value: object, number: int) -> object:
    if isinstance(value, tuple) and value[0] == "shop.Inner":
        return (f"shop.Inner{number}", value[1])
    return value


def test_fields_have_types_where_a_column_wants_one(spark: SparkRuntime) -> None:
    schema = record_of(i="long", d="double", s="string", n=["null", "long", "string"])
    columns = [
        Column(name="i", type="long"),
        Column(name="d", type="double"),
        Column(name="s", type="long"),
        Column(name="n", type="json"),
    ]
    held = [
        {"i": 2**53 + 1, "d": float("inf"), "s": "12", "n": "x"},
        {"i": -1, "d": 0.1, "s": "twelve", "n": 3},
    ]

    rows = decoded(spark, rows_by(schema), [written(schema, one) for one in held], columns)

    assert [row.columns[0] for row in rows] == [2**53 + 1, -1]
    assert [row.columns[2] for row in rows] == [12, None]
    assert [row.columns[3] for row in rows] == ['"x"', "3"]
    assert [row.bad for row in rows] == [True, True]
    assert rows[1].columns[1] == 0.1
