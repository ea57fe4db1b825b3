"""From the bytes of a record to its fields: by the formats of its value and its key."""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import (
    AvroFormat,
    BinaryFormat,
    HeaderEncoding,
    JsonFormat,
    KafkaColumns,
    ProtobufFormat,
    RegexFormat,
    RowSpec,
    TextFormat,
    UnfitValues,
    ValueFormat,
)
from tasks.ingest.formats.binary import as_json, missing_schema_sql, parse_binary, reasons_of_form
from tasks.ingest.formats.json import parse_json
from tasks.ingest.formats.parsed import NONE_OF_NAMES, Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import (
    NO_KNOWN_SCHEMAS,
    NO_SCHEMAS,
    OF_KEYS,
    KnownSchemas,
    Schemas,
    known_schemas,
)
from tasks.ingest.formats.text import parse_regex, parse_text
from tasks.ingest.spark.text_functions import IS_JSON_TEXT, add_text_functions
from tasks.rows.expression.value import Value
from tasks.rows.sql.text import text, texts

_MISSING_SCHEMA = "_asked"
_FIRST_LINE = r"""CASE WHEN contains(CAST(_key AS STRING), '\n')
THEN CAST(concat(substring_index(CAST(_key AS STRING), '\n', 1), '\n') AS BINARY) ELSE _key END"""
"""SQL of a key that is text: of several lines only the first counts, as in Druid."""


def parse(
    records: DataFrame, spec: RowSpec, wanted: WantedFields, schemas: Schemas = NO_SCHEMAS
) -> Parsed:
    """Judge the form of records as `source.read_range` gives them.  Lazy: no job is run."""
    if spec.kafka_columns is not None:
        return _parse_kafka(records, spec, wanted, schemas)
    assert spec.value_format is not None
    return _parse_value(records, spec.value_format, wanted, schemas.values)


def reasons_of(spec: RowSpec) -> tuple[RejectReason, ...]:
    """Return why a record with which something is wrong may become no row, in a fixed order."""
    found = {RejectReason.NO_TIMESTAMP, RejectReason.BAD_TIMESTAMP}
    match spec.value_format:
        case JsonFormat():
            found |= {RejectReason.EMPTY, RejectReason.NOT_JSON, RejectReason.NOT_AN_OBJECT}
        case TextFormat():
            found |= {RejectReason.EMPTY, RejectReason.NOT_A_LINE}
        case RegexFormat():
            found |= {RejectReason.EMPTY, RejectReason.NOT_A_LINE, RejectReason.NO_MATCH}
        case AvroFormat() | ProtobufFormat() as inner:
            found |= reasons_of_form(inner)
    if spec.unfit_values is UnfitValues.QUARANTINE:
        found.add(RejectReason.UNFIT_VALUE)
    return tuple(reason for reason in RejectReason if reason in found)


def _parse_value(
    records: DataFrame,
    spec: ValueFormat,
    wanted: WantedFields,
    answers: KnownSchemas = NO_KNOWN_SCHEMAS,
) -> Parsed:
    if isinstance(spec, BinaryFormat):
        return parse_binary(records, spec, wanted, answers)
    frame = records.selectExpr("*", "CAST(v AS STRING) AS s")
    match spec:
        case JsonFormat():
            return parse_json(frame, spec, wanted)
        case TextFormat():
            return parse_text(frame, spec, wanted)
        case RegexFormat():
            return parse_regex(frame, spec, wanted)


