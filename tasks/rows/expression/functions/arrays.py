"""Functions of arrays.  A value that is not an array counts as an array of one, null as null."""

from collections.abc import Callable

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.functions.patterns import checked_separator
from tasks.rows.expression.let import let, let_both
from tasks.rows.expression.tree import ArrayLiteral, ElementType, Name
from tasks.rows.expression.value import (
    SPARK_TYPES,
    ArrayValue,
    Value,
    as_array,
    as_double,
    as_kind,
    as_string,
    cast_array,
    element_kind,
    is_null,
    of_array,
    of_kind,
    of_long,
    of_text,
    of_truth,
    without_array,
)
from tasks.rows.sql.matching import split_sql

_PADDED_MAX = 10_000
"""Most nulls that `array_slice` appends; if more were needed, the result is null."""
_INT_MAX = 2**31 - 1


def _array(given: Given) -> Value:
    """As in Druid, the type of the first argument decides the type of the others."""
    if any(value.is_array for value in given.values):
        raise ExpressionError("an array of arrays cannot be made", given.at, "use array_concat")
    kind = element_kind(without_array(given.values[0]))
    return of_array(kind, f"array({', '.join(as_kind(value, kind) for value in given.values)})")


def _length(given: Given) -> Value:
    return of_long(f"CAST(array_size({given.array(0).sql}) AS BIGINT)")


def _offset(first: int) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        array = given.array(0)
        place = f"least({given.whole(1)}, {_INT_MAX}L) - {first}L"
        return of_kind(array.kind, f"get({array.sql}, CAST({place} AS INT))")

    return make


def _offset_of(first: int) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        def place(array: str, wanted: str) -> str:
            position = f"CASE WHEN {wanted} IS NULL AND {is_null(given.values[1])} THEN "
            position += f"array_position(transform({array}, tg_f -> tg_f IS NULL), true) "
            position += f"ELSE array_position({array}, {wanted}) END"
            return f"(nullif({position}, 0L) - {1 - first}L)"

        array, wanted = _comparable(given, 0, 1)
        return of_long(let_both(array, wanted, place))

    return make


def _comparable(given: Given, array: int, scalar: int) -> tuple[str, str]:
    """Return an array and a value as SQL of one type, in which only equal values are equal."""
    held, value = given.array(array), given.values[scalar]
    if value.is_array:
        raise given.wrong(
            scalar, f"{given.name} looks for one value, no array", "use array_contains"
        )
    if held.kind is ElementType.STRING:
        return held.sql, as_string(value)
    if held.kind is ElementType.LONG and value.long and len(value.texts) == 1:
        return held.sql, value.long
    return cast_array(held, ElementType.DOUBLE).sql, as_double(value)  # 1.5 is not the long 1


def _scalar_in(given: Given) -> Value:
    array, wanted = _comparable(given, 1, 0)
    null = is_null(given.values[0])
    return of_truth(
        let_both(
            array,
            wanted,
            lambda a, w: (
                f"CASE WHEN NOT {null} AND {a} IS NOT NULL "
                f"THEN exists({a}, tg_f -> tg_f <=> {w}) AND {w} IS NOT NULL END"
            ),
        )
    )


def _contains(given: Given) -> Value:
    """As in Druid, null may be searched for as an element."""
    if given.values[1].array is None:
        array, wanted = _comparable(given, 0, 1)
        null = is_null(given.values[1])
        return of_truth(
            let_both(
                array,
                wanted,
                lambda a, w: (
                    f"CASE WHEN {a} IS NOT NULL THEN exists({a}, tg_f -> tg_f <=> {w}) "
                    f"AND ({w} IS NOT NULL OR {null}) END"
                ),
            )
        )
    left, right = _both(given)
    return of_truth(
        let_both(
            left,
            right,
            lambda a, b: (
                f"CASE WHEN {a} IS NOT NULL THEN CASE WHEN {b} IS NULL "
                f"THEN exists({a}, tg_f -> tg_f IS NULL) "
                f"ELSE forall({b}, tg_g -> exists({a}, tg_f -> tg_f <=> tg_g)) END END"
            ),
        )
    )


def _overlap(given: Given) -> Value:
    left, right = _both(given)
    return of_truth(
        let_both(
            left,
            right,
            lambda a, b: (
                f"CASE WHEN {a} IS NOT NULL THEN coalesce(exists({b}, "
                f"tg_g -> exists({a}, tg_f -> tg_f <=> tg_g)), false) END"
            ),
        )
    )


def _both(given: Given) -> tuple[str, str]:
    """Return two arrays as SQL of one type.

    Raises:
        ExpressionError: the first has numbers, the second texts.
    """
    left, value = given.array(0), given.values[1]
    right = as_array(value) if value.texts else ArrayValue(left.kind, _nothing(left.kind))
    part = given.part(1)
    if isinstance(part, ArrayLiteral) and all(item is None for item in part.values):
        right = cast_array(right, left.kind)  # nulls are of any type
    if left.kind is ElementType.STRING:
        return left.sql, cast_array(right, ElementType.STRING).sql
    if right.kind is ElementType.STRING:
        fix = "cast one of them: cast(x, 'ARRAY<STRING>')"
        raise given.wrong(1, f"{given.name} cannot look for texts among numbers", fix)
    kind = left.kind if left.kind is right.kind else ElementType.DOUBLE
    return cast_array(left, kind).sql, cast_array(right, kind).sql


