"""General functions: conditions, nulls and casts."""

from dataclasses import replace

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let
from tasks.rows.expression.operators import compare
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import (
    Value,
    as_array,
    as_double,
    as_json,
    as_long,
    as_string,
    as_truth,
    choose,
    is_null,
    is_there,
    of_array,
    of_double,
    of_long,
    of_text,
    of_truth,
)


def _if(given: Given) -> Value:
    test, yes, no = given.values
    return choose([(as_truth(test), yes)], no, given.at)


def _nvl(given: Given) -> Value:
    *found, last = given.values
    branches = [(is_there(value), value) for value in found if value.texts]
    return choose(branches, last, given.at) if branches else last


def _case_searched(given: Given) -> Value:
    pairs, otherwise = _pairs(given.values)
    branches = [(as_truth(test), value) for test, value in pairs]
    return choose(branches, otherwise, given.at)


def _case_simple(given: Given) -> Value:
    wanted, *others = given.values
    pairs, otherwise = _pairs(tuple(others))
    branches = [(compare("==", wanted, test, given.at), value) for test, value in pairs]
    return choose(branches, otherwise, given.at)


def _pairs(values: tuple[Value, ...]) -> tuple[list[tuple[Value, Value]], Value]:
    pairs = list(zip(values[::2], values[1::2], strict=False))
    return pairs, values[-1] if len(values) % 2 else Value()


def _is_null(given: Given) -> Value:
    return of_truth(is_null(given.values[0]))


def _is_there(given: Given) -> Value:
    return of_truth(is_there(given.values[0]))


def cast(given: Given, value: Value, name: str, place: int) -> Value:
    """Return a value in the type that argument `place` names; null if it cannot be converted.

    Raises:
        ExpressionError: there is no such type.
    """
    scalar = _only_of_many(value)
    match name.upper():
        case "LONG":
            return of_long(as_long(value))
        case "DOUBLE":
            return of_double(as_double(value))
        case "STRING":
            return of_text(as_string(scalar))
        case "COMPLEX<JSON>":
            return Value(json=as_json(value))
        case other if other in _ARRAYS:
            kind = _ARRAYS[other]
            return of_array(kind, as_array(value, kind).sql)
    names = "LONG, DOUBLE, STRING, ARRAY<LONG>, ARRAY<DOUBLE>, ARRAY<STRING> or COMPLEX<json>"
    raise given.wrong(place, f"there is no type '{name}'", f"use {names}")


_ARRAYS = {f"ARRAY<{kind}>": kind for kind in ElementType} | {
    f"{kind}_ARRAY": kind for kind in ElementType
}


def _only_of_many(value: Value) -> Value:
    """Exclude arrays that have not exactly one element: Druid cannot cast them to a text."""
    array = value.array
    if not array:
        return value
    sql = let(array.sql, lambda a: f"CASE WHEN array_size({a}) = 1 THEN {a} END")
    alone = of_array(array.kind, sql)
    return replace(value, array=alone.array, number=None)


def _cast(given: Given) -> Value:
    return cast(given, given.values[0], given.literal_text(1, "the type"), 1)


FUNCTIONS = table(
    Function("if(test, then, else)", 3, 3, _if),
    Function("nvl(value, default)", 2, 2, _nvl),
    Function("coalesce(value, ...)", 1, None, _nvl),
    Function("case_searched(test, result, ..., else)", 2, None, _case_searched),
    Function("case_simple(value, test, result, ..., else)", 3, None, _case_simple),
    Function("isnull(value)", 1, 1, _is_null),
    Function("notnull(value)", 1, 1, _is_there),
    Function("cast(value, type)", 2, 2, _cast),
)
