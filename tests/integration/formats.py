"""One record in each format, and what a spec says to read it."""

import base64
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import fastavro
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from pydantic import JsonValue

BAD_EVERY = 100
"""Every so many-th record cannot be read."""
COLUMNS: list[JsonValue] = ["id", "time", "user", "amount", "price"]
_NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
_SCHEMA: dict[str, JsonValue] = {
    "type": "record",
    "name": "Click",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "time", "type": "string"},
        {"name": "user", "type": "string"},
        {"name": "amount", "type": "long"},
        {"name": "price", "type": "double"},
    ],
}
_PARSED = fastavro.parse_schema(dict(_SCHEMA))

Row = tuple[str, datetime, str, int, float]
"""Id, time, user, amount, price: what a record becomes."""


@dataclass(frozen=True)
class Format:
    """How one topic is written and read."""

    name: str
    input_format: Mapping[str, JsonValue]
    write: Callable[[Row], bytes]

    def record(self, number: int) -> bytes:
        """The bytes of a record."""
        return b"broken %d" % number if is_bad(number) else self.write(row(number))


def is_bad(number: int) -> bool:
    """Tell whether nobody can read this record."""
    return number % BAD_EVERY == BAD_EVERY - 1


def row(number: int) -> Row:
    """What a record becomes that can be read."""
    at = _NOON + timedelta(seconds=number % 7_200)
    return f"r-{number}", at, f"user-{number % 97}", number % 1_000, number / 4


def _json(wanted: Row) -> bytes:
    name, at, user, amount, price = wanted
    text = f'"time":"{at:%Y-%m-%dT%H:%M:%SZ}","user":"{user}","amount":{amount},"price":{price}'
    return f'{{"id":"{name}",{text}}}'.encode()


def _separated(by: str) -> Callable[[Row], bytes]:
    def write(wanted: Row) -> bytes:
        name, at, user, amount, price = wanted
        return by.join((name, f"{at:%Y-%m-%dT%H:%M:%SZ}", user, str(amount), str(price))).encode()

    return write


def _avro(wanted: Row) -> bytes:
    name, at, user, amount, price = wanted
    held = io.BytesIO()
    value = {"id": name, "user": user, "amount": amount, "price": price}
    fastavro.schemaless_writer(held, _PARSED, value | {"time": f"{at:%Y-%m-%dT%H:%M:%SZ}"})
    return held.getvalue()


_KINDS = {
    **dict.fromkeys(("id", "time", "user"), FieldDescriptorProto.TYPE_STRING),
    "amount": FieldDescriptorProto.TYPE_INT64,
    "price": FieldDescriptorProto.TYPE_DOUBLE,
}
_FILES = FileDescriptorSet()
_FILES.file.add(name="click.proto", syntax="proto2").message_type.add(name="Click").field.extend(
    FieldDescriptorProto(name=name, number=n, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL)
    for n, (name, kind) in enumerate(_KINDS.items(), start=1)
)
_POOL = DescriptorPool()
_POOL.AddSerializedFile(_FILES.file[0].SerializeToString())
_CLICK = message_factory.GetMessageClass(_POOL.FindMessageTypeByName("Click"))


def _protobuf(wanted: Row) -> bytes:
    name, at, user, amount, price = wanted
    time = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    return _CLICK(id=name, time=time, user=user, amount=amount, price=price).SerializeToString()


FORMATS = (
    Format("json", {"type": "json"}, _json),
    Format("csv", {"type": "csv", "columns": COLUMNS}, _separated(",")),
    Format("tsv", {"type": "tsv", "columns": COLUMNS}, _separated("\t")),
    Format(
        "regex",
        {
            "type": "regex",
            "pattern": r"^([^|]+)\|([^|]+)\|([^|]+)\|(\d+)\|([\d.]+)$",
            "columns": COLUMNS,
        },
        _separated("|"),
    ),
    Format("kafka", {"type": "kafka", "valueFormat": {"type": "json"}}, _json),
    Format(
        "avro",
        {
            "type": "avro_stream",
            "avroBytesDecoder": {"type": "schema_inline", "schema": _SCHEMA},
        },
        _avro,
    ),
    Format(
        "protobuf",
        {
            "type": "protobuf",
            "protoBytesDecoder": {
                "type": "inline",
                "descriptorString": base64.b64encode(_FILES.SerializeToString()).decode(),
            },
        },
        _protobuf,
    ),
)