def _nothing(kind: ElementType) -> str:
    return f"CAST(NULL AS ARRAY<{SPARK_TYPES[kind]}>)"


def _append(given: Given) -> Value:
    array, value = given.array(0), given.values[1]
    return of_array(array.kind, f"concat({array.sql}, {_alone(given, 1, value, array)})")


def _prepend(given: Given) -> Value:
    array, value = given.array(1), given.values[0]
    return of_array(array.kind, f"concat({_alone(given, 0, value, array)}, {array.sql})")


def _alone(given: Given, place: int, value: Value, array: ArrayValue) -> str:
    if value.is_array:
        raise given.wrong(place, f"{given.name} adds one value, no array", "use array_concat")
    return f"array({as_kind(value, array.kind)})"


def _concat(given: Given) -> Value:
    """If the second array is null, the result is the first."""
    left = given.array(0)
    right = as_array(given.values[1], left.kind)
    return of_array(left.kind, _joined(left, right))


def _joined(left: ArrayValue, right: ArrayValue) -> str:
    empty = f"CAST(array() AS ARRAY<{SPARK_TYPES[left.kind]}>)"
    return f"concat({left.sql}, coalesce({right.sql}, {empty}))"


def _set_add(given: Given) -> Value:
    found = _append(given).array
    assert found is not None
    return _as_set(found)


def _set_add_all(given: Given) -> Value:
    found = _concat(given).array
    assert found is not None
    return _as_set(found)


def _as_set(array: ArrayValue) -> Value:
    return of_array(array.kind, f"sort_array(array_distinct({array.sql}), true)")


def _slice(given: Given) -> Value:
    """As in Druid, elements behind the end are null."""
    array = given.array(0)
    null = f"CAST(NULL AS {SPARK_TYPES[array.kind]})"

    def cut(held: str, start: str) -> str:
        size = f"CAST(array_size({held}) AS BIGINT)"
        end = given.whole(2) if given.has(2) else size
        return (
            f"CASE WHEN {start} BETWEEN 0L AND {size} AND {start} <= {end} "
            f"AND {end} <= {size} + {_PADDED_MAX}L THEN concat("
            f"slice({held}, CAST({start} AS INT) + 1, CAST(greatest({end} - {start}, 0L) AS INT)), "
            f"array_repeat({null}, CAST(greatest({end} - {size}, 0L) AS INT))) END"
        )

    return of_array(array.kind, let_both(array.sql, given.whole(1), cut))


def _to_string(given: Given) -> Value:
    separator = f"coalesce({given.text(1)}, '')"
    texts = cast_array(given.array(0), ElementType.STRING).sql
    return of_text(
        let(
            texts,
            lambda a: (
                f"CASE WHEN array_size({a}) <> 1 OR get({a}, 0) IS NOT NULL "
                f"THEN array_join({a}, {separator}, 'null') END"
            ),
        )
    )


def _from_string(given: Given) -> Value:
    separator = checked_separator(given, 1)

    def split(raw: str) -> str:
        # Java drops empty texts at the end, unless nothing was split.
        return let(
            split_sql(raw, separator),
            lambda all_: (
                f"CASE WHEN {raw} = '' THEN array('') ELSE slice({all_}, 1, coalesce("
                f"array_max(transform({all_}, (tg_f, tg_g) -> CASE WHEN tg_f <> '' THEN tg_g + 1 "
                f"END)), 0)) END"
            ),
        )

    return of_array(ElementType.STRING, let(given.text(0), split))


def _to_mv(given: Given) -> Value:
    return of_array(ElementType.STRING, as_array(given.values[0], ElementType.STRING).sql)


def _mv_to_array(given: Given) -> Value:
    if not isinstance(given.part(0), Name):
        raise given.wrong(0, "mv_to_array takes a field", "use array")
    return _to_mv(given)


FUNCTIONS = table(
    Function("array(value, ...)", 1, None, _array),
    Function("array_length(array)", 1, 1, _length),
    Function("array_offset(array, index)", 2, 2, _offset(0)),
    Function("array_ordinal(array, index)", 2, 2, _offset(1)),
    Function("array_offset_of(array, value)", 2, 2, _offset_of(0)),
    Function("array_ordinal_of(array, value)", 2, 2, _offset_of(1)),
    Function("array_contains(array, value)", 2, 2, _contains),
    Function("array_overlap(array, array)", 2, 2, _overlap),
    Function("scalar_in_array(value, array)", 2, 2, _scalar_in),
    Function("array_append(array, value)", 2, 2, _append),
    Function("array_prepend(value, array)", 2, 2, _prepend),
    Function("array_concat(array, array)", 2, 2, _concat),
    Function("array_set_add(array, value)", 2, 2, _set_add),
    Function("array_set_add_all(array, array)", 2, 2, _set_add_all),
    Function("array_slice(array, start[, end])", 2, 3, _slice),
    Function("array_to_string(array, separator)", 2, 2, _to_string),
    Function("string_to_array(text, separator)", 2, 2, _from_string),
    Function("array_to_mv(array)", 1, 1, _to_mv),
    Function("mv_to_array(field)", 1, 1, _mv_to_array),
)