def _parse_kafka(
    records: DataFrame, rows: RowSpec, wanted: WantedFields, schemas: Schemas
) -> Parsed:
    """Read what stands beside the value too; a field of the value goes before one of these.

    A record without a value is a row of what stands beside it.
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
        parsed = _parse_value(records, inner, within, schemas.values)
        parsed = replace(
            parsed, reason=f"CASE WHEN {parsed.raw} IS NULL THEN 0 ELSE {parsed.reason} END"
        )
    unknown = parsed.unknown
    if wanted.known and spec.header_prefix is not None:
        named = f"transform(_headers, x -> concat({text(spec.header_prefix)}, x.key))"
        fresh = f"filter({named}, x -> x NOT IN ({texts(wanted.known)}))"
        unknown = _together(unknown, fresh, NONE_OF_NAMES)
    asked = parsed.missing_schemas
    if _MISSING_SCHEMA in records.columns:
        asked = _together(asked, _MISSING_SCHEMA, "CAST(array() AS ARRAY<BIGINT>)")
    return replace(
        parsed,
        texts={name: _either_text(parsed, beside, name) for name in wanted.texts},
        values={name: _either(parsed.value(name), beside.get(name)) for name in wanted.values},
        unknown=unknown,
        missing_schemas=asked,
    )


def _together(one: str, other: str, nothing: str) -> str:
    return f"concat(coalesce({one}, {nothing}), coalesce({other}, {nothing}))"


@dataclass(frozen=True)
class _Beside:
    """A field that is no part of a record's value."""

    text: str
    value: Value


def _beside(spec: KafkaColumns, names: tuple[str, ...]) -> dict[str, _Beside]:
    """Return what is found by these names; of one name a header goes before all else.

    Source: Druid's `KafkaInputReader.extractHeaderAndKeys`.
    """
    found: dict[str, _Beside] = {}
    for name in names:
        header, own = _header(spec, name), _own(spec, name)
        if header is not None and own is not None:
            sql = f"coalesce({header.text}, {own.text})"
            found[name] = _Beside(sql, _either(header.value, own))
        elif beside := header or own:
            found[name] = beside
    return found


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
    """Return SQL of bytes as text; what is none is replaced, as Java's `new String` does it."""
    if encoding is HeaderEncoding.UTF_8:
        return f"make_valid_utf8(CAST({value} AS STRING))"
    return f"decode({value}, {text(encoding)})"  # replaces: `spark.sql.legacy.codingErrorAction`


def _with_key(records: DataFrame, spec: KafkaColumns, answers: KnownSchemas) -> DataFrame:
    """Add `_name`, the text of the first field of a key; with a schema `_asked`, too: `Parsed`."""
    kept = [c for c in records.columns if c != "v"]
    add_text_functions(records.sparkSession)
    match spec.key_format:
        case None:
            return records.selectExpr("*", "CAST(_key AS STRING) AS _name")
        case JsonFormat():
            return records.selectExpr("*", f"{_first_of('CAST(_key AS STRING)')} AS _name")
        case AvroFormat() | ProtobufFormat() as inner:
            known = known_schemas(inner, answers)
            decoded = as_json(records.selectExpr(*kept, "v AS _v", "_key AS v"), inner, known)
            return decoded.selectExpr(
                *(*kept, "_v AS v", f"{_first_of('_j')} AS _name"),
                f"transform({missing_schema_sql(inner, known)}, x -> x + {OF_KEYS}) "
                f"AS {_MISSING_SCHEMA}",
            )
        case TextFormat() | RegexFormat() as inner:
            first = inner.columns[0]
            moved = records.selectExpr(*kept, "v AS _v", f"{_FIRST_LINE} AS v")
            parsed = _parse_value(moved, inner, WantedFields(texts=(first,)))
            name = f"CASE WHEN ({parsed.reason}) = 0 THEN {parsed.text(first)} END AS _name"
            return parsed.frame.selectExpr(*kept, "_v AS v", name)


def _first_of(document: str) -> str:
    """Return SQL of the text of the first field of a JSON object; null where it is none."""
    first = f"get(map_values(from_json({document}, 'map<string,string>')), 0)"
    # Bytes that are no UTF-8 are replaced, as in headers; of half a surrogate pair Spark makes `?`.
    mended = f"{IS_JSON_TEXT}(make_valid_utf8({document}))"
    return f"CASE WHEN {IS_JSON_TEXT}({document}) OR {mended} THEN {first} END"


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
