"""Operators between values, type by type.

Source: Druid's `BinaryEvalOpExprBase` and `ExpressionTypeConversion.autoDetect`: two texts are
treated as texts, two longs as longs, two arrays as arrays, and all other pairs as doubles.
"""

from collections.abc import Callable
from dataclasses import replace

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.let import let_both
from tasks.rows.expression.value import (
    ArrayValue,
    Value,
    as_double,
    as_truth,
    cast_array,
    common_kind,
    first,
    of_truth,
)

Form = Callable[[str, str], str]
"""Turns the SQL of two operands into the SQL of a result."""

INFINITY = "CAST('Infinity' AS DOUBLE)"
NAN = "CAST('NaN' AS DOUBLE)"


def binary(sign: str, left: Value, right: Value, at: int) -> Value:
    """Return the result of an operator between two values.

    Raises:
        ExpressionError: an array in place of a number, or arrays that cannot be compared.
    """
    if sign in {"&&", "||"}:
        word = "and" if sign == "&&" else "or"
        return of_truth(f"`{word}`({as_truth(left)}, {as_truth(right)})")
    if sign in _COMPARISONS:
        return of_truth(compare(sign, left, right, at))
    if left.is_array or right.is_array:
        raise ExpressionError(f"'{sign}' takes no array", at, "use map to work on each element")
    whole, real = _ARITHMETIC[sign]
    joined = None
    if sign == "+" and left.string and right.string:
        joined = f"concat({left.string}, {right.string})"
    return replace(numeric(left, right, whole, real), string=joined)


def negate(value: Value, at: int) -> Value:
    """Return `-value`; null for a text in a row, where Druid fails the row.

    Raises:
        ExpressionError: the value is always an array or a text.
    """
    if value.texts and not (value.long or value.double):
        raise ExpressionError("'-' takes a number", at, "cast it: cast(x, 'DOUBLE')")
    return Value(
        long=value.long and f"negative({value.long})",
        double=value.double and f"negative({value.double})",
    )


def deny(value: Value) -> Value:
    """Return `!value`."""
    return of_truth(f"not({as_truth(value)})") if value.texts else Value()


def numeric(left: Value, right: Value, whole: Form, real: Form) -> Value:
    """Return a long for two longs, null for two texts, and a double for all other pairs."""
    if not (left.texts and right.texts):
        return Value()
    long = double = None
    if left.long and right.long:
        long = whole(left.long, right.long)
    if not _always_alike(left, right):
        double = _if_unlike(left, right, real)
    return Value(long=long, double=double)


def divide(left: str, right: str) -> str:
    """Return DOUBLE: `left / right` as in Java, also by zero, where Spark returns null."""
    return let_both(
        left,
        right,
        lambda a, b: (
            f"CASE WHEN {b} = 0D THEN {a} * CASE WHEN CAST({b} AS STRING) = '-0.0' "
            f"THEN - {INFINITY} ELSE {INFINITY} END ELSE {a} / {b} END"
        ),
    )


def compare(sign: str, left: Value, right: Value, at: int) -> str:
    """Return BOOLEAN, null if one of the values is null.

    Texts compare by their UTF-8 bytes, in Java by UTF-16: characters beyond U+FFFF and those from
    U+E000 on have another order.  NaN equals nothing, and is greater than any other number.
    """
    if not (left.texts and right.texts):
        return "CAST(NULL AS BOOLEAN)"
    plain, real = _COMPARISONS[sign]
    comparisons = []
    if left.long and right.long:
        comparisons.append(plain(left.long, right.long))
    if left.string and right.string:
        comparisons.append(plain(left.string, right.string))
    if left.array and right.array:
        comparisons.append(_compare_arrays(plain, left.array, right.array, at))
    if not _always_alike(left, right):
        comparisons.append(_if_unlike(left, right, real))
    return first(comparisons, "BOOLEAN")


