"""Records that are one JSON object each.

JSON is strict (RFC 8259): NaN, single quotes, trailing commas, a byte order mark and more than
one value in a record are `not-json`, and so is nesting deeper than 1,000.  Of duplicate keys the
last counts.
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import DataType, StringType, StructField, StructType, VariantType

from tasks.arrays import of_variant
from tasks.expression.tree import Kind
from tasks.expression.value import ArrayValue, Value
from tasks.ingest.parsed import NO_NAMES, Parsed, Wanted
from tasks.ingest.reasons import RejectReason
from tasks.ingest_spec import JsonFormat
from tasks.sql import name, text, texts

_SPACE = " \t\r\n"  # what JSON takes for blank
_STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false", "mode": "PERMISSIVE"}

_BLANK = f"trim(BOTH {text(_SPACE)} FROM s) = ''"
_OPENS = f"(startswith(s, '{{') OR startswith(trim(LEADING {text(_SPACE)} FROM s), '{{'))"
# Spark reads the first JSON value and ignores the rest of the record.  Put into an array before a
# mark, the mark is the second element only if the record is one value and nothing else.
_WHOLE = "get_json_object(concat('[', s, ',\"end\"]'), '$[1]') <=> 'end'"
# Cheaper, and true for most: the first closing brace is the last byte.
_FLAT = "octet_length(substring_index(s, '}', 1)) = octet_length(s) - 1"


def parse_json(records: DataFrame, spec: JsonFormat, wanted: Wanted) -> Parsed:
    """Read `s`; the frame gains `j` and, for values, `e`, `w` and `e0`, `e1`, … (their types)."""
    paths = {path.name: path.path for path in spec.paths}
    keys = [key for key in wanted.texts if key not in paths and _is_root(spec, key)]
    corrupt = _unused("corrupt", keys)
    columns = [_struct("s", [*keys, corrupt], StringType(), "j", columnNameOfCorruptRecord=corrupt)]
    typed = [key for key in wanted.values if key not in paths and _is_root(spec, key)]
    deep = [key for key in wanted.values if key in paths]
    if typed:
        columns.append(_struct("s", typed, VariantType(), "e"))
    if deep:
        columns.append(fn.expr("try_parse_json(s) AS w"))
    frame = records.select("*", *columns)
    places = {key: f"e.{name(key)}" for key in typed} | {
        key: f"try_variant_get(w, {text(paths[key])}, 'variant')" for key in deep
    }
    if places:
        found = [f"{place} AS e{n}" for n, place in enumerate(places.values())]
        frame = frame.selectExpr("*", *found)
        kinds = [f"schema_of_variant(e{n}) AS k{n}" for n in range(len(places))]
        frame = frame.selectExpr("*", *kinds)
    plain = {key: f"j.{name(key)}" for key in keys}
    dug = {key: f"get_json_object(s, {text(paths[key])})" for key in wanted.texts if key in paths}
    return Parsed(
        frame=frame,
        reason=_judge(f"j.{name(corrupt)}"),
        texts=plain | dug,
        values={key: _value(f"e{n}", f"k{n}") for n, key in enumerate(places)},
        unknown=_unknown_keys(spec, wanted.known),
    )


def _struct(raw: str, keys: Sequence[str], kind: DataType, into: str, **options: str) -> Column:
    schema = StructType([StructField(key, kind) for key in keys])
    return fn.from_json(raw, schema, _STRICT | options).alias(into)


def _is_root(spec: JsonFormat, key: str) -> bool:
    return spec.roots is None or key in spec.roots


def _judge(corrupt: str) -> str:
    """Judge the record's form: 0, or the number of a reason."""
    empty, not_json = RejectReason.EMPTY.code, RejectReason.NOT_JSON.code
    return (
        f"CASE WHEN v IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"WHEN NOT is_valid_utf8(s) THEN {not_json} "
        f"WHEN j IS NULL OR {corrupt} IS NOT NULL OR NOT {_OPENS} THEN "
        f"CASE WHEN {_BLANK} THEN {empty} WHEN {_OPENS} THEN {not_json} "
        f"WHEN {_WHOLE} THEN {RejectReason.NOT_AN_OBJECT.code} ELSE {not_json} END "
        f"WHEN NOT ({_FLAT}) AND NOT ({_WHOLE}) THEN {not_json} ELSE 0 END"
    )


def _value(place: str, kind: str) -> Value:
    """Return what a JSON value is to an expression; true is 1 there, and false 0."""
    return replace(
        of_variant(place, kind),
        array=ArrayValue(
            Kind.STRING,
            f"CASE WHEN startswith({kind}, 'ARRAY') "
            f"THEN try_variant_get({place}, '$', 'array<string>') END",
            variant=f"CASE WHEN startswith({kind}, 'ARRAY') THEN {place} END",
            known_shape=kind,
        ),
        json=f"CASE WHEN startswith({kind}, 'OBJECT') THEN to_json({place}) END",
    )


def _unknown_keys(spec: JsonFormat, known: Sequence[str]) -> str:
    if not known or spec.roots is not None:
        return NO_NAMES
    return f"filter(json_object_keys(s), k -> k NOT IN ({texts(known)}))"


def _unused(wanted: str, taken: Sequence[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
