"""Records that are one JSON object each.

JSON is strict (RFC 8259): NaN, single quotes, trailing commas, a byte order mark and more than
one value in a record are `not-json`.  So are nesting deeper than 1,000 and half a surrogate pair:
no column could hold it unchanged, and two names with one would become the same name.

Of duplicate keys the last counts.  But of the values at a path, the text is that of the first, and
the typed value that of the last.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

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

from tasks.contract.ingest_spec import JsonFormat
from tasks.ingest.formats.parsed import NEVER, NO_NAMES, Exact, Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas
from tasks.ingest.spark.text_functions import ENDS_FLAT, IS_JSON_TEXT, add_text_functions
from tasks.rows.arrays import of_variant
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import ArrayValue, Value
from tasks.rows.json_path import finds_several, several_sql
from tasks.rows.row_plan import NumberType
from tasks.rows.sql.text import name, text, texts

_SPACE = " \t\r\n"  # blanks of JSON
_STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false", "mode": "PERMISSIVE"}

_NESTED = ("OBJECT", "ARRAY<OBJECT", "ARRAY<ARRAY")
"""How the kinds of values begin that are, or contain, objects or lists of lists."""

_NUMBERS: Mapping[NumberType, DataType] = {"long": LongType(), "double": DoubleType()}

_BLANK = f"trim(BOTH {text(_SPACE)} FROM s) = ''"
_OPENS = f"(startswith(s, '{{') OR startswith(trim(LEADING {text(_SPACE)} FROM s), '{{'))"
# Spark reads the first JSON value and ignores the rest of the record.  So the record is put into an
# array before a mark: the mark is the second element only if the record is a single value.  The
# mark is a hash of all of the record's bytes, so that no record can contain its own mark.
_MARK = "CAST(xxhash64(s) AS STRING)"
_WHOLE = f"get_json_object(concat('[', s, ',', {_MARK}, ']'), '$[1]') <=> {_MARK}"
_FLAT = f"{ENDS_FLAT}(s)"
"""A cheaper, sufficient check, true for most records."""
_MAY_SKIP = f"(NOT {_FLAT} OR contains(s, '[') OR contains(s, 'null'))"
"""A cheap check that is true for each record with a field that text discovery skips."""


@dataclass(frozen=True)
class JsonReader:
    """Reads values and keys that are JSON objects."""

    spec: JsonFormat
    reasons = frozenset({RejectReason.EMPTY, RejectReason.NOT_JSON, RejectReason.NOT_AN_OBJECT})

    def named_fields(self, *, flat: bool) -> frozenset[str]:  # noqa: ARG002 -- paths are named
        """Return the fields at paths, and the listed roots."""
        return named_in(self.spec)

    def parse(self, records: DataFrame, wanted: WantedFields, _: KnownSchemas) -> Parsed:
        """See `parse_json`."""
        return parse_json(records.selectExpr("*", "CAST(v AS STRING) AS s"), self.spec, wanted)

    def with_key_name(self, records: DataFrame, _: KnownSchemas) -> DataFrame:
        """Add the text of the first field of a key that is a JSON object."""
        return records.selectExpr("*", f"{first_of_object('CAST(_key AS STRING)')} AS _name")


def named_in(spec: JsonFormat) -> frozenset[str]:
    """Return the fields that a JSON section names: at paths, or as roots."""
    return frozenset({path.name for path in spec.paths} | set(spec.roots or ()))


def first_of_object(document: str) -> str:
    """Return the SQL of the text of a JSON object's first field; null if there is none."""
    first = f"get(map_values(from_json({document}, 'map<string,string>')), 0)"
    # Invalid UTF-8 is replaced, as in headers; Spark turns half a surrogate pair into `?`.
    mended = f"{IS_JSON_TEXT}(make_valid_utf8({document}))"
    return f"CASE WHEN {IS_JSON_TEXT}({document}) OR {mended} THEN {first} END"


