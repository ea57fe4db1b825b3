"""Conversion of Avro records to JSON text; bytes that are no record of their schema have none.

Such bytes end early, have bytes left over, or have a text that is no UTF-8.  Java turns such a text
into one with U+FFFD, which is rare in valid texts, so only texts with U+FFFD are checked closely.
"""

from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import AvroFormat
from tasks.ingest.formats.binary import BinaryReader
from tasks.ingest.formats.json import named_in
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas, held_fields
from tasks.rows.schemas.avro import Record
from tasks.rows.schemas.avro_sql import MARK, Written, from_avro_sql, json_sql, no_text_sql

_REPLACED = "\N{REPLACEMENT CHARACTER}"


def avro_reader(spec: AvroFormat) -> BinaryReader:
    """Return the reader of Avro."""

    def names(flat: bool) -> frozenset[str]:
        held = held_fields(spec, flat=flat) if spec.fields.roots is None else ()
        return named_in(spec.fields) | set(held)

    def decode(frame: DataFrame, known: KnownSchemas, body: str) -> DataFrame:
        return _decode(frame, spec, known, body)

    return BinaryReader(spec, decode, names, RejectReason.NOT_AVRO)


def _decode(frame: DataFrame, spec: AvroFormat, known: KnownSchemas, body: str) -> DataFrame:
    records = {n: one for n, one in known.schemas.items() if isinstance(one, Record)}
    decoded = [
        f"CASE WHEN _id = {number} THEN {from_avro_sql(record, body)} END AS _a{number}"
        for number, record in records.items()
    ]
    written = Written(spec.binary_as_string, spec.unions_by_type)
    cases = " ".join(
        f"WHEN _a{number}.e <=> X'{MARK.hex()}' THEN {json_sql(record, f'_a{number}.v', written)}"
        for number, record in records.items()
    )
    if not cases:
        return frame.selectExpr("*", "CAST(NULL AS STRING) AS _j")
    mended = " ".join(
        f"WHEN _id = {number} THEN {no_text_sql(record, f'_a{number}.v')}"
        for number, record in records.items()
    )
    text = f"CASE WHEN contains(_t, '{_REPLACED}') AND CASE {mended} END THEN NULL ELSE _t END"
    written_out = frame.selectExpr("*", *decoded).selectExpr("*", f"CASE {cases} END AS _t")
    return written_out.selectExpr("*", f"{text} AS _j")