def _always_alike(left: Value, right: Value) -> bool:
    """Return whether both always have the same type, so that neither is read as a double."""
    shapes = (
        ({"long"}, {"string"}, {"array"}) if left.array and right.array else ({"long"}, {"string"})
    )
    return any(_views(left) == _views(right) == shape for shape in shapes)


def _views(value: Value) -> set[str]:
    names = ("long", "double", "string", "array", "json")
    return {name for name in names if getattr(value, name)}


def _if_unlike(left: Value, right: Value, form: Form) -> str:
    """Return `form` of both as doubles; null if both are longs, both texts, or both arrays."""
    alike = [
        (a, b)
        for a, b in (
            (left.long, right.long),
            (left.string, right.string),
            (left.array and left.array.sql, right.array and right.array.sql),
        )
        if a and b
    ]

    def guarded(pairs: list[tuple[str, str]], tests: list[str]) -> str:
        if not pairs:
            result = form(as_double(left), as_double(right))
            return f"CASE WHEN {' AND '.join(tests)} THEN {result} END" if tests else result
        (a, b), *others = pairs
        return guarded(others, [*tests, f"coalesce(isnull({a}) OR isnull({b}))"])

    return guarded(alike, [])


def _compare_arrays(plain: Form, left: ArrayValue, right: ArrayValue, at: int) -> str:
    kind = common_kind([left.kind, right.kind], at)
    assert kind is not None
    return plain(cast_array(left, kind).sql, cast_array(right, kind).sql)


def _infix(sign: str) -> Form:
    # As calls, because Spark's parser rereads the content of a plain bracket once per level.
    return lambda a, b: f"`{sign}`({a}, {b})"


def _equal(a: str, b: str) -> str:  # to Spark NaN equals NaN
    return let_both(a, b, lambda x, y: f"coalesce({x} = {y} AND NOT (isnan({x}) AND isnan({y})))")


def _unequal(a: str, b: str) -> str:
    return let_both(a, b, lambda x, y: f"coalesce({x} <> {y} OR (isnan({x}) AND isnan({y})))")


def _modulo(left: str, right: str) -> str:
    return let_both(
        left,
        right,
        lambda a, b: f"CASE WHEN {b} = 0D THEN {a} * {NAN} ELSE {a} % {b} END",
    )


def _power(left: str, right: str) -> str:
    """Return BIGINT: a power of longs, with Java's overflow; null below 0, where Druid fails."""
    # Squares the base once per bit of the exponent, which in Druid must be an int.
    step = (
        "named_struct('r', CASE WHEN (shiftright({e}, tg_b) & 1L) = 1L THEN tg_p.r * tg_p.b "
        "ELSE tg_p.r END, 'b', tg_p.b * tg_p.b)"
    )
    return let_both(
        left,
        right,
        lambda b, e: (
            f"CASE WHEN {e} BETWEEN 0L AND 2147483647L THEN aggregate(sequence(0, 30), "
            f"named_struct('r', 1L, 'b', {b}), (tg_p, tg_b) -> {step.replace('{e}', e)}, "
            "tg_p -> tg_p.r) END"
        ),
    )


# For longs, and for doubles.  Longs overflow as in Java.  Division of a long by 0 gives null, where
# Druid fails the row.
_ARITHMETIC: dict[str, tuple[Form, Form]] = {
    "+": (_infix("+"), _infix("+")),
    "-": (_infix("-"), _infix("-")),
    "*": (_infix("*"), _infix("*")),
    "/": (_infix("div"), divide),
    "%": (_infix("%"), _modulo),
    "^": (_power, lambda a, b: f"power({a}, {b})"),
}

_COMPARISONS: dict[str, tuple[Form, Form]] = {
    "<": (_infix("<"), _infix("<")),
    "<=": (_infix("<="), _infix("<=")),
    ">": (_infix(">"), _infix(">")),
    ">=": (_infix(">="), _infix(">=")),
    "==": (_infix("="), _equal),
    "!=": (lambda a, b: f"not({_infix('=')(a, b)})", _unequal),
}

whole_divide = _ARITHMETIC["/"][0]
"""Divides longs; null for a division by 0."""
