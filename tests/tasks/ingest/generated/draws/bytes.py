"""Records of Avro and Protobuf with the fields of random specs, and the specs' part about them.

    Avro      each field is a union of all that it may hold
    Protobuf  most are a `google.protobuf.Value`, whose numbers are doubles; some are of one type

Both return beside the bytes what they say: not all that JSON says can be said in them.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import (
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.struct_pb2 import DESCRIPTOR as STRUCT
from pydantic import JsonValue

from tests.tasks.ingest.formats.avros import framed, written
from tests.tasks.ingest.formats.protobufs import class_of

WHOLE, REALS = "w two", "größe"
"""Fields that are of one type: in a message an int64, and doubles, which are so in Avro, too."""

Fields = Mapping[str, JsonValue]
Encoded = tuple[dict[str, JsonValue], bytes]
"""What a record says, and the record."""

_SCALARS: list[JsonValue] = ["null", "boolean", "long", "double", "string"]
_NUMBERS: list[JsonValue] = ["long", "double"]


def _map(values: JsonValue) -> JsonValue:
    return {"type": "map", "values": values}


_LISTS: JsonValue = {"type": "array", "items": _NUMBERS}
_ANYTHING: list[JsonValue] = [
    *_SCALARS,
    {"type": "array", "items": [*_SCALARS, _map(_NUMBERS)]},
    _map([*_SCALARS, _map(_LISTS)]),
]
"""What a wild field may hold, and no more: Spark takes long to compile what could be there."""
_AVRO: dict[str, list[JsonValue]] = {
    "t": [*_SCALARS, _map("long")],
    "g": ["null", "string"],
    "n": _SCALARS,
    "v": _SCALARS,
    "b": [*_SCALARS, {"type": "array", "items": ["null", "string"]}],
    "o": ["null", _map([*_SCALARS, _LISTS, _map("long")])],
    REALS: ["null", {"type": "array", "items": "double"}],
}
_MANY = 1
"""The byte before the number of a schema of several."""


def avro_format(names: Sequence[str], *, several: bool) -> dict[str, JsonValue]:
    """Return the input format of such records; with `several` some have not the last field."""
    whole = _schema(names)
    decoder: dict[str, JsonValue] = {"type": "schema_inline", "schema": whole}
    if several:
        schemas: JsonValue = {"1": whole, "2": _schema(names[:-1])}
        decoder = {"type": "multiple_schemas_inline", "schemas": schemas}
    return {"type": "avro_stream", "avroBytesDecoder": decoder}


def avro_record(names: Sequence[str], fields: Fields, *, several: bool) -> Encoded:
    """Write a record; of several schemas it has the one that has its fields and no more."""
    number = 2 if several and names[-1] not in fields else 1
    names = names[:-1] if number > 1 else names
    content = {name: fields.get(name) for name in names}
    body = written(_schema(names), content)
    return content, framed(number, body, _MANY) if several else body


def _schema(names: Sequence[str]) -> dict[str, JsonValue]:
    fields: list[JsonValue] = [{"name": name, "type": _AVRO.get(name, _ANYTHING)} for name in names]
    return {"type": "record", "name": "Click", "fields": fields}


def protobuf_format(names: Sequence[str], time_format: str) -> dict[str, JsonValue]:
    """Return the input format of such messages."""
    files = FileDescriptorSet(file=[_file(tuple(names), time_format)])
    text = base64.b64encode(files.SerializeToString()).decode()
    decoder: JsonValue = {
        "type": "inline",
        "descriptorString": text,
        "protoMessageType": "shop.Click",
    }
    return {"type": "protobuf", "protoBytesDecoder": decoder}


def protobuf_record(names: Sequence[str], fields: Fields, time_format: str) -> Encoded:
    """Write a message; a value that its field cannot hold is left out."""
    kinds = _kinds(tuple(names), time_format)
    content = {
        name: value
        for name, value in fields.items()
        if kinds[name] == "Value" or _fits(value, kinds[name])
    }
    kind = _message(tuple(names), time_format)
    text = json.dumps(content)
    message = json_format.Parse(text, kind())
    return content, message.SerializeToString()


def as_doubles(values: list[JsonValue]) -> list[JsonValue]:
    """Return what a `google.protobuf.Value` says of some values."""
    return [_as_double(value) for value in values]


def _as_double(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _as_double(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_double(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _fits(value: JsonValue, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "int64":
            return isinstance(value, int) and not isinstance(value, bool)
        case "double":
            return isinstance(value, float)
        case "Struct":
            return isinstance(value, dict)
        case _:
            return isinstance(value, list)


def _kinds(names: tuple[str, ...], time_format: str) -> dict[str, str]:
    times = {"posix": "double", "millis": "int64", "micro": "int64", "nano": "int64"}
    known = {"t": times.get(time_format, "string"), "g": "string", "o": "Struct"}
    known |= {WHOLE: "int64", REALS: "doubles"}
    return {name: known.get(name, "Value") for name in names}


@lru_cache(maxsize=8)
def _message(names: tuple[str, ...], time_format: str) -> Any:  # noqa: ANN401 -- a type[Message]
    struct = FileDescriptorProto()
    STRUCT.CopyToProto(struct)
    files = FileDescriptorSet(file=[struct, _file(names, time_format)])
    return class_of(files, "shop.Click")


def _file(names: tuple[str, ...], time_format: str) -> FileDescriptorProto:
    field = FieldDescriptorProto
    scalars = {"string": field.TYPE_STRING, "int64": field.TYPE_INT64, "double": field.TYPE_DOUBLE}
    file = FileDescriptorProto(name="click.proto", package="shop", dependency=[STRUCT.name])
    message = file.message_type.add(name="Click")
    for number, (name, kind) in enumerate(_kinds(names, time_format).items(), 1):
        one = message.field.add(name=f"f{number}", number=number, json_name=name)
        one.label = field.LABEL_REPEATED if kind == "doubles" else field.LABEL_OPTIONAL
        if kind in {"Value", "Struct"}:
            one.type, one.type_name = field.TYPE_MESSAGE, f".google.protobuf.{kind}"
        else:
            one.type = scalars[kind.removesuffix("s")]
    return file
