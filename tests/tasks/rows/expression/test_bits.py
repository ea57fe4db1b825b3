"""Functions of a double's exponent and bits, against Python's, over numbers where they may err.

Goal: exact to the last bit, in rows (where Spark generates code) and as constants.
Source: Java's `Math` and `Double`, which Druid's documentation of expressions names.
"""

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from itertools import count

import pyarrow.parquet as pq
import pytest

from tasks.rows.expression.compile import compile_expression
from tasks.rows.expression.parse import parse
from tasks.rows.expression.value import Value
from tasks.spark.session import SparkRuntime
from tests.tasks.rows.expression.evaluate import same, work_out

pytestmark = pytest.mark.spark

LEAST, LARGEST = 5e-324, 1.7976931348623157e308
POWERS = [2.0**power for power in range(-1074, 1024)]
NUMBERS: list[float] = [
    *(0.0, math.inf, math.nan, LARGEST, 2.2250738585072014e-308, 2.225073858507201e-308),
    *(1.5, 0.1, 3.0, 1e300, 1e-300, math.pi, 2.0**53 - 1, 2.0**53, 9007199254740993.0),
    *(number for power in POWERS for number in (power, math.nextafter(power, 0))),
    *(math.nextafter(power, math.inf) for power in POWERS),
]
ALL = [*NUMBERS, *(-number for number in NUMBERS)]
WIDE = [0.0, LEAST, 3 * LEAST, 5 * LEAST, 2.0**-1022, 0.1, 1.0, 1.5, 2.0, 2.5, 3.0, 4.5, 7.0, 1e17]
WIDE += [1e300, 2.0**1022, 1.5 * 2.0**1022, 2.0**1023, LARGEST, math.inf, math.nan]
PAIRS = [(s * x, t * y) for x in WIDE for y in WIDE for s in (1, -1) for t in (1, -1)]
SCALES = [
    0,
    1,
    -1,
    52,
    -52,
    499,
    500,
    501,
    -500,
    -501,
    1000,
    -1000,
    1023,
    1024,
    -1022,
    -1023,
    -1074,
]
SCALES += [-1075, 1999, 2000, 2001, -1501, -2000, -2001, 2097, 2098, 2099, 2100, -2098, -2100, 5000]
SCALES += [-5000, 2**31 - 1, -(2**31), 2**32 + 1, 2**53 + 3]
_folders = count(1)


def bits(number: float) -> int:
    return 0x7FF8000000000000 if math.isnan(number) else struct.unpack("<q", _raw(number))[0]


def _raw(number: float) -> bytes:
    return struct.pack("<d", number)


def exponent(number: float) -> int:
    if not math.isfinite(number):
        return 1024
    return max(math.frexp(number)[1] - 1, -1023) if abs(number) >= 2.0**-1022 else -1023


def remainder(x: float, y: float) -> float:
    try:
        return math.remainder(x, y)
    except ValueError:
        return math.nan


def scaled(number: float, power: int) -> float:
    power = (power + 2**31) % 2**32 - 2**31  # as Java casts to an int
    if not math.isfinite(number) or number == 0:
        return number
    size = Fraction(abs(number)) * Fraction(2) ** max(min(power, 3_000), -3_000)
    try:
        magnitude = float(size)
    except OverflowError:
        magnitude = math.inf
    return math.copysign(magnitude, number)


ONE: dict[str, Callable[[float], float]] = {
    "ulp(a)": math.ulp,
    "nextUp(a)": lambda number: math.nextafter(number, math.inf),
    "getExponent(a)": exponent,
    "bitwiseConvertDoubleToLongBits(a)": bits,
    "bitwiseConvertLongBitsToDouble(bitwiseConvertDoubleToLongBits(a))": lambda number: number,
}
TWO: dict[str, Callable[[float, float], float]] = {
    "nextafter(a, b)": math.nextafter,
    "remainder(a, b)": remainder,
}


