"""Binary records, which need a schema: they are decoded to JSON text and parsed as JSON.

bytes ─► number of a schema ─► known? ─┬─ the record's JSON text, or none if it does not fit
└─ requested, and the batch is read again
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import BinaryFormat, RegistrySchemas
from tasks.ingest.formats.json import first_of_object, parse_json
from tasks.ingest.formats.parsed import MISSING, NO_NUMBERS, Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import OF_KEYS, KnownSchemas, framed, known_schemas
from tasks.rows.sql.text import text

_HEAD_BYTES = 5
_NUMBER_MAX = 2**31 - 1
"""Registries have no greater number, and answer a request for one with no usable answer."""
_LINE_ENDS = "\r\n"
_SAMPLE_BYTES = 360
"""Bytes of an invalid record that a sample shows, as base64: they fill the sample."""


@dataclass(frozen=True)
class BinaryReader:
    """Reads values and keys that need a schema; `decode` is the part of the format."""

    spec: BinaryFormat
    decode: Callable[[DataFrame, KnownSchemas, str], DataFrame]
    """Adds `_j` (the record's JSON, or null) to a frame that has `_id` (the schema's number).

    Its arguments are the frame, the known schemas, and SQL of the bytes behind that number.
    """
    names: Callable[[bool], frozenset[str]]
    """Fields that the format names; True: only those that may hold a flat value."""
    not_one: RejectReason
    """The reason for bytes that are no record of their schema."""
    may_be_empty: bool = False
    """Whether zero bytes may be a record; then an empty value is valid."""
    lists: bool = True
    """Whether lists are discovered as texts, as Druid does for some formats."""

    @property
    def reasons(self) -> frozenset[RejectReason]:
        """The possible reasons why the form of a value is invalid."""
        empty = set() if self.may_be_empty else {RejectReason.EMPTY}
        schema = {RejectReason.UNKNOWN_SCHEMA, RejectReason.UNREADABLE_SCHEMA}
        return frozenset({self.not_one} | schema | empty)

    def named_fields(self, *, flat: bool) -> frozenset[str]:
        """Return the fields that the format names."""
        return self.names(flat)

    def parse(self, records: DataFrame, wanted: WantedFields, answers: KnownSchemas) -> Parsed:
        """Decode `v`; the frame gains `s` and the columns of `parse_json`."""
        known = known_schemas(self.spec, answers)
        frame = self._as_json(records, known)
        parsed = parse_json(frame, self.spec.fields, wanted, lists=self.lists)
        missing = self._missing_schemas_sql(known)
        return replace(parsed, reason=self._judge(known), raw="v", missing_schemas=missing)

    def with_key_name(self, records: DataFrame, answers: KnownSchemas) -> DataFrame:
        """Add the text of the first field of a key, and `MISSING`."""
        kept = [column for column in records.columns if column != "v"]
        known = known_schemas(self.spec, answers)
        decoded = self._as_json(records.selectExpr(*kept, "v AS _v", "_key AS v"), known)
        return decoded.selectExpr(
            *(*kept, "_v AS v", f"{first_of_object('_j')} AS _name"),
            f"transform({self._missing_schemas_sql(known)}, x -> x + {OF_KEYS}) AS {MISSING}",
        )

    def _as_json(self, records: DataFrame, known: KnownSchemas) -> DataFrame:
        """Add `_id`, `_j` and `s`: `_j`, or the first bytes of an invalid record, as `base64:`."""
        head = framed(self.spec)
        if head is None:
            frame, body = records.selectExpr("*", "0 AS _id"), "v"
        else:
            number = "CAST(conv(hex(substring(v, 2, 4)), 16, 10) AS BIGINT)"
            starts = f"octet_length(v) >= {_HEAD_BYTES} AND hex(substring(v, 1, 1)) = '{head:02X}'"
            frame = records.selectExpr("*", f"CASE WHEN {starts} THEN {number} END AS _id")
            body = f"substring(v, {_HEAD_BYTES + 1})"
        decoded = self.decode(frame, known, body)
        in_lines = f"base64(substring(v, 1, {_SAMPLE_BYTES}))"  # Spark's: lines of 76 characters
        shown = f"concat('base64:', translate({in_lines}, {text(_LINE_ENDS)}, ''))"
        return decoded.selectExpr("*", f"coalesce(_j, {shown}) AS s")

    def _missing_schemas_sql(self, known: KnownSchemas) -> str:
        """Return the SQL of a list with the unknown schema number; null if the number is known."""
        if not isinstance(self.spec.schemas, RegistrySchemas):
            return NO_NUMBERS
        settled = _among({*known.schemas, *known.missing, *known.unreadable})
        return f"CASE WHEN _id <= {_NUMBER_MAX} AND NOT {settled} THEN array(_id) END"

    def _judge(self, known: KnownSchemas) -> str:
        """Return the SQL of the judgement on a record's form: 0, or the number of a reason."""
        none = self.not_one.code
        empty = f"WHEN octet_length(v) = 0 THEN {RejectReason.EMPTY.code} "
        return (
            f"CASE WHEN v IS NULL THEN {RejectReason.NULL_VALUE.code} "
            f"{'' if self.may_be_empty else empty}"
            f"WHEN _id IS NULL THEN {none} "
            f"WHEN {_among(known.unreadable)} THEN {RejectReason.UNREADABLE_SCHEMA.code} "
            f"WHEN NOT {_among(known.schemas)} THEN {RejectReason.UNKNOWN_SCHEMA.code} "
            f"WHEN _j IS NULL THEN {none} ELSE 0 END"
        )


def _among(numbers: Iterable[int]) -> str:
    listed = ", ".join(str(number) for number in sorted(numbers))
    return f"(_id IN ({listed}))" if listed else "(false)"
