"""Records that are one Avro record each: decoded to JSON text, and read on as that.

What is no record of its schema is `not-avro`, also what ends early or has bytes left over.
"""

from collections.abc import Iterable
from dataclasses import replace

from pyspark.sql import DataFrame

from tasks.avro_sql import MARK, Written, from_avro_sql, json_sql
from tasks.ingest.parse_json import parse_json
from tasks.ingest.parsed import NO_NUMBERS, Parsed, Wanted
from tasks.ingest.reasons import RejectReason
from tasks.ingest.schemas import Answers, framed, known_schemas
from tasks.ingest_spec import AvroFormat, ManySchemas, OneSchema

_HEAD_BYTES = 5
_NUMBER_MAX = 2**31 - 1
"""No registry has a greater number; one that is asked for it says something that is no answer."""
_SAMPLE_BYTES = 360
"""So many bytes of a record that is not Avro are told, as base64: they fill a sample."""


def parse_avro(records: DataFrame, spec: AvroFormat, wanted: Wanted, answers: Answers) -> Parsed:
    """Decode `v`; the frame gains `s`, and what `parse_json` adds to it."""
    known = known_schemas(spec, answers)
    parsed = parse_json(as_json(records, spec, known), spec.fields, wanted)
    return replace(parsed, reason=_judge(known), raw="v", asked=asked_sql(spec, known))


def as_json(records: DataFrame, spec: AvroFormat, known: Answers) -> DataFrame:
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
    decoded = [
        f"CASE WHEN _id = {number} THEN {from_avro_sql(record, body)} END AS _a{number}"
        for number, record in known.found.items()
    ]
    written = Written(spec.binary_as_string, spec.unions_by_type)
    cases = " ".join(
        f"WHEN _a{number}.e <=> X'{MARK.hex()}' THEN {json_sql(record, f'_a{number}.v', written)}"
        for number, record in known.found.items()
    )
    told = f"concat('base64:', base64(substring(v, 1, {_SAMPLE_BYTES})))"
    return (
        frame.selectExpr("*", *decoded)
        .selectExpr("*", f"CASE {cases} END AS _j" if cases else "CAST(NULL AS STRING) AS _j")
        .selectExpr("*", f"coalesce(_j, {told}) AS s")
    )


def asked_sql(spec: AvroFormat, known: Answers) -> str:
    """Return the SQL of the number that is not known, as a list of one; null if it is known."""
    if isinstance(spec.schemas, OneSchema | ManySchemas):
        return NO_NUMBERS
    settled = _among({*known.found, *known.missing, *known.unreadable})
    return f"CASE WHEN _id <= {_NUMBER_MAX} AND NOT {settled} THEN array(_id) END"


def _judge(known: Answers) -> str:
    """Judge the record's form: 0, or the number of a reason."""
    return (
        f"CASE WHEN v IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"WHEN octet_length(v) = 0 THEN {RejectReason.EMPTY.code} "
        f"WHEN _id IS NULL THEN {RejectReason.NOT_AVRO.code} "
        f"WHEN {_among(known.unreadable)} THEN {RejectReason.UNREADABLE_SCHEMA.code} "
        f"WHEN NOT {_among(known.found)} THEN {RejectReason.UNKNOWN_SCHEMA.code} "
        f"WHEN _j IS NULL THEN {RejectReason.NOT_AVRO.code} ELSE 0 END"
    )


def _among(numbers: Iterable[int]) -> str:
    listed = ", ".join(str(number) for number in sorted(numbers))
    return f"(_id IN ({listed}))" if listed else "(false)"
