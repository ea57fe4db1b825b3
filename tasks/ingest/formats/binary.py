"""Records of bytes that only a schema explains: decoded to JSON text, and read on as that.

bytes ─► number of a schema ─► known? ─┬─ its JSON text, or that it is no record of it
└─ asked for, and the batch is read again
"""

from collections.abc import Iterable
from dataclasses import replace

from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import AvroFormat, BinaryFormat, RegistrySchemas
from tasks.ingest.formats.avro import avro_as_json
from tasks.ingest.formats.json import parse_json
from tasks.ingest.formats.parsed import NO_NUMBERS, Parsed, WantedFields
from tasks.ingest.formats.protobuf import protobuf_as_json
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas, framed, known_schemas
from tasks.rows.sql.text import text

_HEAD_BYTES = 5
_NUMBER_MAX = 2**31 - 1
"""No registry has a greater number; one that is asked for it says something that is no answer."""
_LINE_ENDS = "\r\n"
_SAMPLE_BYTES = 360
"""So many bytes of a record that is none are told, as base64: they fill a sample."""


def parse_binary(
    records: DataFrame, spec: BinaryFormat, wanted: WantedFields, answers: KnownSchemas
) -> Parsed:
    """Decode `v`; the frame gains `s`, and what `parse_json` adds to it."""
    known = known_schemas(spec, answers)
    lists = isinstance(spec, AvroFormat)  # Druid discovers no list of a message as text
    parsed = parse_json(as_json(records, spec, known), spec.fields, wanted, lists=lists)
    return replace(
        parsed, reason=_judge(spec, known), raw="v", missing_schemas=missing_schema_sql(spec, known)
    )


def as_json(records: DataFrame, spec: BinaryFormat, known: KnownSchemas) -> DataFrame:
    """Add `_id` (the schema's number), `_j` (the JSON of a record, else null) and `s` (a text).

    `s` is `_j`, or the first bytes of a value that is no record, as `base64:`.
    """
    head = framed(spec)
    if head is None:
        frame, body = records.selectExpr("*", "0 AS _id"), "v"
    else:
        number = "CAST(conv(hex(substring(v, 2, 4)), 16, 10) AS BIGINT)"
        starts = f"octet_length(v) >= {_HEAD_BYTES} AND hex(substring(v, 1, 1)) = '{head:02X}'"
        frame = records.selectExpr("*", f"CASE WHEN {starts} THEN {number} END AS _id")
        body = f"substring(v, {_HEAD_BYTES + 1})"
    if isinstance(spec, AvroFormat):
        decoded = avro_as_json(frame, spec, known, body)
    else:
        decoded = protobuf_as_json(frame, known)
    in_lines = f"base64(substring(v, 1, {_SAMPLE_BYTES}))"  # Spark's: of 76 characters each
    told = f"concat('base64:', translate({in_lines}, {text(_LINE_ENDS)}, ''))"
    return decoded.selectExpr("*", f"coalesce(_j, {told}) AS s")


def missing_schema_sql(spec: BinaryFormat, known: KnownSchemas) -> str:
    """Return the SQL of the number that is not known, as a list of one; null if it is known."""
    if not isinstance(spec.schemas, RegistrySchemas):
        return NO_NUMBERS
    settled = _among({*known.schemas, *known.missing, *known.unreadable})
    return f"CASE WHEN _id <= {_NUMBER_MAX} AND NOT {settled} THEN array(_id) END"


def reasons_of_form(spec: BinaryFormat) -> set[RejectReason]:
    """Return why a record's form may be none."""
    found = {_none_of(spec), RejectReason.UNKNOWN_SCHEMA, RejectReason.UNREADABLE_SCHEMA}
    return found if _may_be_empty(spec) else found | {RejectReason.EMPTY}


def _judge(spec: BinaryFormat, known: KnownSchemas) -> str:
    """Judge the record's form: 0, or the number of a reason."""
    none = _none_of(spec).code
    empty = f"WHEN octet_length(v) = 0 THEN {RejectReason.EMPTY.code} "
    return (
        f"CASE WHEN v IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"{'' if _may_be_empty(spec) else empty}"
        f"WHEN _id IS NULL THEN {none} "
        f"WHEN {_among(known.unreadable)} THEN {RejectReason.UNREADABLE_SCHEMA.code} "
        f"WHEN NOT {_among(known.schemas)} THEN {RejectReason.UNKNOWN_SCHEMA.code} "
        f"WHEN _j IS NULL THEN {none} ELSE 0 END"
    )


def _none_of(spec: BinaryFormat) -> RejectReason:
    return RejectReason.NOT_AVRO if spec.type == "avro" else RejectReason.NOT_PROTOBUF


def _may_be_empty(spec: BinaryFormat) -> bool:
    """No bytes are a message of which no field is set; a number of a schema takes some."""
    return spec.type == "protobuf" and framed(spec) is None


def _among(numbers: Iterable[int]) -> str:
    listed = ", ".join(str(number) for number in sorted(numbers))
    return f"(_id IN ({listed}))" if listed else "(false)"
