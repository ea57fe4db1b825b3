"""Types of discovered columns: decided by the records' values, in any order.  Pure.

    longs ─────────► long       texts ─────────► string
    longs, doubles ► double     objects, mixed ► json
    lists of longs ► array<long> ··· with doubles ► array<double> ··· with texts ► array<string>

A column's kinds only grow, and the type of a set of kinds does not depend on the order in which
they were met.  So replicas, batches and handoffs may divide a topic in any way.  A value keeps its
meaning when its column's type grows: see `wider`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

from tasks.contract.ingest_spec import Column, ColumnType, Discovery, IngestSpec
from tasks.rows.arrays import (
    DOUBLES,
    ELEMENTS,
    EXACT_MAX,
    LONGS,
    NESTED,
    TEXTS,
    array_of,
    json_of_list,
    kinds_of_list,
    text_of_double,
)
from tasks.rows.expression.let import let
from tasks.rows.expression.value import ArrayValue, Value, as_json, first

LONG, DOUBLE, TEXT = 1, 2, 4
"""Kinds of values; the kinds of a column are their sum.  True and false are longs, as in Druid.

Lists have kinds of their own, by their elements: `LONGS`, `DOUBLES`, `TEXTS`.
"""

ColumnKinds = dict[str, int]
"""Names of discovered columns, sorted, with the kinds of their values."""

_LISTS = LONGS | DOUBLES | TEXTS
_ALL = LONG | DOUBLE | TEXT | NESTED | _LISTS
_KINDS: dict[ColumnType, int] = {
    "long": LONG,
    "double": DOUBLE,
    "float": DOUBLE,
    "string": TEXT,
    "json": _ALL,
    "array<long>": LONGS,
    "array<double>": DOUBLES,
    "array<string>": TEXTS,
}


def type_of(kinds: int) -> ColumnType | None:
    """Return the type of a column with values of these kinds; None: it has no values yet."""
    if kinds & NESTED or (kinds & TEXT and kinds != TEXT) or (kinds & _LISTS and kinds & ~_LISTS):
        return "json"
    if kinds & _LISTS:
        most = TEXTS if kinds & TEXTS else DOUBLES if kinds & DOUBLES else LONGS
        return next(column for column, held in _KINDS.items() if held == most)
    if kinds & DOUBLE:
        return "double"
    return {0: None, LONG: "long", TEXT: "string"}[kinds]


def kinds_of(column: ColumnType) -> int:
    """Return the kinds of values that a column type stands for."""
    return _KINDS[column]


def unsettled(column_kinds: Mapping[str, int]) -> tuple[str, ...]:
    """Return the columns whose type another value may still change, sorted."""
    return tuple(sorted(name for name, kinds in column_kinds.items() if type_of(kinds) != "json"))


def kinds_new(spec: IngestSpec, names: Iterable[str]) -> ColumnKinds:
    """Return newly met names, sorted, with the kinds that follow from the discovery of a name."""
    return {name: 0 if is_typed(spec, name) else TEXT for name in sorted(names)}


def is_typed(spec: IngestSpec, name: str) -> bool:
    """Return whether a discovered column gets its type from its values."""
    return spec.discovery is Discovery.TYPES or name in spec.typed


def typed_of(spec: IngestSpec, column_kinds: ColumnKinds) -> ColumnKinds:
    """Return the columns that get their types from their values."""
    return {name: kinds for name, kinds in column_kinds.items() if is_typed(spec, name)}


def columns_of(spec: IngestSpec, column_kinds: ColumnKinds) -> tuple[Column, ...]:
    """Return the columns of a batch, in the order of its files: the declared ones first."""
    declared = tuple(column for column in spec.columns if column.name not in spec.excluded)
    types = ((name, type_of(kinds)) for name, kinds in sorted(column_kinds.items()))
    return (*declared, *(Column(name=name, type=kind) for name, kind in types if kind is not None))


def kinds_met(spec: IngestSpec, names: Iterable[str], kinds: Mapping[str, int]) -> ColumnKinds:
    """Return the columns and kinds of a journal's entries."""
    return together([kinds_new(spec, names), kinds])


SCALARS: frozenset[ColumnType] = frozenset({"string", "long", "double", "float"})
"""Types of columns that hold one text or number."""


