"""What the tests of Protobuf share: real descriptors, messages, and what each becomes as JSON.

`protos/*.desc` are what `protoc -I. --include_imports --descriptor_set_out=every.desc every.proto`
writes there.  What a message becomes is said by Python's library, field by field.
"""

import base64
import json
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message

from tasks.contract.ingest_spec import JsonFormat, JsonPath, OneMessage, ProtobufFormat, RowSpec
from tasks.ingest.decode.decode import decode
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import rows_of
from tests.tasks.ingest.formats.avros import MISSING_IS_NOON

EVERY = "shop.v1.Every"
OLD = "shop.Old"
_FOLDER = Path(__file__).parent / "protos"
_PLAIN_KINDS = {
    *("BoolValue", "Int32Value", "Int64Value", "UInt32Value", "UInt64Value"),
    *("FloatValue", "DoubleValue", "StringValue", "BytesValue"),
}


def held(name: str) -> FileDescriptorSet:
    """Return a set of files."""
    return FileDescriptorSet.FromString((_FOLDER / f"{name}.desc").read_bytes())


def text_of(files: FileDescriptorSet) -> str:
    """Return a set of files as a spec has it."""
    return base64.b64encode(files.SerializeToString()).decode()


def class_of(files: FileDescriptorSet, name: str) -> Any:  # noqa: ANN401 -- its fields are made now
    """Return the class of a message, a `type[Message]`."""
    pool = DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


Every = class_of(held("every"), EVERY)
Old = class_of(held("old"), OLD)


def rows_by(
    text: str,
    message: str,
    *,
    paths: tuple[tuple[str, str], ...] = (),
    roots: tuple[str, ...] | None = None,
) -> RowSpec:
    """Return the rules for records of one message, whose time may be missing."""
    fields = JsonFormat(paths=tuple(JsonPath(name=n, path=p) for n, p in paths), roots=roots)
    form = ProtobufFormat(schemas=OneMessage(text=text, message=message), fields=fields)
    return RowSpec(value_format=form, timestamp=MISSING_IS_NOON)


EVERY_ROWS = rows_by(text_of(held("every")), EVERY)
OLD_ROWS = rows_by(text_of(held("old")), OLD)

Found = tuple[str | None, object]
"""Why a record is none, and else what its JSON says."""


def found_in(spark: SparkRuntime, spec: RowSpec, values: list[bytes]) -> list[Found]:
    """Return what becomes of values, in their order."""
    rows = [(0, number, bytearray(value)) for number, value in enumerate(values)]
    records = spark.session.createDataFrame(rows, "p int, o long, v binary")
    frame = decode(records, spec, (), known=()).selectExpr("o", "reason", "s")
    return [_found(row["reason"], str(row["s"])) for row in rows_of(spark, frame)]


def _found(code: object, text: str) -> Found:
    if code == 0:
        return None, json.loads(text)
    assert isinstance(code, int)
    return list(RejectReason)[code - 1].value, None


def wanted_of(kind: type[Message], value: bytes) -> Found:
    """Return what must become of a value, as Python's library reads it."""
    message = kind()
    try:
        message.ParseFromString(value)
    except DecodeError:
        return "not-protobuf", None
    if not message.IsInitialized():
        return "not-protobuf", None
    try:
        return None, _object(message)
    except _NoTextError:
        return "not-protobuf", None


class _NoTextError(Exception):
    """A string of proto2 is no UTF-8: the library lets it be."""


def _object(message: Message) -> dict[str, object]:
    return {
        field.json_name: _value(field, value)
        for field, value in message.ListFields()
        if not field.is_extension
    }


def _value(field: FieldDescriptor, value: Any) -> object:  # noqa: ANN401 -- a container of its own
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        of = entry.fields_by_name["value"]
        return {_key(key): _one(of, value[key]) for key in value}
    if field.is_repeated:
        return [_one(field, one) for one in value]
    return _one(field, value)


