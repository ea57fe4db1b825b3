"""Protobuf messages: what each kind of field becomes, and which bytes are no message.

Source: the documentation of Protocol Buffers, "Encoding" and "ProtoJSON Format"; what Druid's
extension for Protobuf writes, from its own tests and documentation.
"""

import re
from random import Random
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tasks.contract.ingest_spec import Column, RowSpec
from tasks.ingest.decode.decode import decode
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import decoded, rows_of
from tests.tasks.ingest.formats.protobufs import (
    EVERY,
    EVERY_ROWS,
    OLD_ROWS,
    Every,
    Found,
    Old,
    found_in,
    held,
    random_message,
    rows_by,
    text_of,
    wanted_of,
)

pytestmark = pytest.mark.spark


def test_any_message_becomes_what_pythons_library_says(spark: SparkRuntime) -> None:
    """Goal: 600 messages of every kind of field; another library of Protobuf is the oracle."""
    for kind, spec in ((Every, EVERY_ROWS), (Old, OLD_ROWS)):
        dice = Random(11)
        values = [random_message(dice, kind.DESCRIPTOR) for _ in range(300)]

        outcomes = found_in(spark, spec, values)

        wanted = [wanted_of(kind, value) for value in values]
        for one, other, value in zip(outcomes, wanted, values, strict=True):
            assert one == other, value.hex()
        assert all(reason is None for reason, _ in wanted)


