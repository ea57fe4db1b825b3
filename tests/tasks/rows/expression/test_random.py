"""Random trees of operators, worked out by Spark and by a small oracle in Python.

Goal: types that are known, types that differ by row, and nulls meet in every combination.
Source of the rules: Druid's BinaryEvalOpExprBase, ExpressionTypeConversion.autoDetect, Evals.
"""

import math
import re
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tasks.rows.expression.tree import Binary, Literal, Name, Node, Unary
from tasks.spark.session import SparkRuntime
from tests.tasks.rows.expression.evaluate import same, work_out

pytestmark = pytest.mark.spark

Scalar: TypeAlias = int | float | str | None

FIELDS: dict[str, Scalar] = {
    "x": 3,
    "y": 2.5,
    "s": "foo",
    "n": None,
    "ln": None,
    "dn": None,
    "sn": None,
    "nan": math.nan,
    "inf": math.inf,
    "any_long": 7,
    "any_double": 1.25,
    "any_text": "12",
    "any_word": "foo",
    "any_null": None,
}
TREES = 300

_LEAVES: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from(sorted(FIELDS)).map(lambda name: Name(0, name)),
    st.sampled_from([0, 1, 2, 5, 2**62]).map(lambda number: Literal(0, number)),
    st.sampled_from([0.0, 0.5, 3.0, 1e300]).map(lambda number: Literal(0, number)),
    st.sampled_from(["", "3", "2.5", "true", "foo", "-1"]).map(lambda text: Literal(0, text)),
    st.just(Literal(0, None)),
)
_SIGNS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


def _grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(Binary, st.just(0), st.sampled_from(_SIGNS), inner, inner),
        st.builds(Unary, st.just(0), st.just("!"), inner),
    )


def _written(part: Node) -> str:
    match part:
        case Literal(value=None):
            return "null"
        case Literal(value=str(text)):
            return f"'{text}'"
        case Literal(value=value):
            return repr(value).replace("e+", "e")
        case Name(name=name):
            return name
        case Unary(operator=sign, operand=operand):
            return f"{sign}({_written(operand)})"
        case Binary(operator=sign, left=left, right=right):
            return f"({_written(left)}) {sign} ({_written(right)})"
        case _:
            raise AssertionError(part)


def _answer(part: Node) -> Scalar:
    match part:
        case Literal(value=value):
            return value
        case Name(name=name):
            return FIELDS[name]
        case Unary(operand=operand):
            truth = _truth(_answer(operand))
            return None if truth is None else int(not truth)
        case Binary(operator=sign, left=left, right=right):
            return _two(sign, _answer(left), _answer(right))
        case _:
            raise AssertionError(part)


def _two(sign: str, a: Scalar, b: Scalar) -> Scalar:
    if sign in {"&&", "||"}:
        return _logic(sign, _truth(a), _truth(b))
    if a is None or b is None:
        return None
    if isinstance(a, str) and isinstance(b, str):
        if sign in {"<", "<=", ">", ">=", "==", "!="}:
            return _compared(sign, (a > b) - (a < b), alike=a == b)
        return a + b if sign == "+" else None
    if isinstance(a, int) and isinstance(b, int):
        if sign in {"+", "-", "*", "/", "%"}:
            return _whole(sign, a, b)
        return _compared(sign, (a > b) - (a < b), alike=a == b)
    left, right = _number(a), _number(b)
    if left is None or right is None:
        return None
    if sign in {"+", "-", "*", "/", "%"}:
        return _real(sign, left, right)
    order = (_rank(left) > _rank(right)) - (_rank(left) < _rank(right))
    return _compared(sign, order, alike=left == right)


def _logic(sign: str, a: bool | None, b: bool | None) -> int | None:
    decides = sign == "||"
    if a is decides or b is decides:
        return int(decides)
    return None if a is None or b is None else int(not decides)


def _truth(value: Scalar) -> bool | None:
    if value is None:
        return None
    return value.lower() == "true" if isinstance(value, str) else value > 0


def _number(value: float | str) -> float | None:
    if not isinstance(value, str):
        return float(value)
    if value in {"true", "false"}:
        return float(value == "true")
    return float(value) if re.fullmatch(r"-?\d+(\.\d+)?(E\d+)?|NaN|-?Infinity", value) else None


def _rank(number: float) -> tuple[bool, float]:
    return math.isnan(number), 0.0 if math.isnan(number) else number


def _compared(sign: str, order: int, *, alike: bool) -> int:
    answers = {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}
    return int(answers.get(sign, alike if sign == "==" else not alike))


def _whole(sign: str, a: int, b: int) -> int | None:
    if sign in {"/", "%"}:
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        result = quotient if sign == "/" else a - quotient * b
    else:
        result = {"+": a + b, "-": a - b, "*": a * b}[sign]
    return (result + 2**63) % 2**64 - 2**63


def _real(sign: str, a: float, b: float) -> float:
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if b == 0:
            return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a * _sign(b))
        case "/":
            return a / b
        case _ if b == 0 or math.isinf(a) or math.isnan(a) or math.isnan(b):
            return math.nan
        case _:
            return math.fmod(a, b)


def _sign(number: float) -> float:
    return math.copysign(1, number)


def _some_trees() -> list[Node]:
    """Take Hypothesis's trees, to work all of them out in one job."""
    trees: list[Node] = []
    unlimited = [HealthCheck.too_slow, HealthCheck.data_too_large]

    @settings(max_examples=TREES, phases=[Phase.generate], suppress_health_check=unlimited)
    @given(st.recursive(_LEAVES, _grown, max_leaves=8))
    def take(tree: Node) -> None:
        trees.append(tree)

    take()
    return trees


def test_random_trees_answer_as_the_oracle_says(spark: SparkRuntime) -> None:
    trees = _some_trees()
    answers = work_out(spark, [_written(tree) for tree in trees])

    wrong = [
        (_written(tree), answer, _answer(tree))
        for tree, answer in zip(trees, answers, strict=True)
        if not same(answer, _answer(tree))
    ]
    assert len(trees) >= TREES / 2
    assert wrong == []


def test_the_oracle_can_be_wrong() -> None:
    assert _two("+", 2**63 - 1, 1) == -(2**63)
    assert _two("/", -7, 2) == -3
    assert _two("<", "10", "9") == 1
    assert _two("<", "10", 9) == 0
    assert _two("&&", None, 0) == 0
    assert _two("||", None, 0) is None
    assert _two("==", math.nan, math.nan) == 0
