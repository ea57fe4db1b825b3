"""What the tests of Avro share: schemas, and records written by another implementation of it."""

import io
import json
import struct
from collections.abc import Sequence

import fastavro

from tasks.contract.ingest_spec import (
    AvroFormat,
    JsonFormat,
    JsonPath,
    OneSchema,
    RowSpec,
    TimestampSpec,
)
from tests.tasks.ingest.decoding import NOON

MISSING_IS_NOON = TimestampSpec(column="t", missing_value=NOON)


def written(schema: object, value: object) -> bytes:
    """Return the bytes of a record, as fastavro writes them."""
    held = io.BytesIO()
    fastavro.schemaless_writer(held, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return held.getvalue()


def framed(number: int, body: bytes, magic: int = 0) -> bytes:
    """Return a record behind the number of its schema."""
    return struct.pack(">bI", magic, number) + body


def record_of(**fields: object) -> dict[str, object]:
    """Return the schema of a record with such fields."""
    field_list = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "Click", "namespace": "shop", "fields": field_list}


def rows_by(
    schema: object,
    *,
    paths: Sequence[tuple[str, str]] = (),
    roots: tuple[str, ...] | None = None,
    binary_as_string: bool = False,
    unions_by_type: bool = False,
) -> RowSpec:
    """Return the rules for records of one schema, whose time may be missing."""
    fields = JsonFormat(paths=tuple(JsonPath(name=n, path=p) for n, p in paths), roots=roots)
    avro = AvroFormat(
        schemas=OneSchema(text=json.dumps(schema)),
        fields=fields,
        binary_as_string=binary_as_string,
        unions_by_type=unions_by_type,
    )
    return RowSpec(value_format=avro, timestamp=MISSING_IS_NOON)
