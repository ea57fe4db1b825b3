"""What an expression says, and where a wrong one is wrong.  Source: Druid's `Expr.g4`."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.parse import DEPTH_MAX, LONG_MAX, TEXT_MAX, parse
from tasks.rows.expression.tree import (
    ArrayLiteral,
    Binary,
    Call,
    ElementType,
    Lambda,
    Literal,
    Name,
    Node,
    Unary,
)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("2 ^ 3 ^ 2", "2 ^ (3 ^ 2)"),
        ("-2 ^ 2", "(-2) ^ 2"),
        ("!a && b", "(!a) && b"),
        ("a || b && c", "(a || b) && c"),
        ("a < 3 == b", "(a < 3) == b"),
        ("a + 1 < b * 2 && c", "((a + 1) < (b * 2)) && c"),
        ("a%2", "(a) % ((2))"),
        ("--a", "-(-a)"),
    ],
)
def test_operators_bind_as_druids(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("12.", 12.0),
        ("1.5e-3", 0.0015),
        ("2E3", 2000.0),
        ("Infinity", math.inf),
        ("null", None),
        ("'it\\'s'", "it's"),
        ("'a\\u00e4\\n'", "aä\n"),
        ("''", ""),
        (str(LONG_MAX), LONG_MAX),
        (f"-{LONG_MAX + 1}", -LONG_MAX - 1),
    ],
)
def test_constants(text: str, value: object) -> None:
    node = parse(text)

    assert node == Literal(0, value)  # type: ignore[arg-type]  # parametrised values
    assert isinstance(node, Literal)
    assert type(node.value) is type(value)


def test_not_a_number_is_a_constant() -> None:
    node = parse("NaN")

    assert isinstance(node, Literal)
    assert isinstance(node.value, float)
    assert math.isnan(node.value)


@pytest.mark.parametrize("text", ["nullable", "NaN_1", "Infinity$", "_a", "$b", '"my col"'])
def test_names(text: str) -> None:
    assert parse(text) == Name(0, text.strip('"'))


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("[1, 2, null]", ElementType.LONG, (1, 2, None)),
        ("[1, 2.5]", ElementType.DOUBLE, (1.0, 2.5)),
        ("[-1]", ElementType.LONG, (-1,)),
        ("['a', null]", ElementType.STRING, ("a", None)),
        ("[]", ElementType.STRING, ()),
        ("<LONG>[]", ElementType.LONG, ()),
        ("<DOUBLE>[1, null]", ElementType.DOUBLE, (1.0, None)),
        ("ARRAY<STRING>['a']", ElementType.STRING, ("a",)),
    ],
)
def test_arrays(text: str, kind: ElementType, values: tuple[object, ...]) -> None:
    node = parse(text)

    assert node == ArrayLiteral(0, kind, values)  # type: ignore[arg-type]  # parametrised values


def test_a_comparison_with_a_field_of_a_types_name_is_no_array() -> None:
    assert parse("a <LONG") == Binary(2, "<", Name(0, "a"), Name(3, "LONG"))


@pytest.mark.parametrize("text", ["map(x -> x + 1, a)", "map((x) -> x + 1, a)"])
def test_lambdas(text: str) -> None:
    body = Binary(0, "+", Name(0, "x"), Literal(0, 1))
    assert parse(text) == Call(0, "map", (Lambda(0, ("x",), body), Name(0, "a")))


def test_a_bracket_that_begins_no_lambda_is_an_operand() -> None:
    assert parse("f((a) + 1, b)") == parse("f(a + 1, b)")


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("", 0, "the end"),
        ("a +", 3, "the end"),
        ("f(", 2, "the end"),
        ("f(a,)", 4, "')'"),
        ("f(a b)", 4, "'b'"),
        ("(a", 2, "the end"),
        ("a b", 2, "'b'"),
        ("a = 1", 2, "'='"),
        ("a & b", 2, "'&'"),
        ("'open", 0, '"\'"'),
        ("[1, 'a']", 1, "one type"),
        ("[a]", 1, "'a'"),
        ("(a, b) -> a", 2, "','"),
        ("map(a, x -> x)", 7, "lambda comes first"),
        ("fold((x, x) -> x, a, 0)", 5, "twice"),
        (str(LONG_MAX + 1), 0, "too large"),
        ("a; b", 1, "';'"),
        ("${java:os}", 1, "'{'"),
        ("a\u00a0b", 1, "not expected"),
        ("x + '\\ud800'", 4, "half of a character"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, at: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)

    assert (caught.value.at, message in caught.value.message) == (at, True), caught.value
    assert caught.value.fix


@pytest.mark.parametrize(
    "text",
    [
        "a" * (TEXT_MAX + 1),
        "(" * (DEPTH_MAX + 1) + "a" + ")" * (DEPTH_MAX + 1),
        "-" * (DEPTH_MAX + 1) + "a",
        "!" * 5_000,
        "f(" * (DEPTH_MAX + 1) + ")" * (DEPTH_MAX + 1),
        "^".join("a" * 2_000),
    ],
    ids=["long", "brackets", "signs", "nots", "calls", "powers"],
)
def test_what_would_end_a_stack_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    with suppress(ExpressionError):
        parse(text)


_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,3}", fullmatch=True).filter(lambda n: n != "null")
_LEAVES: st.SearchStrategy[Node] = st.one_of(
    st.integers(0, LONG_MAX).map(lambda n: Literal(0, n)),
    st.text(max_size=5).map(lambda t: Literal(0, t)),
    st.just(Literal(0, None)),
    _NAMES.map(lambda n: Name(0, n)),
)


def _grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    operators = st.sampled_from(["+", "-", "*", "/", "%", "^", "<", "<=", "==", "!=", "&&", "||"])
    return st.one_of(
        st.builds(Unary, st.just(0), st.sampled_from(["-", "!"]), inner),
        st.builds(Binary, st.just(0), operators, inner, inner),
        st.builds(Call, st.just(0), _NAMES, st.lists(inner, max_size=3).map(tuple)),
    )


def _written(part: Node) -> str:
    match part:
        case Literal(value=str(text)):
            return "'" + "".join(f"\\u{u:04x}" for u in _units(text)) + "'"
        case Literal(value=None):
            return "null"
        case Literal(value=value):
            return str(value)
        case Name(name=name):
            return name
        case Unary(operator=operator, operand=operand):
            return f"{operator}({_written(operand)})"
        case Binary(operator=operator, left=left, right=right):
            return f"({_written(left)}){operator}({_written(right)})"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(_written, arguments))})"
        case _:
            raise AssertionError(part)


def _units(text: str) -> list[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[n : n + 2]) for n in range(0, len(data), 2)]


@given(st.recursive(_LEAVES, _grown, max_leaves=12))
def test_what_is_written_is_read(tree: Node) -> None:
    assert parse(_written(tree)) == tree
