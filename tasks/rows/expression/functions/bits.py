"""Functions of a double's exponent, fraction and bits: Java's `Math` and `Double`.

They are computed exactly, by powers of 2.  Spark could call Java's own functions by `java_method`.
But that fails the job at a null, is four times slower, and counts as non-deterministic, so Spark
neither folds nor moves it, nor includes it in generated code.
"""

from collections.abc import Callable

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.functions.numbers import of_reals, real
from tasks.rows.expression.let import let, let_both
from tasks.rows.expression.operators import INFINITY, NAN
from tasks.rows.expression.value import (
    Value,
    as_double,
    as_long,
    first,
    of_double,
    of_long,
    whole_of_double,
)

_LEAST = "4.9E-324D"
_LEAST_NORMAL = "2.2250738585072014E-308D"
_LARGEST = "1.7976931348623157E308D"
_BITS_OF_INFINITY = f"{0x7FF0000000000000}L"
_BITS_OF_NAN = f"{0x7FF8000000000000}L"
_FRACTION = f"{2**52 - 1}L"
_HIDDEN = f"{2**52}L"
_FACTORS_MAX = 2_100
"""A larger power of 2 turns the smallest double into infinity, and the largest into 0."""


def _one(special: str, ordinary: Callable[[str], str]) -> Callable[[Given], str]:
    """Make a function; `special` is its SQL for infinities and NaN, with `{x}` for the number."""

    def make(given: Given) -> str:
        return let(
            real(given),
            lambda x: (
                f"CASE WHEN isnan({x}) OR abs({x}) = {INFINITY} THEN {special.replace('{x}', x)} "
                f"WHEN {x} IS NOT NULL THEN {ordinary(x)} END"
            ),
        )

    return make


def _scaled(size: str, form: Callable[[str], str]) -> str:
    """Return `form` of the exponent (at least -1022) of `size`, a finite number of at least 0."""
    # The logarithm is rounded, so close to a power of 2 it may be one off.
    near = f"floor(log2({size}))"
    exact = let(
        near,
        lambda e: (
            f"CASE WHEN {size} < power(2D, {e}) THEN {e} - 1L "
            f"WHEN {size} >= power(2D, {e} + 1L) THEN {e} + 1L ELSE {e} END"
        ),
    )
    return let(f"greatest(-1022L, {exact})", form)


def _ulp(x: str) -> str:
    return _scaled(f"abs({x})", lambda e: f"power(2D, {e} - 52L)")


def _exponent(x: str) -> str:
    exponent = _scaled(f"abs({x})", lambda e: f"({e})")
    return f"CASE WHEN abs({x}) < {_LEAST_NORMAL} THEN -1023L ELSE {exponent} END"


def _next_up(x: str) -> str:
    # Below a power of 2 doubles are twice as dense, except for those next to 0.
    down = _scaled(
        f"abs({x})",
        lambda e: (
            f"(abs({x}) - CASE WHEN abs({x}) = power(2D, {e}) AND {e} > -1022L "
            f"THEN power(2D, {e} - 53L) ELSE power(2D, {e} - 52L) END)"
        ),
    )
    return f"CASE WHEN {x} >= 0D THEN {x} + {_ulp(x)} ELSE negative({down}) END"


def _next_up_of_all(x: str) -> str:
    return (
        f"CASE WHEN isnan({x}) OR {x} = {INFINITY} THEN {x} "
        f"WHEN {x} = - {INFINITY} THEN - {_LARGEST} ELSE {_next_up(x)} END"
    )


def _next_after(left: str, right: str) -> str:
    def towards(x: str, y: str) -> str:
        sign = f"CASE WHEN {y} > {x} THEN 1D ELSE -1D END"
        up = let(f"({x} * {sign})", _next_up_of_all)
        return (
            f"CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL WHEN isnan({x}) OR isnan({y}) "
            f"THEN {NAN} WHEN {x} = {y} THEN {y} ELSE {up} * {sign} END"
        )

    return let_both(left, right, towards)


def _remainder(left: str, right: str) -> str:
    def signed(x: str, y: str) -> str:
        return (
            f"CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL WHEN isnan({x}) OR isnan({y}) "
            f"OR abs({x}) = {INFINITY} OR {y} = 0D THEN {NAN} "
            f"ELSE {_nearest(x, y)} * CASE WHEN {_negative(x)} THEN -1D ELSE 1D END END"
        )

    return let_both(left, right, signed)


def _nearest(x: str, y: str) -> str:
    """Return the distance of |x| from the nearest multiple of |y|; of two the even multiple."""

    # None of these steps rounds: a remainder never does, nor does the difference of two numbers if
    # one is at most twice the other.
    def beyond(rest: str, step: str) -> str:
        past = let(
            f"({rest} - {step})",
            lambda p: f"CASE WHEN {p} + {p} >= {step} THEN {p} - {step} ELSE {p} END",
        )
        return f"CASE WHEN {rest} + {rest} > {step} THEN {past} ELSE {rest} END"

    return let(f"abs({x}) % (abs({y}) + abs({y}))", lambda rest: beyond(rest, f"abs({y})"))


