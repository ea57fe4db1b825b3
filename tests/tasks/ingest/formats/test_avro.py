"""Avro records: what each type becomes, and which bytes are no record.

Source: Druid's documentation, "Avro extension", "Avro types"; the Avro specification 1.12.
"""

import base64
import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.contract.ingest_spec import AvroFormat, Column, ManySchemas, NumberedSchema, RowSpec
from tasks.ingest.decode.decode import decode
from tasks.rows.schemas.avro_sql import MARK
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import decoded, rows_of
from tests.tasks.ingest.formats.avros import MISSING_IS_NOON, framed, record_of, rows_by, written

pytestmark = pytest.mark.spark

INNER = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": ["null", "int"]}]}
COLOUR = {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}
HASH = {"type": "fixed", "name": "Hash", "size": 3}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
DAY = {"type": "int", "logicalType": "date"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
DOUBLES = {"type": "array", "items": "double"}
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
    (DOUBLES, [1e10, 1e-5, 0.1], "[1.0E10,1.0E-5,0.1]"),
    (DOUBLES, [0.1] * 100, f"[{','.join(['0.1'] * 100)}]"),
    (DOUBLES, [float("nan"), float("-inf")], '["NaN","-Infinity"]'),
    (DOUBLES, [], "[]"),
    (["null", DOUBLES], None, None),
    ({"type": "array", "items": DOUBLES}, [[0.1], [], [1e-5]], "[[0.1],[],[1.0E-5]]"),
    ({"type": "map", "values": DOUBLES}, {"a": [0.1]}, '{"a":[0.1]}'),
    (["null", "string", DOUBLES], [0.1, 0.3], "[0.1,0.3]"),
    ({"type": "array", "items": ["null", "double"]}, [None, 0.1], "[null,0.1]"),
    ({"type": "array", "items": ["double"]}, [0.1], "[0.1]"),
    ({"type": "array", "items": "float"}, [0.5, 2.0**-20], "[0.5,9.536743E-7]"),
    ({"type": "array", "items": "long"}, [2**53 + 1] * 50, f"[{','.join([str(2**53 + 1)] * 50)}]"),
    ({"type": "array", "items": "boolean"}, [True, False] * 9, f"[{'true,false,' * 8}true,false]"),
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

        wanted = [text for _, text in sorted((f"f{n}", t) for n, (_, _, t) in enumerate(some))]
        assert row.reason is None
        assert list(row.columns) == wanted


def _own(kind: object, number: int) -> object:
    """Give the named types of a schema names of their own."""
    match kind:
        case dict():
            own = {key: _own(inner, number) for key, inner in kind.items()}
            return own | (
                {"name": f"{kind['name']}{number}"}
                if "symbols" in kind or "size" in kind or "fields" in kind
                else {}
            )
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


NESTED = record_of(
    tags={"type": "array", "items": ["null", "string"]},
    who=["null", INNER, "string"],
    raw="bytes",
    many={"type": "map", "values": ["int", "long"]},
)
HELD = {"tags": ["a", None], "who": {"x": 5}, "raw": b"\xe9t\xc3\xa9", "many": {"k": 2**40}}


def test_a_path_finds_what_lies_deeper(spark: SparkRuntime) -> None:
    """Source: Druid's documentation, "Avro types": unions may be extracted by their type."""
    paths = [("x", "$.who.x"), ("by_name", "$.who.Inner.x"), ("first", "$.tags[0]")]
    names = ["x", "by_name", "first", "many", "raw"]
    value = written(NESTED, HELD)

    [plain] = decoded(spark, rows_by(NESTED, paths=paths), [value], names)
    spec = rows_by(NESTED, paths=paths, unions_by_type=True, binary_as_string=True)
    [by_type] = decoded(spark, spec, [value], names)

    assert plain.columns == ("5", None, "a", f'{{"k":{2**40}}}', "6XTDqQ==")
    assert by_type.columns == (None, "5", "a", f'{{"k":{{"long":{2**40}}}}}', "\ufffdt\u00e9")


def test_only_the_fields_that_a_spec_wants_are_there(spark: SparkRuntime) -> None:
    value = written(NESTED, HELD)

    [all_of_it] = decoded(spark, rows_by(NESTED), [value], ["raw"], known=["raw"])
    [some] = decoded(spark, rows_by(NESTED, roots=("raw",)), [value], ["raw", "who"], ["raw"])

    assert sorted(all_of_it.unknown or []) == ["many", "tags", "who"]
    assert (some.columns, some.unknown) == (("6XTDqQ==", None), None)


def test_a_record_is_as_long_as_its_value(spark: SparkRuntime) -> None:
    """Goal: each part of a record, and a record with more after it, is none."""
    value = written(NESTED, HELD)
    parts = [value[:n] for n in range(len(value))]
    longer = [value + more for more in (b"\0", b"\xff", value, MARK[:1], MARK[:-1], MARK[1:])]

    rows = decoded(spark, rows_by(NESTED), [None, *parts, *longer, value], [])

    assert [row.reason for row in rows] == [
        *("null-value", "empty"),
        *["not-avro"] * (len(parts) - 1 + len(longer)),
        None,
    ]


def test_no_broken_record_fails_a_batch(spark: SparkRuntime) -> None:
    """Goal: neither a bit that fell over nor a length without its bytes, however great."""
    value = written(NESTED, HELD)
    flipped = [
        value[:n] + bytes([value[n] ^ (1 << bit)]) + value[n + 1 :]
        for n in range(len(value))
        for bit in range(8)
    ]
    numbers = [2**20, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -1, -(2**31), -(2**63)]
    great = [written("long", number) for number in numbers] + [b"\xff" * 12, b"\x80" * 12]
    lengths = [head + length for head in HEADS for length in great]
    followed = [length + value for length in lengths]

    rows = decoded(spark, rows_by(NESTED), [*flipped, *followed, *lengths, value], [])

    assert {row.reason for row in rows} == {None, "not-avro"}
    assert {row.reason for row in rows[-len(lengths) - 1 : -1]} == {"not-avro"}
    assert rows[-1].reason is None


HEADS = [b"", b"\x02", b"\x02\x02", b"\0\x04", b"\0\0", b"\0\0\0", b"\0\0\0\x02"]
"""Up to a list, its branch, a text in it; a text, the bytes, the map and a key of it."""


@settings(max_examples=2)
@given(st.lists(st.binary(max_size=80), min_size=200, max_size=400))
def test_no_bytes_fail_a_batch(spark: SparkRuntime, values: list[bytes]) -> None:
    rows = decoded(spark, rows_by(NESTED), list(values), [])

    assert {row.reason for row in rows} <= {None, "not-avro", "empty"}


def test_records_name_one_of_the_schemas_of_a_spec(spark: SparkRuntime) -> None:
    """Source: Druid's documentation, "Multiple Inline Schemas Based Avro Bytes Decoder"."""
    one, other = record_of(a="int"), record_of(b="string", a="long")
    schemas = tuple(
        NumberedSchema(number=n, text=json.dumps(schema)) for n, schema in ((1, one), (258, other))
    )
    avro = AvroFormat(schemas=ManySchemas(schemas=schemas))
    body = written(one, {"a": 3})
    records = [
        framed(1, body, magic=1),
        framed(258, written(other, {"b": "x", "a": 4}), magic=1),
        framed(2, body, magic=1),
        framed(1, body, magic=0),
        framed(258, body, magic=1),
        b"\1\0\0\0\1",
        b"\1\0\0",
    ]

    rows = decoded(
        spark, RowSpec(value_format=avro, timestamp=MISSING_IS_NOON), records, ["a", "b"]
    )

    assert [row.columns for row in rows[:2]] == [("3", None), ("4", "x")]
    assert [row.reason for row in rows[2:]] == ["unknown-schema", *["not-avro"] * 4]


def test_what_is_no_record_is_told_as_printable_text(spark: SparkRuntime) -> None:
    frame = spark.session.sql("SELECT 0 AS p, 1L AS o, X'00ff7b0a' AS v")
    judged = decode(frame, rows_by(record_of(a="int")), (), known=())

    [row] = rows_of(spark, judged.selectExpr("o", "s"))

    assert row["s"] == "base64:AP97Cg=="


def test_what_is_told_of_a_long_one_is_one_line_of_its_beginning(spark: SparkRuntime) -> None:
    """Goal: Spark's own base64 breaks a line after 76 characters."""
    sent = bytes(range(256)) * 2
    frame = spark.session.sql(f"SELECT 0 AS p, 1L AS o, X'{sent.hex()}' AS v")
    judged = decode(frame, rows_by(record_of(a="int")), (), known=())

    [row] = rows_of(spark, judged.selectExpr("o", "s"))

    assert row["s"] == f"base64:{base64.b64encode(sent[:360]).decode()}"
