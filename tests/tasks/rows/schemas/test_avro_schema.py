"""Which texts are schemas of records that can be read; the others are refused with their place."""

import json

import pytest

from tasks.rows.schemas.avro import (
    DEPTH_MAX,
    TYPES_MAX,
    Array,
    AvroSchemaError,
    BinaryType,
    Enumeration,
    Map,
    Record,
    Scalar,
    Union,
    read_schema,
)
from tasks.rows.schemas.avro_sql import Written, from_avro_sql, json_sql, spark_schema


def record(*fields: object, name: str = "R", **more: object) -> dict[str, object]:
    field_list = [{"name": f"f{n}", "type": kind} for n, kind in enumerate(fields)]
    return {"type": "record", "name": name, "fields": field_list} | more


def read(*fields: object) -> list[object]:
    return [kind for _, kind in read_schema(json.dumps(record(*fields))).fields]


INT = Scalar("int")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("int", INT),
        ({"type": "int", "logicalType": "date"}, INT),
        ({"type": {"type": "bytes", "logicalType": "decimal", "precision": 3}}, BinaryType()),
        ({"type": "fixed", "name": "F", "size": 4}, BinaryType("F", 4)),
        ({"type": "enum", "name": "a.b.E", "symbols": ["A"]}, Enumeration("E", ("A",))),
        ({"type": "array", "items": "int"}, Array(INT)),
        ({"type": "map", "values": ["null", "int"]}, Map(Union((Scalar("null"), INT)))),
        (record("int", name="Inner", namespace="other"), Record("Inner", (("f0", INT),))),
    ],
)
def test_a_type_is_what_its_bytes_are(written: object, found: object) -> None:
    """Source: the Avro specification: unknown attributes and logical types mean no other bytes."""
    assert read(written) == [found]


def test_names_are_found_as_their_namespaces_say() -> None:
    """Source: the Avro specification, "Names": a name without dots is of the enclosing one."""
    one = {"type": "enum", "name": "E", "symbols": ["A"]}
    inner = record(one, "E", "far.E", "near.E", name="Inner", namespace="near")
    far = {"type": "enum", "name": "far.E", "symbols": ["B"]}

    [_, inner_record] = read(far, inner)

    assert isinstance(inner_record, Record)
    kinds = [kind.symbols for _, kind in inner_record.fields if isinstance(kind, Enumeration)]
    assert kinds == [("A",), ("A",), ("B",), ("A",)]


def test_what_a_schema_refers_to_is_known_in_it() -> None:
    reference = json.dumps(record("int", name="shop.Item"))
    text = json.dumps(record({"type": "array", "items": "shop.Item"}))

    [(_, found)] = read_schema(text, [reference]).fields

    assert found == Array(Record("Item", (("f0", INT),)))


def doubled(times: int) -> object:
    """A schema whose size doubles with each level, though its text does not."""
    kind: object = record("int", name="R0")
    for level in range(1, times):
        kind = record(kind, f"R{level - 1}", name=f"R{level}")
    return kind


def deep(levels: int) -> object:
    kind: object = "int"
    for _ in range(levels):
        kind = {"type": "array", "items": kind}
    return kind


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nothing", "f0 names the type nothing, which is not declared"),
        (7, "f0 is no type"),
        ({}, "f0 is an object without a type"),
        ([], "f0 is a union of nothing"),
        (["int", "int"], "f0 is a union with one type twice"),
        (["int", ["string"]], "f0 is a union with a union in it"),
        ({"type": "array"}, "f0.items is no type"),
        ({"type": "array", "items": "null"}, "f0 is an array of what takes no byte"),
        ({"type": "array", "items": record("null", name="N")}, "of what takes no byte"),
        ({"type": "fixed", "name": "F", "size": 0}, "size must be 1 to"),
        ({"type": "fixed", "name": "F", "size": 2_000_000_000}, "size must be 1 to"),
        ({"type": "enum", "name": "E", "symbols": []}, "needs a list of symbols"),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "each once"),
        ({"type": "enum", "name": "E", "symbols": ["a b"]}, "must be names"),
        ({"type": "enum", "name": "int", "symbols": ["A"]}, "which Avro does not allow"),
        ({"type": "enum", "symbols": ["A"]}, "f0 needs a name"),
        (record(name="Empty"), "needs a list of fields"),
        (record("int", name="R"), "declares the type R a second time"),
        (["null", "R"], "f0.branch 1 is recursive: R holds itself"),
        ({"type": "map", "values": "R"}, "f0.values is recursive"),
        (doubled(25), "types, each counted where it is used"),
        (deep(DEPTH_MAX + 1), "nested more than"),
    ],
)
def test_a_schema_that_cannot_be_read_is_refused_with_its_place(
    written: object, message: str
) -> None:
    with pytest.raises(AvroSchemaError) as error:
        read(written)

    assert message in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        '"int"',
        "[" * 100_000,
        '{"type":"array","items":"int"}',
        '" "' * 300_000,
    ],
)
def test_what_is_no_schema_of_a_record_is_refused(text: str) -> None:
    with pytest.raises(AvroSchemaError):
        read_schema(text)


def test_the_largest_schema_is_written_in_bounded_sql() -> None:
    """Goal: what Spark is told grows with the types, not with how they are nested."""
    mixed = ["int", "string", record(*["int"] * 10, name="Inner")]
    schema = read_schema(json.dumps(record(mixed, *["long"] * (TYPES_MAX - 30))))
    nested = read_schema(json.dumps(record(deep(DEPTH_MAX - 2))))

    assert len(json_sql(schema, "a.v", Written())) < 100_000
    assert len(from_avro_sql(schema, "v")) < 200_000
    assert len(json_sql(nested, "a.v", Written())) < 10_000


def test_no_name_of_a_user_is_told_to_spark() -> None:
    text = json.dumps(record(["int", "long"], {"type": "enum", "name": "Secret", "symbols": ["A"]}))

    spark_text = spark_schema(read_schema(text))

    assert "Secret" not in spark_text
    assert '["int", "long", {"type": "enum", "name": "n0", "symbols": []}]' in spark_text