def in_rows(
    spark: SparkRuntime, expressions: list[str], rows: list[tuple[float, float, int]]
) -> list[list[object]]:
    """Work out expressions of the double fields `a` and `b` and the long `n`, row by row."""
    names = {"a": Value(double="a"), "b": Value(double="b"), "n": Value(long="n")}
    values = [compile_expression(parse(text), names.__getitem__) for text in expressions]
    columns = [f"{value.long or value.double} AS c{place}" for place, value in enumerate(values)]
    frame = spark.session.createDataFrame(rows, "a double, b double, n bigint").coalesce(1)
    folder = spark.work_dir / f"bits-{next(_folders)}"
    frame.selectExpr(*columns).write.parquet(folder.as_uri())
    table = pq.read_table(folder).to_pylist()
    return [[row[f"c{place}"] for place in range(len(columns))] for row in table]


def exact(found: object, wanted: float) -> bool:
    return type(found) is type(wanted) and (
        found == wanted if isinstance(found, int) else bits(float(str(found))) == bits(wanted)
    )


def test_functions_of_one_double_are_exact(spark: SparkRuntime) -> None:
    answered = in_rows(spark, list(ONE), [(number, 0.0, 0) for number in ALL])

    wrong = [
        (name, number, answer, wanted(number))
        for number, answers in zip(ALL, answered, strict=True)
        for (name, wanted), answer in zip(ONE.items(), answers, strict=True)
        if not exact(answer, wanted(number))
    ]
    assert wrong == []


def test_functions_of_two_doubles_are_exact(spark: SparkRuntime) -> None:
    answered = in_rows(spark, list(TWO), [(x, y, 0) for x, y in PAIRS])

    wrong = [
        (name, pair, answer, wanted(*pair))
        for pair, answers in zip(PAIRS, answered, strict=True)
        for (name, wanted), answer in zip(TWO.items(), answers, strict=True)
        if not exact(answer, wanted(*pair))
    ]
    assert wrong == []


def test_a_double_is_scaled_with_one_rounding(spark: SparkRuntime) -> None:
    numbers = [*WIDE, *(-x for x in WIDE), 1 + 2.0**-52, math.pi, 2.0**-1022 * (1 + 2.0**-52)]
    rows = [(number, 0.0, power) for number in numbers for power in SCALES]

    answered = in_rows(spark, ["scalb(a, n)"], rows)

    wrong = [
        (number, power, answer, scaled(number, power))
        for (number, _, power), (answer,) in zip(rows, answered, strict=True)
        if not exact(answer, scaled(number, power))
    ]
    assert wrong == []