def _negative(x: str) -> str:
    """Return BOOLEAN: whether the sign is a minus, also that of -0.0."""
    return f"({x} < 0D OR ({x} = 0D AND CAST({x} AS STRING) = '-0.0'))"


def _to_bits(given: Given) -> Value:
    """As in Java, all NaNs have the same bits."""

    def bits(x: str) -> str:
        size = _scaled(
            f"abs({x})",
            lambda e: (
                f"(shiftleft({e} + 1022L, 52) + CAST(abs({x}) / power(2D, {e} - 52L) AS BIGINT))"
            ),
        )
        return (
            f"(CASE WHEN abs({x}) = {INFINITY} THEN {_BITS_OF_INFINITY} ELSE {size} END | "
            f"CASE WHEN {_negative(x)} THEN shiftleft(1L, 63) ELSE 0L END)"
        )

    return of_long(
        let(
            real(given),
            lambda x: (
                f"CASE WHEN isnan({x}) THEN {_BITS_OF_NAN} WHEN {x} IS NOT NULL THEN {bits(x)} END"
            ),
        )
    )


def _from_bits(given: Given) -> Value:
    """A double is truncated; beyond the longs it is null, where Druid fails the row."""
    value = given.values[0]
    alternatives = [value.long] if value.long else []
    if value.double:
        alternatives.append(whole_of_double(value.double))

    def number(bits: str) -> str:
        size = let(
            f"(shiftright({bits}, 52) & 2047L)",
            lambda e: (
                f"CASE WHEN {e} = 0L THEN ({bits} & {_FRACTION}) * {_LEAST} "
                f"WHEN {e} < 2047L THEN (({bits} & {_FRACTION}) | {_HIDDEN}) "
                f"* power(2D, {e} - 1075L) "
                f"WHEN ({bits} & {_FRACTION}) = 0L THEN {INFINITY} ELSE {NAN} END"
            ),
        )
        return (
            f"CASE WHEN {bits} < 0L THEN negative({size}) WHEN {bits} IS NOT NULL THEN {size} END"
        )

    return of_double(let(first(alternatives, "BIGINT"), number))


def _scalb(given: Given) -> Value:
    """The exponent is an int, by Java's cast; the result for two texts is null."""
    left, right = given.values
    if not (left.texts and right.texts):
        return Value()
    exponents = [f"CAST({sql} AS INT)" for sql in (right.long, right.double) if sql]
    if right.string or right.array:
        rest = Value(string=right.string, array=right.array)
        exponents.append(f"CAST({as_long(rest)} AS INT)")
    scaled = let_both(as_double(left), first(exponents, "INT"), _times_power)
    if left.string and right.string:
        scaled = f"CASE WHEN {left.string} IS NULL OR {right.string} IS NULL THEN {scaled} END"
    return of_double(scaled)


def _times_power(number: str, power: str) -> str:
    # The smallest factor comes first: if it rounds, the larger ones make 0 in any case.
    def product(k: str) -> str:
        rest, half = f"{k} div 500", f"({k} div 500) div 2"
        return (
            f"{number} * power(2D, {k} % 500) * power(2D, 500 * ({half})) "
            f"* power(2D, 500 * ({rest} - {half}))"
        )

    bounded = f"least(greatest({power}, -{_FACTORS_MAX}), {_FACTORS_MAX})"
    # Both of Spark's functions ignore nulls.
    return f"CASE WHEN {power} IS NOT NULL THEN {let(bounded, product)} END"


def _double(form: Callable[[Given], str]) -> Callable[[Given], Value]:
    return lambda given: of_double(form(given))


def _long(form: Callable[[Given], str]) -> Callable[[Given], Value]:
    return lambda given: of_long(form(given))


_UP_OF_ENDS = f"CASE WHEN {{x}} = - {INFINITY} THEN - {_LARGEST} ELSE {{x}} END"

FUNCTIONS = table(
    Function("remainder(x, y)", 2, 2, of_reals(_remainder)),
    Function("getExponent(x)", 1, 1, _long(_one("1024L", _exponent))),
    Function("ulp(x)", 1, 1, _double(_one("abs({x})", _ulp))),
    Function("nextUp(x)", 1, 1, _double(_one(_UP_OF_ENDS, _next_up))),
    Function("nextAfter(x, y)", 2, 2, of_reals(_next_after)),
    Function("scalb(x, power)", 2, 2, _scalb),
    Function("bitwiseConvertDoubleToLongBits(x)", 1, 1, _to_bits),
    Function("bitwiseConvertLongBitsToDouble(x)", 1, 1, _from_bits),
)
