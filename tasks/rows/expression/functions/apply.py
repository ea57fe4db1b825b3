"""Functions that apply a lambda to the elements of arrays."""

from collections.abc import Sequence

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import element, let
from tasks.rows.expression.tree import ElementType, Lambda
from tasks.rows.expression.value import (
    ArrayValue,
    Value,
    as_array,
    as_kind,
    as_truth,
    element_kind,
    of_array,
    of_kind,
    of_truth,
    without_array,
)

_COMBINATIONS_MAX = 10_000


def _map(given: Given) -> Value:
    lambda_, array = given.function(1), given.array(1)
    name = element(given.depth)
    kind, body = _element_sql(given, lambda_, {lambda_.names[0]: of_kind(array.kind, name)})
    return of_array(kind, f"transform({array.sql}, {name} -> {body})")


def _cartesian_map(given: Given) -> Value:
    """Apply the lambda to each combination; those of the first array's first element come first.

    Null if there are more than `_COMBINATIONS_MAX`: one record could fill the memory.
    """
    arrays = [given.array(place) for place in range(1, len(given.values))]
    lambda_ = given.function(len(arrays))
    names = [element(given.depth, place) for place in range(len(arrays))]
    scope = {
        given_name: of_kind(array.kind, name)
        for given_name, array, name in zip(lambda_.names, arrays, names, strict=True)
    }
    kind, sql = _element_sql(given, lambda_, scope)
    for place, (array, name) in enumerate(reversed(list(zip(arrays, names, strict=True)))):
        sql = f"transform({array.sql}, {name} -> {sql})"
        if place:
            sql = f"flatten({sql})"
    return of_array(kind, f"CASE WHEN {_few(arrays)} THEN {sql} END")


def _element_sql(given: Given, lambda_: Lambda, scope: dict[str, Value]) -> tuple[ElementType, str]:
    """Return type and SQL of a lambda's result for an element.

    Raises:
        ExpressionError: the result is an array.
    """
    value = given.body(lambda_, scope)
    if value.is_array:
        fix = "make one value of each element"
        raise ExpressionError("an array of arrays cannot be made", lambda_.at, fix)
    value = without_array(value)
    kind = element_kind(value)
    return kind, as_kind(value, kind)


def _filter(given: Given) -> Value:
    """As in Druid, the result is null if no element is left."""
    array = given.array(1)
    return of_array(
        array.kind,
        let(
            f"filter({array.sql}, {_test(given, array)})",
            lambda a: f"CASE WHEN array_size({a}) > 0 THEN {a} END",
        ),
    )


def _any(given: Given) -> Value:
    array = given.array(1)
    return of_truth(f"coalesce(exists({array.sql}, {_test(given, array)}), false)")


def _all(given: Given) -> Value:
    array = given.array(1)
    return of_truth(f"coalesce(forall({array.sql}, {_test(given, array)}), false)")


def _test(given: Given, array: ArrayValue) -> str:
    lambda_, name = given.function(1), element(given.depth)
    body = given.body(lambda_, {lambda_.names[0]: of_kind(array.kind, name)})
    return f"{name} -> coalesce({as_truth(body)}, false)"


def _fold(given: Given) -> Value:
    """The accumulator keeps the type of its initial value."""
    return _folded(given, [given.array(1)], given.values[2])


def _cartesian_fold(given: Given) -> Value:
    """Fold over each combination, in the order and with the bound of `_cartesian_map`.

    Without a combination the result is the initial value, as for `fold`; in Druid it is [].
    """
    arrays = [given.array(place) for place in range(1, len(given.values) - 1)]
    folded = _folded(given, arrays, given.values[-1])
    few = _few(arrays)

    def bounded(sql: str | None) -> str | None:
        return sql and f"CASE WHEN {few} THEN {sql} END"

    array = folded.array and ArrayValue(folded.array.kind, bounded(folded.array.sql) or "")
    return Value(bounded(folded.long), bounded(folded.double), bounded(folded.string), array)


def _few(arrays: Sequence[ArrayValue]) -> str:
    """Return BOOLEAN: whether the number of combinations is allowed; null if an array is null."""
    number = " * ".join(f"CAST(array_size({array.sql}) AS DOUBLE)" for array in arrays)
    return f"{number} <= {_COMBINATIONS_MAX}D"


def _folded(given: Given, arrays: Sequence[ArrayValue], begin: Value) -> Value:
    """Nest the folds over arrays; the fold over the first array is the outermost."""
    lambda_ = given.function(len(arrays) + 1)
    items = [element(given.depth, place) for place in range(len(arrays))]
    gathered = [element(given.depth, len(arrays) + place) for place in range(len(arrays))]
    is_array = begin.is_array
    begin = begin if is_array else without_array(begin)
    kind = element_kind(begin)
    state = of_array(kind, gathered[-1]) if is_array else of_kind(kind, gathered[-1])
    scope = {
        name: of_kind(array.kind, item)
        for name, array, item in zip(lambda_.names, arrays, items, strict=False)
    }
    next_ = given.body(lambda_, {**scope, lambda_.names[-1]: state})
    if is_array:
        first, step = as_array(begin, kind).sql, as_array(next_, kind).sql
    elif next_.is_array:
        fix = "begin with an array: <LONG>[]"
        message = f"{given.name} begins with one value and makes an array"
        raise ExpressionError(message, given.at, fix)
    else:
        first, step = as_kind(begin, kind), as_kind(next_, kind)
    starts = [first, *gathered[:-1]]
    for array, item, so_far, start in reversed(
        list(zip(arrays, items, gathered, starts, strict=True))
    ):
        step = f"aggregate({array.sql}, {start}, ({so_far}, {item}) -> {step})"
    return of_array(kind, step) if is_array else of_kind(kind, step)


FUNCTIONS = table(
    Function("map(lambda, array)", 2, 2, _map),
    Function("cartesian_map(lambda, array, ...)", 2, None, _cartesian_map),
    Function("filter(lambda, array)", 2, 2, _filter),
    Function("fold(lambda, array, begin)", 3, 3, _fold),
    Function("cartesian_fold(lambda, array, ..., begin)", 3, None, _cartesian_fold),
    Function("any(lambda, array)", 2, 2, _any),
    Function("all(lambda, array)", 2, 2, _all),
)
