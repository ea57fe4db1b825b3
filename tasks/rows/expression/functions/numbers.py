"""Functions of numbers: Java's `Math`.  As in Druid, their result for a text is null."""

from collections.abc import Callable

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let, let_both
from tasks.rows.expression.operators import INFINITY, NAN, Form, divide, numeric, whole_divide
from tasks.rows.expression.value import Value, as_long, first, of_double, of_long, whole_of_double

_SCALE_MAX = 400
"""A double has no more decimal places; `round` computes with as many digits as requested."""
_DIGITS_OF_A_LONG = 19


def real(given: Given, place: int = 0) -> str:
    """Return DOUBLE: an argument that is a number, but not a number in a text."""
    value = given.values[place]
    found = [f"CAST({value.long} AS DOUBLE)"] if value.long else []
    return first(found + ([value.double] if value.double else []), "DOUBLE")


def _one(form: Callable[[str], str]) -> Callable[[Given], Value]:
    """Make a function from one double to a double; `form` may use its operand several times."""
    return lambda given: of_double(let(real(given), form))


def _call(name: str) -> Callable[[Given], Value]:
    return _one(lambda x: f"{name}({x})")


def _log(name: str, least: str) -> Callable[[Given], Value]:
    # Spark returns null where Java returns -Infinity or NaN.
    return _one(
        lambda x: (
            f"CASE WHEN {x} > {least} THEN {name}({x}) WHEN {x} = {least} "
            f"THEN - {INFINITY} WHEN {x} IS NOT NULL THEN {NAN} END"
        )
    )


def _ceil(x: str) -> str:
    # Spark's own function returns a long; `rint` preserves large numbers and -0.0.
    return (
        f"CASE WHEN rint({x}) < {x} THEN CASE WHEN rint({x}) = -1D THEN (- 0D) "
        f"ELSE rint({x}) + 1D END ELSE rint({x}) END"
    )


def _floor(x: str) -> str:
    return f"CASE WHEN rint({x}) > {x} THEN rint({x}) - 1D ELSE rint({x}) END"


def _abs(given: Given) -> Value:
    value = given.values[0]
    return Value(
        long=value.long and f"abs({value.long})", double=value.double and f"abs({value.double})"
    )


def of_reals(form: Form) -> Callable[[Given], Value]:
    """Make a function from two doubles to a double."""

    def make(given: Given) -> Value:
        computed = numeric(given.values[0], given.values[1], lambda a, b: f"({a} + {b})", form)
        if not computed.long:
            return computed
        left, right = given.values
        whole = form(f"CAST({left.long} AS DOUBLE)", f"CAST({right.long} AS DOUBLE)")
        return of_double(first([whole, *([computed.double] if computed.double else [])], "DOUBLE"))

    return make


def _mixed(whole: Form, real: Form) -> Callable[[Given], Value]:
    """Make a function from two longs to a long, and from two doubles to a double."""
    return lambda given: numeric(given.values[0], given.values[1], whole, real)


def _extreme(name: str) -> Form:
    def real(left: str, right: str) -> str:
        # To Spark NaN is the largest number and null is skipped; in Java NaN and null absorb all.
        return let_both(
            left,
            right,
            lambda a, b: (
                f"CASE WHEN isnan({a} + {b}) AND (isnan({a}) OR isnan({b})) THEN {NAN} "
                f"WHEN {a} IS NOT NULL AND {b} IS NOT NULL THEN {name}({a}, {b}) END"
            ),
        )

    return real


def _extreme_long(name: str) -> Form:
    return lambda left, right: let_both(
        left,
        right,
        lambda a, b: f"CASE WHEN {a} IS NOT NULL AND {b} IS NOT NULL THEN {name}({a}, {b}) END",
    )


def _div(given: Given) -> Value:
    found = numeric(given.values[0], given.values[1], whole_divide, divide)
    parts = [found.long] if found.long else []
    parts += [whole_of_double(found.double)] if found.double else []
    return of_long(first(parts, "BIGINT")) if parts else Value()


def _safe_divide(left: str, right: str) -> str:
    return let_both(
        left,
        right,
        lambda a, b: (
            f"CASE WHEN isnan({b}) THEN CASE WHEN {a} = 0D THEN 0D END "
            f"WHEN {b} <> 0D THEN {a} / {b} END"
        ),
    )