def parse_json(
    records: DataFrame, spec: JsonFormat, wanted: WantedFields, *, lists: bool = True
) -> Parsed:
    """Parse `s`; the frame gains `j`, `again`, `k`, and for values `e`, `b`, `w`, `e0`, `k0` etc.

    With `Wanted.flat` it also gains `flat`; without `lists` no list is flat.
    """
    add_text_functions(records.sparkSession)
    paths = {path.name: path.path for path in spec.paths}
    roots = [key for key in wanted.texts if key not in paths and _is_root(spec, key)]
    typed = [key for key in wanted.values if key not in paths and _is_root(spec, key)]
    deep = [key for key in wanted.values if key in paths]
    numbers = {key: wanted.numbers[key] for key in roots if key in wanted.numbers}
    skips = wanted.flat is not None and spec.roots is None
    beside = [fn.expr(_flat_names(lists=lists)).alias("flat")] if skips else []
    # Without numbers, and if the texts of all values are read too, one pass saves nothing.
    if wanted.straight and (numbers or not {*typed} <= {*roots}):
        fields = _at_once(records, roots, typed, numbers, beside=beside)
    else:
        fields = _apart(records, roots, typed, beside=beside)
    flat = (wanted.flat or frozenset()) if skips else frozenset()
    dug = {key: paths[key] for key in wanted.texts if key in paths}
    parsed = deep or any(map(finds_several, dug.values()))
    frame = fields.frame.selectExpr("*", "try_parse_json(s) AS w") if parsed else fields.frame
    places = fields.values | {key: _deep_value(paths[key]) for key in deep}
    if places:
        found = [f"{place} AS e{n}" for n, place in enumerate(places.values())]
        frame = frame.selectExpr("*", *found)
        kinds = [f"schema_of_variant(e{n}) AS k{n}" for n in range(len(places))]
        frame = frame.selectExpr("*", *kinds)
    return Parsed(
        frame=frame,
        reason=_judge(fields.broken),
        texts={k: _flat_text(k, v) if k in flat else v for k, v in fields.texts.items()}
        | {key: _deep_text(path) for key, path in dug.items()},
        exact=fields.exact,
        again=fields.again,
        values={key: _value(f"e{n}", f"k{n}") for n, key in enumerate(places)},
        unknown=_unknown_keys(spec, wanted.known, skips=skips),
    )


@dataclass(frozen=True)
class _Fields:
    """SQL of the top-level fields over `frame`; `broken`: of whether a record could not be read."""

    frame: DataFrame
    broken: str
    texts: dict[str, str]
    values: dict[str, str]
    exact: dict[str, Exact] = field(default_factory=dict)
    again: str = NEVER


def _apart(
    records: DataFrame, texts: Sequence[str], values: Sequence[str], *, beside: Sequence[Column]
) -> _Fields:
    """Read all texts of the top level first, and then all values."""
    corrupt = _unused("corrupt", texts)
    found = [_texts(texts, corrupt).alias("j"), *([_values(values).alias("e")] if values else [])]
    return _Fields(
        records.select("*", *found, *beside),
        _broken("j", corrupt),
        {key: f"j.{name(key)}" for key in texts},
        {key: f"e.{name(key)}" for key in values},
    )


def _at_once(
    records: DataFrame,
    texts: Sequence[str],
    values: Sequence[str],
    numbers: Mapping[str, NumberType],
    *,
    beside: Sequence[Column],
) -> _Fields:
    """Read texts, some of them as `numbers`, and values in one pass over a record.

    One pass costs less than two, and a number read directly less than one read as a text.  If a
    field cannot be read so, the whole record is read again as in `_apart`: columns are the same.
    """
    corrupt = _unused("corrupt", [*texts, *values])
    shared = [key for key in values if key not in texts]  # a struct has each field name once
    others = [key for key in values if key in texts]
    kinds: dict[str, DataType] = dict.fromkeys(texts, StringType())
    kinds |= {key: _NUMBERS[kind] for key, kind in numbers.items()}
    straight = _struct(kinds | dict.fromkeys(shared, VariantType()), corrupt)
    again = straight.isNull() | straight.getField(corrupt).isNotNull()
    for key, kind in numbers.items():
        if kind == "double":
            again |= fn.abs(straight.getField(key)) > sys.float_info.max
    again = fn.coalesce(fn.col("s").isNotNull() & again, fn.expr("false"))
    # In one selection: Spark then computes `straight` once, and copies no row on the way to `k`.
    frame = records.select(
        *("*", straight.alias("j"), again.alias("again")),
        fn.when(again, _texts(texts, corrupt)).alias("k"),
        *([fn.when(again, _values(shared)).alias("e")] if shared else []),
        *([_values(others).alias("b")] if others else []),
        *beside,
    )
    read = {key: f"CAST(j.{name(key)} AS STRING)" for key in texts}
    return _Fields(
        frame,
        f"again AND ({_broken('k', corrupt)})",
        {key: f"CASE WHEN again THEN k.{name(key)} ELSE {read[key]} END" for key in texts},
        {key: f"CASE WHEN again THEN e.{name(key)} ELSE j.{name(key)} END" for key in shared}
        | {key: f"b.{name(key)}" for key in others},
        {key: Exact(f"j.{name(key)}", f"k.{name(key)}") for key in numbers},
        "again",
    )


def _deep_value(path: str) -> str:
    if finds_several(path):
        return f"to_variant_object({several_sql('w', path)})"
    return f"try_variant_get(w, {text(path)}, 'variant')"


def _deep_text(path: str) -> str:
    if finds_several(path):
        return f"to_json({several_sql('w', path)})"
    # Of duplicate keys the first.  Parsing the record also for `w` would cost as much again.
    return f"get_json_object(s, {text(path)})"