# expression, answer: types, nulls and constants; `nan` and `inf` are fields.
CASES: list[tuple[str, object]] = [
    ("getExponent(8)", 3),
    ("getExponent(x)", 1),
    ("getExponent(9007199254740993)", 53),
    ("getExponent(0.0)", -1023),
    ("getExponent(nan)", 1024),
    ("getExponent(s)", None),
    ("getExponent(n)", None),
    ("getExponent(dn)", None),
    ("getExponent(any_long)", 2),
    ("getExponent(any_double)", 0),
    ("getExponent(any_word)", None),
    ("getExponent(any_null)", None),
    ("ulp(1)", 2.0**-52),
    ("ulp(-inf)", math.inf),
    ("ulp(dn)", None),
    ("ulp('1')", None),
    ("ulp(any_long)", 2.0**-50),
    ("nextUp(0)", LEAST),
    ("nextUp(-0.0)", LEAST),
    ("nextUp(inf)", math.inf),
    ("nextUp(-inf)", -LARGEST),
    ("nextUp(ln)", None),
    ("nextUp(9223372036854775807)", 2.0**63 + 2048),
    ("nextAfter(1, 0)", 1 - 2.0**-53),
    ("nextafter(1, 2)", 1 + 2.0**-52),
    ("nextAfter(0, -1)", -LEAST),
    ("nextAfter(0.0, -0.0)", -0.0),
    ("nextAfter(1, nan)", math.nan),
    ("nextAfter(1, dn)", None),
    ("nextAfter(dn, 1)", None),
    ("nextAfter('a', 'b')", None),
    ("nextAfter(any_long, any_double)", 7 - 2.0**-50),
    ("nextAfter(1, '2')", 1 + 2.0**-52),
    ("remainder(5, 3)", -1.0),
    ("remainder(x, y)", 0.5),
    ("remainder(1, 2)", 1.0),
    ("remainder(3, 2)", -1.0),
    ("remainder(-4, 2)", -0.0),
    ("remainder(1, 0)", math.nan),
    ("remainder(inf, 1)", math.nan),
    ("remainder(5, inf)", 5.0),
    ("remainder(ln, 1)", None),
    ("remainder(1, n)", None),
    ("remainder('5', '3')", None),
    ("remainder('5', 3)", -1.0),
    ("remainder(any_long, 4)", -1.0),
    ("remainder(9223372036854775807, 10)", -2.0),
    ("scalb(1, 4)", 16.0),
    ("scalb(y, x)", 20.0),
    ("scalb(1, 2.9)", 4.0),
    ("scalb(3, -1)", 1.5),
    ("scalb(1, nan)", 1.0),
    ("scalb(1, inf)", math.inf),
    ("scalb(1, 4294967297)", 2.0),  # as Java casts
    ("scalb(1, '3')", 8.0),
    ("scalb('1', 3)", 8.0),
    ("scalb('1', '3')", None),
    ("scalb(1, dn)", None),
    ("scalb(n, 1)", None),
    ("scalb(any_double, any_long)", 160.0),
    ("scalb(any_text, any_text)", None),
    ("bitwiseConvertDoubleToLongBits(1)", 4607182418800017408),
    ("bitwiseConvertDoubleToLongBits(-0.0)", -(2**63)),
    ("bitwiseConvertDoubleToLongBits(nan)", 0x7FF8000000000000),
    ("bitwiseConvertDoubleToLongBits(-nan)", 0x7FF8000000000000),
    ("bitwiseConvertDoubleToLongBits('1')", None),
    ("bitwiseConvertDoubleToLongBits(dn)", None),
    ("bitwiseConvertDoubleToLongBits(any_double)", bits(1.25)),
    ("bitwiseConvertLongBitsToDouble(4607182418800017408)", 1.0),
    ("bitwiseConvertLongBitsToDouble(-9223372036854775808)", -0.0),
    ("bitwiseConvertLongBitsToDouble(-1)", math.nan),
    ("bitwiseConvertLongBitsToDouble(9221120237041090561)", math.nan),
    ("bitwiseConvertLongBitsToDouble(9218868437227405312)", math.inf),
    ("bitwiseConvertLongBitsToDouble(1.9)", LEAST),
    ("bitwiseConvertLongBitsToDouble(nan)", None),  # no long is that; Druid takes 0
    ("bitwiseConvertLongBitsToDouble(1e19)", None),  # Druid fails the row
    ("bitwiseConvertLongBitsToDouble(9223372036854775808.0)", None),
    ("bitwiseConvertLongBitsToDouble('1')", None),
    ("bitwiseConvertLongBitsToDouble(ln)", None),
    ("bitwiseConvertLongBitsToDouble(any_long)", 7 * LEAST),
    ("map(v -> ulp(v), reals)", ("DOUBLE", [2.0**-52, 2.0**-51])),
]


def test_types_and_nulls(spark: SparkRuntime) -> None:
    answers = work_out(spark, [text for text, _ in CASES])

    wrong = [
        (text, answer, wanted)
        for (text, wanted), answer in zip(CASES, answers, strict=True)
        if not same(answer, wanted)
    ]
    assert wrong == []
