"""One record in each format, the ways in which it is broken, and what a spec says to read it."""

import base64
import io
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import fastavro
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pb2 import FileDescriptorSet as Files
from google.protobuf.descriptor_pool import DescriptorPool
from pydantic import JsonValue

from tests.environment.brokers import Record
from tests.environment.registries import FakeRegistry

BAD_AMONG = 100
"""One of so many records cannot be read."""
COLUMNS: list[JsonValue] = ["id", "time", "user", "amount", "price"]
AVRO, PROTOBUF, OF_JSON, UNKNOWN = 1, 2, 3, 9
"""Numbers of schemas in the registry; the last is none of them."""
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


@dataclass(frozen=True)
class Click:
    """What a record says."""

    id: str
    time: str
    user: str
    amount: int
    price: float


@dataclass(frozen=True)
class Broken:
    """A record that becomes no row, why, and what people are shown of it, if that were not cut."""

    value: bytes
    reason: str
    shown: str


Row = tuple[object, ...]
"""Id, time, user, amount, price, then what a format takes from beside the value."""
Write = Callable[[Click], bytes]
Break = Callable[[Click], Broken]


@dataclass(frozen=True)
class Format:
    """How one topic is written and read."""

    name: str
    input_format: Mapping[str, JsonValue]
    write: Write
    breaks: tuple[Break, ...]
    """They take turns."""
    beside: tuple[str, ...] = ()
    """Columns that hold what stands beside the value: see `around` and `row`."""

    def record(self, number: int) -> Record:
        """What is sent."""
        value = self.broken(number).value if is_bad(number) else self.write(click(number))
        return around(number, value) if self.beside else Record(value)

    def broken(self, number: int) -> Broken:
        """A record that is bad, in one of the ways of this format."""
        return self.breaks[number // BAD_AMONG % len(self.breaks)](click(number))

    def row(self, number: int, at_ms: int) -> Row:
        """What a record becomes that can be read, and that has this time in Kafka."""
        at = _NOON + timedelta(seconds=number % 7_200)
        held = click(number)
        plain = (held.id, at, held.user, held.amount, held.price)
        return (*plain, *_of_beside(number, self.name, at_ms)) if self.beside else plain


def is_bad(number: int) -> bool:
    """Tell whether nobody can read this record: one of each hundred, now here and now there."""
    return number % BAD_AMONG == number // BAD_AMONG * 37 % BAD_AMONG


def click(number: int) -> Click:
    """What a record says, unless it is bad."""
    at = _NOON + timedelta(seconds=number % 7_200)
    at_text = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    return Click(f"r-{number}", at_text, f"user-{number % 97}", number % 1_000, number / 4)


# -- what stands beside a value ----------------------------------------------------------------

_TRACE = "trace"
BESIDE = ("kafka.key", f"kafka.header.{_TRACE}", "kafka.topic", "kafka.timestamp")


def around(number: int, value: bytes) -> Record:
    """Put a key and headers beside a value: none, one, several, and some that nobody can read."""
    key: bytes | None = b'{"shop":"s-%d","till":1}' % (number % 5)
    if number % 7 == 0:
        key = None
    elif number % 11 == 0:
        key = b"\xff{"
    trace = b"t-%d" % number if number % 5 else b"\xff-%d" % number
    headers = ((), ((_TRACE, trace),), ((_TRACE, b"old"), ("lang", None), (_TRACE, trace)))
    return Record(value, key, headers[number % 3])


def _of_beside(number: int, topic: str, at_ms: int) -> Row:
    key = f"s-{number % 5}" if number % 7 and number % 11 else None
    trace = f"t-{number}" if number % 5 else f"\ufffd-{number}"
    return key, trace if number % 3 else None, topic, at_ms


# -- texts -------------------------------------------------------------------------------------


def json_text(held: Click) -> bytes:
    """Write an object, as every JSON here is written."""
    return json.dumps(vars(held), separators=(",", ":")).encode()


def _separated(by: str) -> Write:
    return lambda held: by.join(str(value) for value in vars(held).values()).encode()


def _text(value: bytes, reason: str) -> Broken:
    return Broken(value, reason, value.decode(errors="replace"))


def _no_utf8(write: Write, reason: str) -> Break:
    return lambda held: _text(write(held).replace(b"user-", b"\xff\xfe"), reason)


def _two_lines(write: Write) -> Break:
    return lambda held: _text(write(held) + b"\n" + write(held), "not-a-line")


def _no_number(write: Write, reason: str) -> Break:
    def broken(held: Click) -> Broken:
        whole = write(replace(held, amount=123_456_789))
        return _text(whole.replace(b"123456789", b'"many"' if b"{" in whole else b"many"), reason)

    return broken


def json_breaks() -> tuple[Break, ...]:
    """The ways in which an object is broken."""
    return (
        lambda held: _text(json_text(held)[:-9], "not-json"),
        lambda held: _text(json_text(replace(held, user="x" * 900))[:-1], "not-json"),
        lambda held: _text(b"[%s]" % json_text(held), "not-an-object"),
        _no_utf8(json_text, "not-json"),
        _no_number(json_text, "unfit-value"),
    )


def _line_breaks(write: Write) -> tuple[Break, ...]:
    return (
        _two_lines(write),
        _no_utf8(write, "not-a-line"),
        lambda held: _text(held.id.encode(), "no-timestamp"),
        lambda held: _text(write(replace(held, time="yesterday")), "bad-timestamp"),
        _no_number(write, "unfit-value"),
    )


def _texts() -> tuple[Format, ...]:
    csv, tsv, bars = _separated(","), _separated("\t"), _separated("|")
    pattern = r"^([^|]+)\|([^|]+)\|([^|]+)\|(\d+)\|([\d.]+)$"
    return (
        Format("json", {"type": "json"}, json_text, json_breaks()),
        Format(
            "csv",
            {"type": "csv", "columns": COLUMNS},
            csv,
            (*_line_breaks(csv), lambda held: _text(b'"' + csv(held), "not-a-line")),
        ),
        Format("tsv", {"type": "tsv", "columns": COLUMNS}, tsv, _line_breaks(tsv)),
        Format(
            "regex",
            {"type": "regex", "pattern": pattern, "columns": COLUMNS},
            bars,
            (
                lambda held: _text(bars(held).rpartition(b"|")[0], "no-match"),
                _no_number(bars, "no-match"),
                _no_utf8(bars, "not-a-line"),
            ),
        ),
        Format(
            "kafka",
            {
                "type": "kafka",
                "valueFormat": {"type": "json"},
                "keyFormat": {"type": "json"},
                "headerFormat": {"type": "string"},
            },
            json_text,
            (*json_breaks(), lambda held: _text(b'{"id":"%s"}' % held.id.encode(), _TIMELESS)),
            BESIDE,
        ),
    )


# -- what is no text ---------------------------------------------------------------------------

_TIMELESS = "no-timestamp"


def _avro(held: Click) -> bytes:
    into = io.BytesIO()
    fastavro.schemaless_writer(into, _PARSED, vars(held))
    return into.getvalue()


_KINDS = {
    **dict.fromkeys(("id", "time", "user"), FieldDescriptorProto.TYPE_STRING),
    "amount": FieldDescriptorProto.TYPE_INT64,
    "price": FieldDescriptorProto.TYPE_DOUBLE,
}
_FILE = FileDescriptorProto(name="click.proto", syntax="proto2")
_FILE.message_type.add(name="Click").field.extend(
    FieldDescriptorProto(name=name, number=n, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL)
    for n, (name, kind) in enumerate(_KINDS.items(), start=1)
)
_POOL = DescriptorPool()
_POOL.AddSerializedFile(_FILE.SerializeToString())
_CLICK = message_factory.GetMessageClass(_POOL.FindMessageTypeByName("Click"))


def _protobuf(held: Click) -> bytes:
    return _CLICK(**vars(held)).SerializeToString()


def _framed(write: Write, number: int, places: bytes = b"") -> Write:
    return lambda held: struct.pack(">bI", 0, number) + places + write(held)


def _binary(write: Write, reason: str) -> Break:
    def broken(held: Click) -> Broken:
        value = write(held)
        return Broken(value, reason, f"base64:{base64.b64encode(value).decode()}")

    return broken


def _cut(write: Write, reason: str) -> Break:
    return _binary(lambda held: write(held)[:-3], reason)


def _odd_time(write: Write) -> Break:
    """A record that can be read, but for its time: people see it as JSON."""

    def broken(held: Click) -> Broken:
        odd = replace(held, time="yesterday")
        return Broken(write(odd), "bad-timestamp", json_text(odd).decode())

    return broken


def _framed_breaks(write: Write, framed: Write, reason: str) -> tuple[Break, ...]:
    return (
        _cut(framed, reason),
        _binary(_framed(write, UNKNOWN), "unknown-schema"),
        _binary(_framed(write, OF_JSON), "unreadable-schema"),
        _binary(json_text, reason),
        _odd_time(framed),
    )


def _inline() -> tuple[Format, ...]:
    no_avro, no_message = "not-avro", "not-protobuf"
    descriptors = base64.b64encode(Files(file=[_FILE]).SerializeToString()).decode()
    return (
        Format(
            "avro",
            {
                "type": "avro_stream",
                "avroBytesDecoder": {"type": "schema_inline", "schema": _SCHEMA},
            },
            _avro,
            (
                _cut(_avro, no_avro),
                _binary(lambda held: _avro(held) + b"\0", no_avro),
                _binary(json_text, no_avro),
                _odd_time(_avro),
            ),
        ),
        Format(
            "protobuf",
            {
                "type": "protobuf",
                "protoBytesDecoder": {"type": "inline", "descriptorString": descriptors},
            },
            _protobuf,
            (
                _cut(_protobuf, no_message),
                _binary(lambda held: _protobuf(held) + b"\x07", no_message),
                lambda held: Broken(
                    _CLICK(id=held.id).SerializeToString(), _TIMELESS, f'{{"id":"{held.id}"}}'
                ),
                _odd_time(_protobuf),
            ),
        ),
    )


def _by_registry(registry: FakeRegistry) -> tuple[Format, ...]:
    no_avro, no_message = "not-avro", "not-protobuf"
    asks: dict[str, JsonValue] = {"type": "schema_registry", "url": registry.url}
    avro, message = _framed(_avro, AVRO), _framed(_protobuf, PROTOBUF, b"\0")
    registry.register(AVRO, _SCHEMA)
    registry.register_file(PROTOBUF, _FILE.SerializeToString())
    registry.register(OF_JSON, {"type": "object"}, schemaType="JSON")
    for_messages = f"/schemas/ids/{OF_JSON}?format=serialized"
    registry.answers[for_messages] = registry.answers[f"/schemas/ids/{OF_JSON}"]
    return (
        Format(
            "avro-by-registry",
            {"type": "avro_stream", "avroBytesDecoder": asks},
            avro,
            _framed_breaks(_avro, avro, no_avro),
        ),
        Format(
            "protobuf-by-registry",
            {"type": "protobuf", "protoBytesDecoder": asks},
            message,
            (
                *_framed_breaks(_protobuf, message, no_message),
                _binary(_framed(_protobuf, PROTOBUF, b"\x02\x0a"), no_message),  # the sixth one
            ),
        ),
    )


def formats(registry: FakeRegistry) -> tuple[Format, ...]:
    """Every format, with what the registry has to have for those whose schemas lie there."""
    return (*_texts(), *_inline(), *_by_registry(registry))
