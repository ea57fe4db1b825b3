"""Records that are one JSON object each.

JSON is strict (RFC 8259): NaN, single quotes, trailing commas, a byte order mark and more than
one value in a record are `not-json`, and so is nesting deeper than 1,000.  Of duplicate keys the
last counts.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import (
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from tasks.arrays import of_variant
from tasks.expression.tree import Kind
from tasks.expression.value import ArrayValue, Value
from tasks.ingest.parsed import NO_NAMES, Exact, Parsed, Wanted
from tasks.ingest.reasons import RejectReason
from tasks.ingest_spec import JsonFormat
from tasks.row_plan import NumberType
from tasks.sql import name, text, texts

_SPACE = " \t\r\n"  # what JSON takes for blank
_STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false", "mode": "PERMISSIVE"}

_NUMBERS: Mapping[NumberType, DataType] = {"long": LongType(), "double": DoubleType()}

_BLANK = f"trim(BOTH {text(_SPACE)} FROM s) = ''"
_OPENS = f"(startswith(s, '{{') OR startswith(trim(LEADING {text(_SPACE)} FROM s), '{{'))"
# Spark reads the first JSON value and ignores the rest of the record.  Put into an array before a
# mark, the mark is the second element only if the record is one value and nothing else.
_WHOLE = "get_json_object(concat('[', s, ',\"end\"]'), '$[1]') <=> 'end'"
# Cheaper, and true for most: the last byte is a closing brace, and no other one is.
_BUT_LAST = "CAST(substring(CAST(s AS BINARY), 1, octet_length(s) - 1) AS STRING)"
_FLAT = f"endswith(s, '}}') AND NOT contains({_BUT_LAST}, '}}')"


def parse_json(records: DataFrame, spec: JsonFormat, wanted: Wanted) -> Parsed:
    """Read `s`; the frame gains `j`, `k`, `again`, and for values `e`, `w`, `e0`, `k0` etc."""
    paths = {path.name: path.path for path in spec.paths}
    keys = [key for key in wanted.texts if key not in paths and _is_root(spec, key)]
    fields = _fields(records, {key: wanted.numbers.get(key) for key in keys})
    columns: list[Column] = []
    typed = [key for key in wanted.values if key not in paths and _is_root(spec, key)]
    deep = [key for key in wanted.values if key in paths]
    if typed:
        columns.append(_struct(dict.fromkeys(typed, VariantType())).alias("e"))
    if deep:
        columns.append(fn.expr("try_parse_json(s) AS w"))
    frame = fields.frame.select("*", *columns)
    places = {key: f"e.{name(key)}" for key in typed} | {
        key: f"try_variant_get(w, {text(paths[key])}, 'variant')" for key in deep
    }
    if places:
        found = [f"{place} AS e{n}" for n, place in enumerate(places.values())]
        frame = frame.selectExpr("*", *found)
        kinds = [f"schema_of_variant(e{n}) AS k{n}" for n in range(len(places))]
        frame = frame.selectExpr("*", *kinds)
    dug = {key: f"get_json_object(s, {text(paths[key])})" for key in wanted.texts if key in paths}
    return Parsed(
        frame=frame,
        reason=_judge(fields.broken),
        texts=fields.texts | dug,
        exact=fields.exact,
        again="again" if fields.exact else "false",
        values={key: _value(f"e{n}", f"k{n}") for n, key in enumerate(places)},
        unknown=_unknown_keys(spec, wanted.known),
    )


@dataclass(frozen=True)
class _Fields:
    """What was read of the top level, and where nothing could be."""

    frame: DataFrame
    broken: str
    texts: dict[str, str]
    exact: dict[str, Exact]


def _fields(records: DataFrame, wanted: Mapping[str, NumberType | None]) -> _Fields:
    """Read fields as texts, and numbers as numbers, which is faster than by way of a text.

    Where one is not written as its number is, all of the record is read again as texts: both
    ways give a column the same value.
    """
    corrupt = _unused("corrupt", list(wanted))
    numbers = {key: kind for key, kind in wanted.items() if kind is not None}
    kinds: dict[str, DataType] = {
        key: StringType() if kind is None else _NUMBERS[kind] for key, kind in wanted.items()
    }
    straight = _struct(kinds, corrupt)
    broken = _broken("j", corrupt)
    if not numbers:
        frame = records.select("*", straight.alias("j"))
        return _Fields(frame, broken, {key: f"j.{name(key)}" for key in wanted}, {})
    again = straight.isNull() | straight.getField(corrupt).isNotNull()
    for key, kind in numbers.items():
        if kind == "double":
            again |= fn.abs(straight.getField(key)) > sys.float_info.max
    again = fn.coalesce(fn.col("s").isNotNull() & again, fn.expr("false"))
    as_texts = _struct(dict.fromkeys(wanted, StringType()), corrupt)
    # In one selection: Spark works `straight` out once, and no row is copied on the way to `k`.
    frame = records.select(
        "*", straight.alias("j"), again.alias("again"), fn.when(again, as_texts).alias("k")
    )
    return _Fields(
        frame,
        f"again AND ({_broken('k', corrupt)})",
        {
            key: f"CASE WHEN again THEN k.{name(key)} ELSE CAST(j.{name(key)} AS STRING) END"
            for key in wanted
        },
        {key: Exact(f"j.{name(key)}", f"k.{name(key)}") for key in numbers},
    )


def _broken(struct: str, corrupt: str) -> str:
    return f"{struct} IS NULL OR {struct}.{name(corrupt)} IS NOT NULL"


def _struct(fields: Mapping[str, DataType], corrupt: str | None = None) -> Column:
    told = {} if corrupt is None else {corrupt: StringType()}
    schema = StructType([StructField(key, kind) for key, kind in {**fields, **told}.items()])
    options = {} if corrupt is None else {"columnNameOfCorruptRecord": corrupt}
    return fn.from_json("s", schema, _STRICT | options)


def _is_root(spec: JsonFormat, key: str) -> bool:
    return spec.roots is None or key in spec.roots


def _judge(broken: str) -> str:
    """Judge the record's form: 0, or the number of a reason."""
    empty, not_json = RejectReason.EMPTY.code, RejectReason.NOT_JSON.code
    return (
        f"CASE WHEN s IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"WHEN NOT is_valid_utf8(s) THEN {not_json} "
        f"WHEN {broken} OR NOT {_OPENS} THEN "
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
