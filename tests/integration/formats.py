"""One record in each format, and what a spec says to read it."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import fastavro
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
)
