"""Arrays of one type, made of lists: the conversion of each element, as SQL.  Pure.

    element          array<long>   array<double>   array<string>
    12, true         12, 1         12.0, 1.0       '12', '1'
    2.0, 2.5         2, null       2.0, 2.5        '2', '2.5'
    "x"              null          null            'x'
    object, list     null          null            null

Each type holds the values of the type before it.  A value that was stored in a narrower type first
ends up the same, so a list's type may grow after the list was written.  Therefore a number has one
text, whichever type it comes from, and true and false are longs throughout.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tasks.contract.ingest_spec import ColumnType
from tasks.rows.expression.let import let
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import (
    SPARK_TYPES,
    ArrayValue,
    Value,
    first,
    is_there,
    of_kind,
)

LONGS, DOUBLES, TEXTS = 16, 32, 64
"""Kinds of lists (see `tasks.rows.discovery`): without a double or text, with a double, with a
text.
"""
NESTED = 8
"""Kind of objects, and of lists that hold objects or lists."""

EXACT_MAX = 2**53
"""Above this a double stands for several whole numbers."""

ELEMENTS: Mapping[ColumnType, ElementType] = MappingProxyType(
    {
        "array<long>": ElementType.LONG,
        "array<double>": ElementType.DOUBLE,
        "array<string>": ElementType.STRING,
    }
)
"""Column types that hold arrays -> type of their elements."""

ReadText = Callable[[str, ColumnType], str]
"""Turns the SQL of a text into the SQL of a scalar column type; null if the text does not fit."""

_SCALARS: Mapping[ElementType, ColumnType] = MappingProxyType(
    {ElementType.LONG: "long", ElementType.DOUBLE: "double", ElementType.STRING: "string"}
)
_WHOLE = ("BIGINT", "BOOLEAN", "VOID")
_AS_THEY_ARE: Mapping[ElementType, tuple[str, ...]] = MappingProxyType(
    {ElementType.LONG: _WHOLE, ElementType.DOUBLE: _WHOLE, ElementType.STRING: ("STRING", "VOID")}
)
"""Element types that Spark's own cast converts to a kind, all at once."""


_X = "tg_x"
_KIND = f"schema_of_variant({_X})"


def of_variant(place: str, kind: str) -> Value:
    """Return a scalar of JSON; true and false are 1 and 0 with a text; other values are null.

    `place` is a VARIANT, `kind` the result of `schema_of_variant` for it.
    """
    number = f"{kind} IN ('DOUBLE', 'FLOAT') OR startswith({kind}, 'DECIMAL')"
    double = f"try_variant_get({place}, '$', 'double')"
    truth = f"WHEN {kind} = 'BOOLEAN' THEN CAST(try_variant_get({place}, '$', 'boolean') AS"
    return Value(
        long=(
            f"CASE WHEN {kind} = 'BIGINT' THEN try_variant_get({place}, '$', 'bigint') "
            f"{truth} BIGINT) END"
        ),
        double=f"CASE WHEN {number} THEN {double} END",
        string=f"CASE WHEN {kind} = 'STRING' THEN try_variant_get({place}, '$', 'string') END",
        truth=f"CASE {truth} STRING) END",
        digits=(
            f"CASE WHEN startswith({kind}, 'DECIMAL') AND abs({double}) >= {EXACT_MAX} "
            f"THEN try_variant_get({place}, '$', 'string') END"
        ),
    )


def text_of_double(sql: str) -> str:
    """Return a number's text; a whole number has no fraction, because it may have been a long."""
    whole = f"{sql} = floor({sql}) AND abs({sql}) <= {EXACT_MAX}"
    as_long = f"CAST(CAST({sql} AS BIGINT) AS STRING)"
    return f"CASE WHEN {whole} THEN {as_long} ELSE CAST({sql} AS STRING) END"


def kinds_of_list(array: ArrayValue) -> str:
    """Return the SQL of the kinds of a list that is not null: an INT, their sum."""
    if array.variant is None:
        if array.kind is ElementType.LONG:
            return str(LONGS)
        some, kind = (
            f"{count_of(array.sql)} > 0",
            DOUBLES if array.kind is ElementType.DOUBLE else TEXTS,
        )
        return f"CASE WHEN {some} THEN {kind} ELSE {LONGS} END"
    each = (
        f"CASE WHEN {_KIND} IN ('BIGINT', 'BOOLEAN', 'VOID') THEN {LONGS} "
        f"WHEN {_KIND} = 'STRING' THEN {TEXTS} "
        f"WHEN startswith({_KIND}, 'ARRAY') OR startswith({_KIND}, 'OBJECT') THEN {NESTED} "
        f"ELSE {DOUBLES} END"
    )
    shape = array.shape
    return (
        f"CASE WHEN {shape} IN ('ARRAY<BIGINT>', 'ARRAY<BOOLEAN>', 'ARRAY<VOID>') THEN {LONGS} "
        f"WHEN {shape} = 'ARRAY<STRING>' THEN {TEXTS} "
        f"WHEN {shape} = 'ARRAY<DOUBLE>' OR startswith({shape}, 'ARRAY<DECIMAL') THEN {DOUBLES} "
        f"WHEN {shape} <> 'ARRAY<VARIANT>' THEN {NESTED} "
        f"ELSE aggregate({_variants(array.variant)}, {LONGS}, (tg_a, {_X}) -> tg_a | {each}) END"
    )