def common(
    columns: Iterable[Sequence[Column]], declared: Collection[str] = ()
) -> tuple[Column, ...]:
    """Return the columns of a table from the columns of its files, in order of appearance.

    A `declared` column that was once of texts, once of numbers, is one of texts: the spec decided
    between the two, not the value.
    """
    return tuple(
        Column(name=name, type="string" if name in declared and _is_mixed(held) else _common(held))
        for name, held in _types_of(columns).items()
    )


def numbers_beside_texts(columns: Iterable[Sequence[Column]]) -> frozenset[str]:
    """Return the columns that hold texts in some files, numbers in others, and nothing else."""
    return frozenset(name for name, held in _types_of(columns).items() if _is_mixed(held))


def _types_of(columns: Iterable[Sequence[Column]]) -> dict[str, set[ColumnType]]:
    types: dict[str, set[ColumnType]] = {}
    for column in (column for some in columns for column in some):
        types.setdefault(column.name, set()).add(column.type)
    return types


def _is_mixed(types: set[ColumnType]) -> bool:
    return "string" in types and len(types) > 1 and types <= SCALARS


def _common(types: set[ColumnType]) -> ColumnType:
    if len(types) == 1:
        return next(iter(types))
    found = type_of(reduce(or_, map(kinds_of, types)))
    assert found is not None, "every type has kinds"
    return found


def kinds_sql(value: Value) -> str:
    """Return the SQL of the kinds of one value, an INT; 0: the value is null."""
    cases = [
        f"WHEN ({sql}) IS NOT NULL THEN {kind}"
        for kind, sql in (
            (LONG, value.long),
            (DOUBLE, value.double),
            (TEXT, value.string),
            (NESTED, value.json),
        )
        if sql
    ]
    if value.array:
        cases.append(f"WHEN {value.array.there} THEN {kinds_of_list(value.array)}")
    return f"CASE {' '.join(cases)} ELSE 0 END" if cases else "0"


def stored(value: Value, column: ColumnType) -> str:
    """Return the SQL of a value in a column whose kinds include those of the value."""
    match column:
        case "long":
            return value.long or "CAST(NULL AS BIGINT)"
        case "double" | "float":
            longs = [f"CAST({value.long} AS DOUBLE)"] if value.long else []
            return first([*longs, *([value.double] if value.double else [])], "DOUBLE")
        case "string":
            return value.string or "CAST(NULL AS STRING)"
        case "json":
            whole = [_json_of_double(value.double)] if value.double else []
            lists = [json_of_list(value.array)] if value.array else []
            rest = Value(value.long, None, value.string, None, value.json)
            return first([*whole, *lists, as_json(rest)], "STRING")
        case _:
            return array_of(value, ELEMENTS[column])


def wider(sql: str, was: ColumnType, column: ColumnType) -> str:
    """Return the SQL of a stored value of type `was` in a column whose type has grown.

    The result is the same as if the type had been known from the start, except for whole numbers
    beyond 2^53 that were stored as doubles.  A number in a declared column of texts is its text.
    """
    match was:
        case _ if was == column:
            return sql
        case "long" if column == "string":
            return f"CAST({sql} AS STRING)"
        case "double" | "float" if column == "string":
            return let(f"CAST({sql} AS DOUBLE)", text_of_double)
        case "long":
            return stored(Value(long=sql), column)
        case "double" | "float":
            return stored(Value(double=f"CAST({sql} AS DOUBLE)"), column)
        case "string":
            return stored(Value(string=sql), column)
        case "json":
            return sql
        case _:
            return stored(Value(array=ArrayValue(ELEMENTS[was], sql)), column)


def _json_of_double(sql: str) -> str:
    """Write whole numbers without a fraction: a long may have become a double on its way."""
    whole = f"{sql} = floor({sql}) AND abs({sql}) <= {EXACT_MAX}"
    other = as_json(Value(double=sql))
    return f"CASE WHEN {whole} THEN CAST(CAST({sql} AS BIGINT) AS STRING) ELSE {other} END"


def together(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the kinds that several batches have met, per column."""
    kinds: dict[str, int] = {}
    for some in parts:
        for name, kind in some.items():
            kinds[name] = kinds.get(name, 0) | kind
    return kinds
