"""Texts of Avro and Protobuf that are no UTF-8: no column could hold them, as with JSON."""

import pytest
from google.protobuf.descriptor_pb2 import (
    Edition,
    FeatureSet,
    FieldDescriptorProto,
    FileDescriptorSet,
)

from tasks.contract.ingest_spec import Column
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import decoded
from tests.tasks.ingest.formats import protobufs
from tests.tasks.ingest.formats.avros import record_of, rows_by, written

pytestmark = pytest.mark.spark

HALF, CUT, LATIN = b"\xed\xa0\xbd", b"\xc3", b"Gr\xfc\xdfe"
"""Half a surrogate pair as three bytes, half a letter, and a text of another encoding."""
NO_TEXTS = (HALF, CUT, LATIN)
SOUND = ("", "Grüße", "\N{GRINNING FACE}", "\N{REPLACEMENT CHARACTER}", 'a\\ud83d"\0\n')
WITHIN = {"type": "record", "name": "Within", "fields": [{"name": "t", "type": "string"}]}
KINDS: dict[str, object] = {
    "text": "string",
    "maybe": ["null", "string"],
    "either": ["string", "long", "null"],
    "list": {"type": "array", "items": "string"},
    "keys": {"type": "map", "values": "long"},
    "values": {"type": "map", "values": ["null", "string"]},
    "deep": {"type": "array", "items": {"type": "map", "values": ["null", WITHIN, "long"]}},
}
PLACED: dict[str, object] = {
    "text": "@",
    "maybe": "@",
    "either": "@",
    "list": ["a", "@"],
    "keys": {"@": 1},
    "values": {"k": "@", "none": None},
    "deep": [{"none": None}, {"k": {"t": "@"}}],
}


def _put(held: object, text: str) -> object:
    match held:
        case "@":
            return text
        case list():
            return [_put(each, text) for each in held]
        case dict():
            return {_put(key, text): _put(each, text) for key, each in held.items()}
        case _:
            return held


SCHEMA = record_of(n="long", **KINDS)


def _values(kind: str, text: str) -> dict[str, object]:
    texts = dict.fromkeys(KINDS, "ok") | {kind: text}
    return {"n": 7} | {each: _put(PLACED[each], texts[each]) for each in KINDS}


def _record(kind: str, text: bytes) -> bytes:
    """A record with these bytes in the place of a text of as many."""
    marked = "@" * len(text)
    whole = written(SCHEMA, _values(kind, marked))
    assert whole.count(marked.encode()) == 1
    return whole.replace(marked.encode(), text)


def test_an_avro_record_with_a_text_that_is_none_is_no_record(spark: SparkRuntime) -> None:
    """Goal: no row has another text than was sent.  Source: Avro 1.12, "string"."""
    whole = [_record(kind, text) for kind in KINDS for text in NO_TEXTS]
    whole += [written(SCHEMA, _values(kind, text)) for kind in KINDS for text in SOUND]

    columns: list[Column | str] = [Column(name="n", type="long"), "text", "maybe"]
    decoded_rows = decoded(spark, rows_by(SCHEMA), whole, columns)

    bad = len(KINDS) * len(NO_TEXTS)
    assert [row.reason for row in decoded_rows[:bad]] == ["not-avro"] * bad
    assert [row.reason for row in decoded_rows[bad:]] == [None] * (len(KINDS) * len(SOUND))
    assert all(row.columns[0] == 7 for row in decoded_rows[bad:])
    assert [row.columns[1] for row in decoded_rows[bad:]][: len(SOUND)] == list(SOUND)


def test_bytes_of_avro_that_are_to_be_text_are_mended(spark: SparkRuntime) -> None:
    """Goal: bytes promise no text: the spec asks for what of them is one.  Source: Druid."""
    schema = record_of(it="bytes", text="string")
    rules = rows_by(schema, binary_as_string=True)

    [row] = decoded(spark, rules, [written(schema, {"it": LATIN, "text": "ok"})], ["it", "text"])

    assert (row.reason, row.columns) == (None, ("Gr\ufffd\ufffde", "ok"))


def _file(syntax: str) -> FileDescriptorSet:
    held = FileDescriptorSet()
    file = held.file.add(name="text.proto", package="t", syntax=syntax)
    message = file.message_type.add(name="Text")
    kinds = FieldDescriptorProto
    message.field.add(name="n", number=1, type=kinds.TYPE_INT64, label=kinds.LABEL_OPTIONAL)
    message.field.add(name="one", number=2, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
    message.field.add(name="many", number=3, type=kinds.TYPE_STRING, label=kinds.LABEL_REPEATED)
    if syntax == "editions":
        file.edition = Edition.EDITION_2023
        file.options.features.utf8_validation = FeatureSet.Utf8Validation.NONE
        for field in message.field:
            field.ClearField("label") if field.number == 1 else None
            if field.type == kinds.TYPE_STRING:
                field.options.features.utf8_validation = FeatureSet.Utf8Validation.NONE
    return held


@pytest.mark.parametrize("syntax", ["proto2", "proto3", "editions"])
def test_a_message_with_a_text_that_is_none_is_no_message(spark: SparkRuntime, syntax: str) -> None:
    """Goal: one rule for all texts, whatever the file lets its writers do."""
    rules = protobufs.rows_by(protobufs.text_of(_file(syntax)), "t.Text")
    sound = SOUND[1:]  # an empty one is not sent
    texts = [*NO_TEXTS, *(text.encode() for text in sound)]
    values = [
        b"\x08\x07" + bytes([number << 3 | 2, len(text)]) + text
        for number in (2, 3)
        for text in texts
    ]

    decoded_rows = decoded(spark, rules, values, [Column(name="n", type="long"), "one"])

    wanted = ["not-protobuf"] * len(NO_TEXTS) + [None] * len(sound)
    assert [row.reason for row in decoded_rows] == 2 * wanted
    assert [row.columns[1] for row in decoded_rows[len(NO_TEXTS) : len(texts)]] == list(sound)