def _broken(struct: str, corrupt: str) -> str:
    return f"{struct} IS NULL OR {struct}.{name(corrupt)} IS NOT NULL"


def _struct(fields: Mapping[str, DataType], corrupt: str | None = None) -> Column:
    extra_fields = {} if corrupt is None else {corrupt: StringType()}
    schema = StructType(
        [StructField(key, kind) for key, kind in {**fields, **extra_fields}.items()]
    )
    options = {} if corrupt is None else {"columnNameOfCorruptRecord": corrupt}
    return fn.from_json("s", schema, _STRICT | options)


def _texts(keys: Sequence[str], corrupt: str) -> Column:
    return _struct(dict.fromkeys(keys, StringType()), corrupt)


def _values(keys: Sequence[str]) -> Column:
    return _struct(dict.fromkeys(keys, VariantType()))


def _is_root(spec: JsonFormat, key: str) -> bool:
    return spec.roots is None or key in spec.roots


def _judge(broken: str) -> str:
    """Return the SQL of the judgement on a record's form: 0, or the number of a reason."""
    empty, not_json = RejectReason.EMPTY.code, RejectReason.NOT_JSON.code
    return (
        f"CASE WHEN s IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"WHEN NOT {IS_JSON_TEXT}(s) THEN {not_json} "
        f"WHEN {broken} OR NOT {_OPENS} THEN "
        f"CASE WHEN {_BLANK} THEN {empty} WHEN {_OPENS} THEN {not_json} "
        f"WHEN {_WHOLE} THEN {RejectReason.NOT_AN_OBJECT.code} ELSE {not_json} END "
        f"WHEN NOT {_FLAT} AND NOT ({_WHOLE}) THEN {not_json} ELSE 0 END"
    )


def _value(place: str, kind: str) -> Value:
    """Return the typed form of a JSON value: true is 1 to an expression, and a text to a filter."""
    return replace(
        of_variant(place, kind),
        array=ArrayValue(
            ElementType.STRING,
            f"CASE WHEN startswith({kind}, 'ARRAY') "
            f"THEN try_variant_get({place}, '$', 'array<string>') END",
            variant=f"CASE WHEN startswith({kind}, 'ARRAY') THEN {place} END",
            known_shape=kind,
        ),
        json=f"CASE WHEN startswith({kind}, 'OBJECT') THEN to_json({place}) END",
    )


def _unknown_keys(spec: JsonFormat, known: Sequence[str], *, skips: bool) -> str:
    if not known or spec.roots is not None:
        return NO_NAMES
    keys = "coalesce(flat, json_object_keys(s))" if skips else "json_object_keys(s)"
    return f"filter({keys}, k -> k NOT IN ({texts(known)}))"


def _flat_names(*, lists: bool) -> str:
    """Return the SQL of the keys that text discovery keeps; null if it skips none.

    Source: what Druid's flatteners take for root fields where nested ones are not discovered.
    """
    options = ", ".join(text(part) for option in _STRICT.items() for part in option)
    held = f"map_entries(from_json(s, 'map<string,variant>', map({options})))"
    kind = "schema_of_variant(x.value)"
    fields = f"transform({held}, x -> struct(x.key AS n, x.value AS v, {kind} AS k))"
    flat = f"filter({fields}, x -> {_is_flat('x.v', 'x.k', lists=lists)})"
    return f"CASE WHEN {_MAY_SKIP} THEN transform({flat}, x -> x.n) END"


def _is_flat(value: str, kind: str, *, lists: bool) -> str:
    if not lists:
        several = f"startswith({kind}, 'ARRAY') OR startswith({kind}, 'OBJECT')"
        return f"{kind} <> 'VOID' AND NOT ({several})"
    held = "coalesce(schema_of_variant(y), 'VOID')"
    deep = f"startswith({held}, 'ARRAY') OR startswith({held}, 'OBJECT')"
    mixed = f"exists(try_variant_get({value}, '$', 'array<variant>'), y -> {deep})"
    nested = " OR ".join(f"startswith({kind}, '{of}')" for of in _NESTED)
    return f"{kind} <> 'VOID' AND NOT ({nested}) AND NOT ({kind} = 'ARRAY<VARIANT>' AND {mixed})"


def _flat_text(key: str, flat: str) -> str:
    """Return the SQL of a field's text, null if text discovery skips the field's value."""
    # A text may begin so, too; only then the field's exact form in the record is examined.
    bracket = f"(startswith({flat}, '{{') OR startswith({flat}, '['))"
    skipped = f"{bracket} AND NOT array_contains(flat, {text(key)})"
    return f"CASE WHEN {skipped} THEN NULL ELSE {flat} END"


def _unused(wanted: str, taken: Sequence[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