def _round(given: Given) -> Value:
    """Half is rounded away from 0.  As in Druid, NaN becomes 0, and infinity the largest double."""
    value = given.values[0]
    places = given.literal_whole(1, "the number of places") if given.has(1) else 0
    if abs(places) > _SCALE_MAX:
        raise ExpressionError(
            f"{places} places are too many", given.at, f"use {_SCALE_MAX} at most"
        )
    long = value.long
    if long and places < 0:
        long = f"CAST(round(CAST({long} AS DECIMAL(38, 0)), {places}) AS BIGINT)"
        long = long if places > -_DIGITS_OF_A_LONG else f"({value.long} * 0L)"
    largest = "1.7976931348623157E308D"
    double = value.double and let(
        value.double,
        lambda x: (
            f"CASE WHEN isnan({x}) THEN 0D WHEN abs({x}) = {INFINITY} "
            f"THEN signum({x}) * {largest} ELSE round({x}, {places}) END"
        ),
    )
    return Value(long=long, double=double)


def _bits(form: Form) -> Callable[[Given], Value]:
    """Make a function of the bits of two longs; doubles are truncated, two texts give null."""

    def make(given: Given) -> Value:
        left, right = given.values
        if not (left.texts and right.texts):
            return Value()
        result = form(as_long(left), as_long(right))
        if left.string and right.string:
            result = f"CASE WHEN {left.string} IS NULL OR {right.string} IS NULL THEN {result} END"
        return of_long(result)

    return make


def _shift(name: str) -> Form:
    return lambda a, b: f"{name}({a}, CAST(({b} & 63L) AS INT))"


def _complement(given: Given) -> Value:
    """A double beyond the longs gives null; Druid fails the row."""
    value = given.values[0]
    alternatives = [f"(~ {value.long})"] if value.long else []
    if value.double:
        alternatives.append(f"(~ {whole_of_double(value.double)})")
    return of_long(first(alternatives, "BIGINT"))


def _cot(x: str) -> str:
    return divide(f"cos({x})", f"sin({x})")


def _copy_sign(left: str, right: str) -> str:
    return let_both(
        left,
        right,
        lambda a, b: (
            f"CASE WHEN {b} < 0D OR CAST({b} AS STRING) = '-0.0' THEN (- abs({a})) "
            f"WHEN {b} IS NOT NULL THEN abs({a}) END"
        ),
    )


def _infix(name: str) -> Form:
    return lambda a, b: f"{name}({a}, {b})"


_SAME = [
    "acos",
    "asin",
    "atan",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "rint",
    "signum",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]

FUNCTIONS = table(
    *(Function(f"{name}(x)", 1, 1, _call(name)) for name in _SAME),
    Function("toDegrees(x)", 1, 1, _call("degrees")),
    Function("toRadians(x)", 1, 1, _call("radians")),
    Function("log(x)", 1, 1, _log("ln", "0D")),
    Function("log10(x)", 1, 1, _log("log10", "0D")),
    Function("log1p(x)", 1, 1, _log("log1p", "-1D")),
    Function("ceil(x)", 1, 1, _one(_ceil)),
    Function("floor(x)", 1, 1, _one(_floor)),
    Function("cot(x)", 1, 1, _one(_cot)),
    Function("abs(x)", 1, 1, _abs),
    Function("pi()", 0, 0, lambda _: of_double("3.141592653589793D")),
    Function("round(x[, places])", 1, 2, _round),
    Function("atan2(y, x)", 2, 2, of_reals(_infix("atan2"))),
    Function("hypot(x, y)", 2, 2, of_reals(_infix("hypot"))),
    Function("pow(x, y)", 2, 2, of_reals(_infix("power"))),
    Function("copySign(x, y)", 2, 2, of_reals(_copy_sign)),
    Function("max(x, y)", 2, 2, _mixed(_extreme_long("greatest"), _extreme("greatest"))),
    Function("min(x, y)", 2, 2, _mixed(_extreme_long("least"), _extreme("least"))),
    Function("div(x, y)", 2, 2, _div),
    Function("safe_divide(x, y)", 2, 2, _mixed(whole_divide, _safe_divide)),
    Function("bitwiseAnd(x, y)", 2, 2, _bits(lambda a, b: f"({a} & {b})")),
    Function("bitwiseOr(x, y)", 2, 2, _bits(lambda a, b: f"({a} | {b})")),
    Function("bitwiseXor(x, y)", 2, 2, _bits(lambda a, b: f"({a} ^ {b})")),
    Function("bitwiseShiftLeft(x, y)", 2, 2, _bits(_shift("shiftleft"))),
    Function("bitwiseShiftRight(x, y)", 2, 2, _bits(_shift("shiftright"))),
    Function("bitwiseComplement(x)", 1, 1, _complement),
)
