"""Parsing of a record's bytes to its fields, by the formats of its value and its key."""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import HeaderEncoding, KafkaColumns, RowSpec, UnfitValues
from tasks.ingest.formats.parsed import MISSING, NONE_OF_NAMES, Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import NO_SCHEMAS, KnownSchemas, Schemas
from tasks.ingest.formats.table import reader_of
from tasks.ingest.spark.text_functions import add_text_functions
from tasks.rows.expression.value import Value
from tasks.rows.sql.text import text, texts


def parse(
    records: DataFrame, spec: RowSpec, wanted: WantedFields, schemas: Schemas = NO_SCHEMAS
) -> Parsed:
    """Judge the form of the records of `source.read_range`.  Lazy: no job is run."""
    if spec.kafka_columns is not None:
        return _parse_kafka(records, spec, wanted, schemas)
    assert spec.value_format is not None
    return reader_of(spec.value_format).parse(records, wanted, schemas.values)


def reasons_of(spec: RowSpec) -> tuple[RejectReason, ...]:
    """Return the reasons for which bad records of a spec may become no row, in a fixed order."""
    reasons = {RejectReason.NO_TIMESTAMP, RejectReason.BAD_TIMESTAMP}
    if spec.value_format is not None:
        reasons |= reader_of(spec.value_format).reasons
    if spec.unfit_values is UnfitValues.QUARANTINE:
        reasons.add(RejectReason.UNFIT_VALUE)
    return tuple(reason for reason in RejectReason if reason in reasons)


def _parse_kafka(
    records: DataFrame, rows: RowSpec, wanted: WantedFields, schemas: Schemas
) -> Parsed:
    """Read the fields beside the value too; a field of the value precedes one of these.

    A record without a value becomes a row of the fields beside it.
    """
    inner, spec = rows.value_format, rows.kafka_columns
    assert spec is not None
    beside = _beside(spec, (*wanted.texts, *wanted.values))
    records = _with_key(records, spec, schemas.keys)
    if inner is None:
        frame = records.selectExpr("*", "CAST(v AS STRING) AS s")
        parsed = Parsed(frame, "0")
    else:
        numbers = {name: kind for name, kind in wanted.numbers.items() if name not in beside}
        within = replace(wanted, numbers=numbers)
        parsed = reader_of(inner).parse(records, within, schemas.values)
        parsed = replace(
            parsed, reason=f"CASE WHEN {parsed.raw} IS NULL THEN 0 ELSE {parsed.reason} END"
        )
    unknown = parsed.unknown
    if wanted.known and spec.header_prefix is not None:
        named = f"transform(_headers, x -> concat({text(spec.header_prefix)}, x.key))"
        fresh = f"filter({named}, x -> x NOT IN ({texts(wanted.known)}))"
        unknown = _together(unknown, fresh, NONE_OF_NAMES)
    missing_schemas = parsed.missing_schemas
    if MISSING in records.columns:
        missing_schemas = _together(missing_schemas, MISSING, "CAST(array() AS ARRAY<BIGINT>)")
    return replace(
        parsed,
        texts={name: _either_text(parsed, beside, name) for name in wanted.texts},
        values={name: _either(parsed.value(name), beside.get(name)) for name in wanted.values},
        unknown=unknown,
        missing_schemas=missing_schemas,
    )


def _together(one: str, other: str, nothing: str) -> str:
    return f"concat(coalesce({one}, {nothing}), coalesce({other}, {nothing}))"


@dataclass(frozen=True)
class _Beside:
    """A field outside a record's value."""

    text: str
    value: Value


def _beside(spec: KafkaColumns, names: tuple[str, ...]) -> dict[str, _Beside]:
    """Return name -> field beside the value; a header precedes all others of the same name.

    Source: Druid's `KafkaInputReader.extractHeaderAndKeys`.
    """
    fields: dict[str, _Beside] = {}
    for name in names:
        header, own = _header(spec, name), _own(spec, name)
        if header is not None and own is not None:
            sql = f"coalesce({header.text}, {own.text})"
            fields[name] = _Beside(sql, _either(header.value, own))
        elif beside := header or own:
            fields[name] = beside
    return fields


def _own(spec: KafkaColumns, name: str) -> _Beside | None:
    if name == spec.timestamp:
        return _Beside("CAST(_millis AS STRING)", Value(long="_millis"))
    if name == spec.topic:
        return _Beside("_topic", Value(string="_topic"))
    return _Beside("_name", Value(string="_name")) if name == spec.key else None


def _header(spec: KafkaColumns, name: str) -> _Beside | None:
    if spec.header_prefix is None or not name.startswith(spec.header_prefix):
        return None
    header = text(name.removeprefix(spec.header_prefix))
    last = f"try_element_at(filter(_headers, x -> x.key = {header}), -1)"
    held = _header_text(f"{last}.value", spec.header_encoding)
    return _Beside(held, Value(string=held))


def _header_text(value: str, encoding: HeaderEncoding) -> str:
    """Return the SQL of bytes as text; invalid ones are replaced, as in Java's `new String`."""
    if encoding is HeaderEncoding.UTF_8:
        return f"make_valid_utf8(CAST({value} AS STRING))"
    return f"decode({value}, {text(encoding)})"  # replaces: `spark.sql.legacy.codingErrorAction`


def _with_key(records: DataFrame, spec: KafkaColumns, answers: KnownSchemas) -> DataFrame:
    """Add `_name`, the text of the key's first field; with a schema `MISSING` too: `Parsed`."""
    add_text_functions(records.sparkSession)
    if spec.key_format is None:
        return records.selectExpr("*", "CAST(_key AS STRING) AS _name")
    return reader_of(spec.key_format).with_key_name(records, answers)


def _either_text(parsed: Parsed, beside: dict[str, _Beside], name: str) -> str:
    if name not in beside:
        return parsed.text(name)
    return f"coalesce({parsed.text(name)}, {beside[name].text})"


def _either(first: Value, beside: _Beside | None) -> Value:
    if beside is None:
        return first
    if first == Value():
        return beside.value
    there = " OR ".join(f"({sql}) IS NOT NULL" for sql in first.texts)
    return replace(
        first,
        long=_instead(there, first.long, beside.value.long),
        string=_instead(there, first.string, beside.value.string),
    )


def _instead(there: str, first: str | None, second: str | None) -> str | None:
    if second is None:
        return first
    return f"CASE WHEN {there} THEN {first or 'NULL'} ELSE {second} END"