@pytest.mark.parametrize(("kind", "spec"), [(Every, EVERY_ROWS), (Old, OLD_ROWS)], ids=["3", "2"])
def test_broken_bytes_are_rejected_or_read_as_pythons_library_reads_them(
    spark: SparkRuntime,
    kind: Any,  # noqa: ANN401 -- a class of the library's making
    spec: RowSpec,
) -> None:
    """Goal: truncations, bits that fell over, noise: no batch fails, two libraries agree."""
    dice = Random(5)
    whole = [random_message(dice, kind.DESCRIPTOR) for _ in range(12)]
    cut = [value[:n] for value in whole for n in range(0, len(value), 1 + len(value) // 60)]
    fallen = [_fallen(dice, dice.choice(whole)) for _ in range(600)]
    noise = [dice.randbytes(dice.randrange(1, 40)) for _ in range(400)]
    values = [*cut, *fallen, *noise, *ODD_BYTES]

    outcomes = found_in(spark, spec, values)

    wanted = [wanted_of(kind, value) for value in values]
    others = [
        value
        for one, other, value in zip(outcomes, wanted, values, strict=True)
        if _agreed(one) != _agreed(other)
    ]
    assert [value.hex() for value in others if _LONG_NUMBER.search(value) is None] == []
    assert len(others) < len(values) / 100
    assert {reason for reason, _ in outcomes} == {None, "not-protobuf"}


_LONG_NUMBER = re.compile(rb"[\x80-\xff]{5}")
"""Numbers written with more bits than they have: Java's library and Python's cut them elsewhere."""


def _agreed(outcome: Found) -> Found:
    """Leave out what the libraries read otherwise: map entries with unknown fields, and masks."""
    reason, fields = outcome
    if not isinstance(fields, dict):
        return outcome
    return reason, {k: v for k, v in fields.items() if not re.match("by|.*By", k) and k != "mask"}


def _fallen(dice: Random, value: bytes) -> bytes:
    if not value:
        return b"\xff"
    at = dice.randrange(len(value))
    return value[:at] + bytes([value[at] ^ (1 << dice.randrange(8))]) + value[at + 1 :]


ODD_BYTES = [
    *(b"\xff" * 12, b"\x80" * 12, b"\0", b"\x08", b"\x0b", b"\x0c", b"\x0b\x0c", b"\x07"),
    *(b"\x72\xff\xff\xff\xff\x07", b"\x72\xff\xff\xff\xff\x0f", b"\x72" + b"\xff" * 9 + b"\x01"),
    *(
        b"\x72\xff\xff\xff\xff\x7fabc",
        b"\x72\x02\xc3",
        b"\x72\x02\xc3\x28",
        b"\x72\x03\xed\xa0\x80",
    ),
    *(b"\xfa\x01\xff\xff\xff\xff\x07", b"\x82\x01\x00", b"\xf2\xff\xff\xff\xff\x0f"),
]
"""Ends, groups and lengths that there are not; texts that are no UTF-8; unknown fields."""


def nested(levels: int) -> bytes:
    """The bytes of messages within messages, so many."""
    value = b"\x08\x01"
    for _ in range(levels - 1):
        value = b"\x12" + _varint(len(value)) + value
    return b"\x8a\x01" + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    low, more = number & 127, number >> 7
    return bytes([low | 128]) + _varint(more) if more else bytes([low])


def test_messages_within_messages_have_an_end(spark: SparkRuntime) -> None:
    """Goal: a hundred are read, whatever is deeper is no message, however deep."""
    outcomes = found_in(
        spark, EVERY_ROWS, [nested(n) for n in (1, 50, 100, 101, 102, 5_000, 100_000)]
    )

    deep = outcomes[2][1]
    assert [reason for reason, _ in outcomes] == [None, None, None, *["not-protobuf"] * 4]
    assert isinstance(deep, dict)
    assert str(deep).count("inner") == 100


def test_a_record_cannot_ask_for_a_text_without_end(spark: SparkRuntime) -> None:
    """Goal: a byte may become thirty characters; 64 MiB of them are enough."""
    many = 2_400_000
    value = b"\x9a\x02" + _varint(many) + b"\x07" * many  # enums without a name

    outcomes = found_in(spark, EVERY_ROWS, [value, b"\x9a\x02\x01\x07"])

    unknown = "UNKNOWN_ENUM_VALUE_Colour_7"
    assert outcomes == [("not-protobuf", None), (None, {"colours": [unknown]})]


def test_no_bytes_are_a_message_of_which_no_field_is_set(spark: SparkRuntime) -> None:
    """Source: Druid reads them too; a record without a value is a tombstone all the same."""
    spec = EVERY_ROWS

    rows = decoded(spark, spec, [b"", None], ["aString", "anInt64"])

    assert [row.reason for row in rows] == [None, "null-value"]
    assert rows[0].columns == (None, None)


KINDS: list[tuple[dict[str, object], str, str | None]] = [
    # fields of the message, name of the column, its text
    ({"an_int64": -(2**63)}, "anInt64", str(-(2**63))),
    ({"a_uint64": 2**64 - 1}, "aUint64", str(2**64 - 1)),
    ({"a_fixed64": 2**63}, "aFixed64", str(2**63)),
    ({"a_uint32": 2**32 - 1}, "aUint32", str(2**32 - 1)),
    ({"a_float": 0.1}, "aFloat", "0.1"),
    ({"a_double": 1e300}, "aDouble", "1.0E300"),
    ({"a_double": float("nan")}, "aDouble", "NaN"),
    ({"a_float": float("-inf")}, "aFloat", "-Infinity"),
    ({"a_string": 'a"b\\c\u0000ü\U0001f600\n{}$'}, "aString", 'a"b\\c\u0000ü\U0001f600\n{}$'),
    ({"some_bytes": b"\x00\xff{"}, "someBytes", "AP97"),
    ({"colour": 2}, "colour", "GREEN"),
    ({"colour": 9}, "colour", "UNKNOWN_ENUM_VALUE_Colour_9"),
    ({"an_int32": 0}, "anInt32", None),
    ({"maybe_int": 0}, "maybeInt", "0"),
    ({"maybe_text": ""}, "maybeText", ""),
    ({"chosen_int": 0}, "chosenInt", "0"),
    ({"uint64s": [2**63, 0]}, "uint64s", f"[{2**63},0]"),
    ({"doubles": [1e10, 1e-5, 2.0]}, "doubles", "[1.0E10,1.0E-5,2.0]"),
    ({"texts": ["a", ""]}, "texts", '["a",""]'),
    ({"by_text": {"z": 2**62, "a b": 0}}, "byText", f'{{"a b":0,"z":{2**62}}}'),
    ({"by_bool": {True: 0.5}}, "byBool", '{"true":0.5}'),
    ({"inner": {"x": 5}}, "inner", '{"x":5}'),
    ({"inner": {}}, "inner", "{}"),
    ({"price": {"currency": "EUR", "units": 3}}, "price", '{"currency":"EUR","units":3}'),
    ({"at": {"seconds": 1_714_564_800, "nanos": 120_000_000}}, "at", "2024-05-01T12:00:00.120Z"),
    ({"took": {"seconds": -1, "nanos": -500_000_000}}, "took", "-1.500s"),
    ({"mask": {"paths": ["foo_bar", "a.b_c"]}}, "mask", "fooBar,a.bC"),
    ({"wrapped_uint64": {"value": 2**63}}, "wrappedUint64", str(2**63)),
    ({"wrapped_int32": {}}, "wrappedInt32", "0"),
    ({"wrapped_text": {"value": "x"}}, "wrappedText", "x"),
    ({"times": [{"seconds": 1}]}, "times", '["1970-01-01T00:00:01Z"]'),
    ({"free": {"a": [1, None, {"b": True}]}}, "free", '{"a":[1.0,null,{"b":true}]}'),
    ({"any": {"type_url": "x/y", "value": b"\1"}}, "any", '{"typeUrl":"x/y","value":"AQ=="}'),
    ({"with_name": "x"}, "$odd name", "x"),
    ({"Upper_CASE_2x": "x"}, "UpperCASE2x", "x"),
]


def test_each_kind_of_field_has_its_value(spark: SparkRuntime) -> None:
    """Goal: numbers are exact, a field that is not set is null, names are those of JSON."""
    values = [Every(**fields).SerializeToString() for fields, _, _ in KINDS]
    names = list(dict.fromkeys(name for _, name, _ in KINDS))

    rows = decoded(spark, EVERY_ROWS, values, names)

    assert {row.reason for row in rows} == {None}
    texts = [row.columns[names.index(name)] for row, (_, name, _) in zip(rows, KINDS, strict=True)]
    assert texts == [text for _, _, text in KINDS]


def test_old_messages_have_required_fields_groups_and_defaults_that_are_not_sent(
    spark: SparkRuntime,
) -> None:
    group = b"\x23\x28\x07\x24"
    extension = b"\xa0\x06\x05"
    values = [b"\x08\x01", b"", b"\x08\x01" + group + extension, b"\x08\x01\x33\x34"]

    found = found_in(spark, OLD_ROWS, values)

    assert found == [
        (None, {"id": 1}),
        ("not-protobuf", None),
        (None, {"id": 1, "item": [{"n": 7}]}),
        ("not-protobuf", None),  # a group without its required field
    ]


def test_fields_have_types_where_a_column_wants_one(spark: SparkRuntime) -> None:
    columns = [
        Column(name="anInt64", type="long"),
        Column(name="aDouble", type="double"),
        Column(name="aString", type="long"),
        Column(name="inner", type="json"),
        Column(name="texts", type="array<string>"),
    ]
    first = Every(an_int64=2**53 + 1, a_double=0.1, a_string="12", texts=["a", "b"])
    first.inner.x = 1
    second = Every(a_double=float("inf"), a_string="twelve")

    rows = decoded(
        spark, EVERY_ROWS, [first.SerializeToString(), second.SerializeToString()], columns
    )

    assert rows[0].columns == (2**53 + 1, 0.1, 12, '{"x":1}', ["a", "b"])
    assert rows[1].columns == (None, None, None, None, None)
    assert [row.bad for row in rows] == [False, True]


def test_a_path_finds_what_lies_deeper_and_roots_bound_what_is_there(spark: SparkRuntime) -> None:
    text = text_of(held("every"))
    value = Every(a_string="x", texts=["a"])
    value.inner.inner.x = 7
    value.by_text["k"] = 2
    paths = (("deep", "$.inner.inner.x"), ("k", "$.byText.k"), ("first", "$.texts[0]"))
    names = ["deep", "k", "first", "aString"]

    [row] = decoded(spark, rows_by(text, EVERY, paths=paths), [value.SerializeToString()], names)
    spec = rows_by(text, EVERY, roots=("texts",))
    [some] = decoded(spark, spec, [value.SerializeToString()], ["texts", "aString"], ["texts"])

    assert row.columns == ("7", "2", "a", "x")
    assert (some.columns, some.unknown) == (('["a"]', None), None)


def test_what_is_no_message_is_told_as_printable_text(spark: SparkRuntime) -> None:
    frame = spark.session.sql("SELECT 0 AS p, 1L AS o, X'00ff7b0a' AS v")

    [row] = rows_of(spark, decode(frame, EVERY_ROWS, (), known=()).selectExpr("o", "s"))

    assert row["s"] == "base64:AP97Cg=="


def test_files_that_use_options_of_their_own_are_read(spark: SparkRuntime) -> None:
    """Goal: descriptor.proto among the imports is nothing that only one of the libraries takes."""
    files = FileDescriptorSet()
    files.file.add(
        name="own.proto",
        package="own",
        syntax="proto3",
        dependency=["google/protobuf/descriptor.proto"],
    ).message_type.add(name="Own").field.add(name="a_b", number=1, type="TYPE_INT32", label=1)

    [found] = found_in(spark, rows_by(text_of(files), "own.Own"), [b"\x08\x05"])

    assert found == (None, {"aB": 5})
