"""Compilation of an expression's tree to SQL texts."""

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.functions.given import Function, Given
from tasks.rows.expression.functions.known import ABSENT, FUNCTIONS
from tasks.rows.expression.let import CONDITIONS_MAX, NESTED_MAX, SQL_MAX, conditions, nested
from tasks.rows.expression.operators import binary, deny, negate
from tasks.rows.expression.tree import (
    ArrayLiteral,
    Binary,
    Call,
    Lambda,
    Literal,
    Name,
    Node,
    Scalar,
    Unary,
)
from tasks.rows.expression.value import SPARK_TYPES, Value, of_array, of_double, of_long, of_text
from tasks.rows.sql.text import text

HEIGHT_MAX = 120
"""Most nested parts, operators in a row included: `a + b + c` has 3.  Spark's parser and its rules
go as deep as the SQL does."""

_WITH_REGEX = frozenset({"regexp_like", "regexp_extract", "regexp_replace", "string_to_array"})
"""Functions whose second argument is a regular expression."""

_Scope: TypeAlias = Mapping[str, Value]
_TOO_MUCH = "leave parts out, or make several transforms of it"


def compile_expression(tree: Node, fields: Callable[[str], Value]) -> Value:
    """Return an expression as SQL; `fields` returns the value of a name.

    The SQL of a field must be usable as an operand, and no column may begin with `tg_`.

    Raises:
        ExpressionError: a function is unknown or gets wrong arguments, arrays do not fit, or the
            SQL would be too large.
    """
    _check_height(tree)
    value = _Compiler(fields).value(tree, {}, 0)
    texts = value.texts
    if any(nested(sql) > NESTED_MAX or conditions(sql) > CONDITIONS_MAX for sql in texts):
        raise ExpressionError("too complicated: too much inside each other", tree.at, _TOO_MUCH)
    return value


def names_in(tree: Node) -> frozenset[str]:
    """Return the names of fields, without the arguments of lambdas."""
    names: set[str] = set()
    todo: list[tuple[Node, frozenset[str]]] = [(tree, frozenset())]
    while todo:
        part, bound = todo.pop()
        if isinstance(part, Name) and part.name not in bound:
            names.add(part.name)
        if isinstance(part, Lambda):
            bound |= set(part.names)
        todo += [(inner, bound) for inner in _inside(part)]
    return frozenset(names)


def regexes_in(tree: Node) -> Iterator[str]:
    """Yield the regular expressions that functions of an expression are called with."""
    todo = [tree]
    while todo:
        part = todo.pop()
        if isinstance(part, Call) and part.function.lower() in _WITH_REGEX:
            for pattern in part.arguments[1:2]:
                if isinstance(pattern, Literal) and isinstance(pattern.value, str):
                    yield pattern.value
        todo += _inside(part)


def _inside(part: Node) -> tuple[Node, ...]:
    match part:
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Lambda(body=body):
            return (body,)
        case Call(arguments=arguments):
            return arguments
        case _:
            return ()


def _check_height(tree: Node) -> None:
    level = [tree]
    for _ in range(HEIGHT_MAX):
        level = [inner for part in level for inner in _inside(part)]
        if not level:
            return
    raise ExpressionError("too complicated: too many parts inside each other", tree.at, _TOO_MUCH)


class _Compiler:
    def __init__(self, fields: Callable[[str], Value]) -> None:
        self._fields = fields

    def value(self, part: Node, scope: _Scope, depth: int) -> Value:
        """Compile one part; `depth` counts the lambdas around it."""
        match part:
            case Literal(value=value):
                return _literal(value)
            case ArrayLiteral(kind=kind, values=values):
                items = ", ".join(_literal_sql(value) for value in values)
                return of_array(kind, f"CAST(array({items}) AS ARRAY<{SPARK_TYPES[kind]}>)")
            case Name(name=name):
                # To an expression true is 1 and false is 0, even if a filter takes them for texts.
                computed = scope[name] if name in scope else replace(self._fields(name), truth=None)
            case Unary(operator=operator, operand=operand):
                inner = self.value(operand, scope, depth)
                computed = negate(inner, part.at) if operator == "-" else deny(inner)
            case Binary(operator=operator, left=left, right=right):
                both = self.value(left, scope, depth), self.value(right, scope, depth)
                _check_size(both, part.at)
                computed = binary(operator, *both, part.at)
            case Call():
                computed = self._call(part, scope, depth)
            case _:
                fix = "give it to map, filter or their like"
                raise ExpressionError("a lambda stands alone", part.at, fix)
        _check_size((computed,), part.at)
        return computed

    def _call(self, call: Call, scope: _Scope, depth: int) -> Value:
        function = _known(call)
        values = tuple(
            Value() if isinstance(part, Lambda) else self.value(part, scope, depth)
            for part in call.arguments
        )
        _check_size(values, call.at)
        most = len(values) if function.most is None else function.most
        if not function.least <= len(values) <= most:
            message = f"{function.name} does not take {len(values)} arguments"
            raise ExpressionError(message, call.at, f"write {function.usage}")
        if isinstance(call.arguments[0] if values else None, Lambda) and not (
            function.usage.startswith(f"{function.name}(lambda")
        ):
            message = f"{function.name} takes no lambda"
            raise ExpressionError(message, call.arguments[0].at, f"write {function.usage}")

        def body(given: Lambda, names: _Scope) -> Value:
            return self.value(given.body, {**scope, **names}, depth + 1)

        return function.make(Given(call, values, depth, body))


def _known(call: Call) -> Function:
    name = call.function.lower()
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in ABSENT:
        message = f"the function {call.function} is known to Druid and not built here"
        raise ExpressionError(message, call.at, ABSENT[name])
    near = difflib.get_close_matches(name, FUNCTIONS, 1)
    fix = f"did you mean {FUNCTIONS[near[0]].name}?" if near else "see the list of functions"
    raise ExpressionError(f"there is no function {call.function}", call.at, fix)


def _check_size(values: tuple[Value, ...], at: int) -> None:
    if sum(len(sql) for value in values for sql in value.texts) > SQL_MAX:
        raise ExpressionError("too complicated: its SQL is too large", at, _TOO_MUCH)


def _literal(value: Scalar) -> Value:
    match value:
        case None:
            return Value()
        case str():
            return of_text(text(value))
        case float():
            return of_double(_literal_sql(value))
        case int():
            return of_long(_literal_sql(value))


def _literal_sql(value: Scalar) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return text(value)
        case int():
            return f"({value}L)" if value < 0 else f"{value}L"
        case float():
            if not math.isfinite(value):
                name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
                return f"CAST('{name}' AS DOUBLE)"
            return f"({value!r}D)" if value < 0 else f"{value!r}D"