def _key(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _one(field: FieldDescriptor, value: object) -> object:
    match value:
        case Message():
            return _message(value)
        case bytes() if field.type == field.TYPE_STRING:
            raise _NoTextError
        case bytes():
            return base64.b64encode(value).decode()
        case float():
            short = float(str(np.float32(value))) if field.type == field.TYPE_FLOAT else value
            return short if np.isfinite(value) else _special(value)
        case int() if field.enum_type is not None:
            if field.enum_type.full_name == "google.protobuf.NullValue":
                return None
            known = field.enum_type.values_by_number.get(value)
            return known.name if known else f"UNKNOWN_ENUM_VALUE_{field.enum_type.name}_{value}"
        case _:
            return value


def _special(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124


def _message(message: Any) -> object:  # noqa: ANN401 -- as above
    space, _, name = message.DESCRIPTOR.full_name.rpartition(".")
    fields = message.DESCRIPTOR.fields_by_name
    if space != "google.protobuf" or name in {"Any", "Empty"}:
        return _object(message)
    if name in _PLAIN_KINDS:
        return _one(fields["value"], message.value)
    if name == "Struct":
        return _value(fields["fields"], message.fields)
    if name == "ListValue":
        return _value(fields["values"], message.values)
    if name == "Value":
        return next((_value(field, value) for field, value in message.ListFields()), None)
    try:
        return message.ToJsonString()
    except ValueError:  # a moment or a length that there is not
        return _object(message)


_INTS = [0, 1, -1, 7, 127, 128, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1]
_FLOATS = [0.0, -0.0, 0.1, 1.5, -1e300, 1e-300, 5e-324, 3.4e38, *map(float, ("nan", "inf", "-inf"))]
_TEXTS = ["", "a", "ü", '"\\', "\x00\n\u2028", "\U0001f600", "x" * 200, "$name", "2024-05-01"]
_BLOBS = [b"", b"\0", b"\xff\xfe", bytes(range(256))]


def random_message(dice: Random, kind: Any, depth: int = 0) -> bytes:  # noqa: ANN401 -- as above
    """Return the bytes of a message of a type, with some of its fields set."""
    message = message_factory.GetMessageClass(kind)()
    for field in kind.fields:
        if dice.random() < (0.4 if depth == 0 else 0.3) or field.is_required:
            _set(dice, message, field, depth)
    return message.SerializePartialToString()


def _set(dice: Random, message: Message, field: FieldDescriptor, depth: int) -> None:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        for _ in range(dice.randrange(4)):
            key = _scalar(dice, entry.fields_by_name["key"])
            held_in = getattr(message, field.name)
            of = entry.fields_by_name["value"]
            if of.message_type is None:
                held_in[key] = _scalar(dice, of)
            else:
                held_in[key].MergeFromString(_inner(dice, of, depth))
    elif field.message_type is not None and field.is_repeated:
        for _ in range(dice.randrange(4)):
            getattr(message, field.name).add().MergeFromString(_inner(dice, field, depth))
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        inner.MergeFromString(_inner(dice, field, depth))
    elif field.is_repeated:
        getattr(message, field.name).extend(_scalar(dice, field) for _ in range(dice.randrange(4)))
    else:
        setattr(message, field.name, _scalar(dice, field))


def _inner(dice: Random, field: FieldDescriptor, depth: int) -> bytes:
    assert field.message_type is not None
    name = field.message_type.full_name
    if name == "google.protobuf.FieldMask":
        return b"\n\x07foo_bar" + b"\n\x05a.b_c" * dice.randrange(3)
    if depth > 4:
        return b""
    return random_message(dice, field.message_type, depth + 1)


def _scalar(dice: Random, field: FieldDescriptor) -> object:
    match field.cpp_type:
        case field.CPPTYPE_STRING:
            return dice.choice(_BLOBS if field.type == field.TYPE_BYTES else _TEXTS)
        case field.CPPTYPE_BOOL:
            return dice.random() < 0.5
        case field.CPPTYPE_FLOAT:
            value = dice.choice(_FLOATS)
            fits = not np.isfinite(value) or abs(value) < 3.5e38
            return struct.unpack("<f", struct.pack("<f", value))[0] if fits else 0.1
        case field.CPPTYPE_DOUBLE:
            return dice.choice([*_FLOATS, dice.random()])
        case field.CPPTYPE_ENUM:
            assert field.enum_type is not None
            known = [value.number for value in field.enum_type.values]
            return dice.choice(known if field.enum_type.is_closed else [*known, 7, -3])
        case kind:
            wide = kind in {field.CPPTYPE_INT64, field.CPPTYPE_UINT64}
            signed = kind in {field.CPPTYPE_INT32, field.CPPTYPE_INT64}
            value = dice.choice([*_INTS, dice.getrandbits(64)])
            bits = 64 if wide else 32
            value %= 2**bits
            return value - 2**bits if signed and value >= 2 ** (bits - 1) else value