def array_of(value: Value, kind: ElementType, read: ReadText | None = None) -> str:
    """Return the SQL of a value as an array; a scalar becomes a list of one, an object null.

    `read` parses numbers in texts, and then infinities do not fit; None: the value is known to
    fit, and no text is a number.
    """
    alternatives = [_converted(value.array, kind, read)] if value.array else []
    alone = Value(value.long, value.double, value.string)
    if alone.texts:
        one = _element(alone, kind, read)
        alternatives.append(f"CASE WHEN {is_there(alone)} THEN array({one}) END")
    # In Parquet's type elements may be null: the same in all files, whatever Spark can prove about
    # a list.
    alternatives.append(f"CAST(NULL AS ARRAY<{SPARK_TYPES[kind]}>)")
    return _may_hold_nulls(f"coalesce({', '.join(alternatives)})", kind)


def held_in(value: Value) -> str:
    """Return the SQL of the number of a value's elements as an array, nulls aside; null for null.

    An object counts as one element, because it should have been one.
    """
    if value.array is None:
        return f"CASE WHEN {is_there(value)} THEN 1 END"
    rest = Value(value.long, value.double, value.string, None, value.json)
    alone = f" WHEN {is_there(rest)} THEN 1" if rest.texts else ""
    return f"CASE WHEN {value.array.there} THEN {count_of(value.array.sql)}{alone} END"


def count_of(array: str) -> str:
    """Return the SQL of the number of non-null elements of an array; null for a null array."""
    return f"array_size(filter({array}, {_X} -> {_X} IS NOT NULL))"


def json_of_list(array: ArrayValue) -> str:
    """Return the SQL of a list as JSON, for a column that also has other values: STRING.

    Its scalars are texts, because an array of texts would have lost their types.
    """
    texts = f"to_json({array_of(Value(array=array), ElementType.STRING)})"
    if array.variant is None:
        return texts
    nested = f"({kinds_of_list(array)}) & {NESTED} <> 0"
    return f"CASE WHEN {nested} THEN to_json({array.variant}) ELSE {texts} END"


def _variants(variant: str) -> str:
    return f"try_variant_get({variant}, '$', 'array<variant>')"


def _converted(array: ArrayValue, kind: ElementType, read: ReadText | None) -> str:
    if array.variant is None:
        if array.kind is kind:
            return array.sql
        return f"transform({array.sql}, {_X} -> {_element(of_kind(array.kind, _X), kind, read)})"
    # One step after another, because Spark analyses nested lambdas far more slowly.
    named = f"transform({_variants(array.variant)}, {_X} -> struct({_X} AS v, {_KIND} AS k))"
    scalar = of_variant(f"{_X}.v", f"{_X}.k")
    typed = f"struct({scalar.long} AS l, {scalar.double} AS d, {scalar.string} AS s)"
    short = Value(f"{_X}.l", f"{_X}.d", f"{_X}.s")
    each = f"transform(transform({named}, {_X} -> {typed}), {_X} -> {_element(short, kind, read)})"
    plain = ", ".join(f"'ARRAY<{name}>'" for name in _AS_THEY_ARE[kind])
    test = f"{array.shape} IN ({plain})"
    if kind is ElementType.DOUBLE:
        test = f"{test} OR startswith({array.shape}, 'ARRAY<DECIMAL')"
    at_once = f"try_variant_get({array.variant}, '$', 'array<{SPARK_TYPES[kind].lower()}>')"
    return f"CASE WHEN {test} THEN {at_once} WHEN {array.variant} IS NOT NULL THEN {each} END"


def _element(value: Value, kind: ElementType, read: ReadText | None) -> str:
    """Return the SQL of a scalar as an element; null if it is no scalar or does not fit."""
    alternatives: list[str] = []
    if kind is ElementType.STRING:
        alternatives += [f"CAST({value.long} AS STRING)"] if value.long else []
        alternatives += [let(value.double, text_of_double)] if value.double else []
        return first([*alternatives, *([value.string] if value.string else [])], "STRING")
    if value.long:
        alternatives.append(
            value.long if kind is ElementType.LONG else f"CAST({value.long} AS DOUBLE)"
        )
    if value.double:
        rule = _whole if kind is ElementType.LONG else _finite if read else str
        alternatives.append(let(value.double, rule))
    if value.string and read:
        alternatives.append(let(value.string, lambda text: read(text, _SCALARS[kind])))
    return first(alternatives, SPARK_TYPES[kind])


def _whole(double: str) -> str:
    whole = f"{double} = floor({double}) AND abs({double}) <= {EXACT_MAX}"
    return f"CASE WHEN {whole} THEN CAST({double} AS BIGINT) END"


def _finite(double: str) -> str:
    return f"CASE WHEN abs({double}) < CAST('Infinity' AS DOUBLE) THEN {double} END"


def _may_hold_nulls(sql: str, kind: ElementType) -> str:
    return f"concat({sql}, CAST(array() AS ARRAY<{SPARK_TYPES[kind]}>))"
