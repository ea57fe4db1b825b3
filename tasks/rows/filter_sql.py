"""Filters as SQL: each filter becomes a BOOLEAN, which is null if a null leaves it undecided.

A field with several values matches if one of them does.  To a filter true and false are texts.
Pure.

Source: Druid's `PredicateValueMatcherFactory.makeComplexProcessor`, which decides by the type of
each row's value: a long and a double have predicates of their own, all others compare as texts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tasks.contract.filters import (
    Always,
    And,
    Bound,
    ByExpression,
    ColumnComparison,
    Contains,
    Equals,
    Filter,
    Fragment,
    In,
    InsensitiveContains,
    Intervals,
    IsFalse,
    IsNull,
    IsTrue,
    Like,
    Never,
    Not,
    Or,
    Range,
    Regex,
    Scalar,
    Search,
    Selector,
)
from tasks.rows.expression.compile import compile_expression, names_in
from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.parse import parse
from tasks.rows.expression.tree import Binary, Literal, Name
from tasks.rows.expression.value import Value, as_long, as_string, as_truth, double_of_text
from tasks.rows.sql.java_regex import RegexError, groups_of
from tasks.rows.sql.matching import like_sql, search_sql
from tasks.rows.sql.text import text, texts

Fields = Callable[[str], Value]
_X = "x_"  # the name of one of several values in a predicate
_LONGS = range(-(2**63), 2**63)
_REAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
_NOT_FINITE = {"NaN", "Infinity", "+Infinity", "-Infinity"}
_DIGITS_MAX = 40
"""A larger power of ten makes no long, and is not computed."""


def filter_sql(wanted: Filter, fields: Fields) -> str:
    """Return the SQL of a filter over fields.

    Raises:
        ExpressionError: an expression in the filter is not supported.
    """
    match wanted:
        case And():
            return _joined(" AND ", wanted.fields, fields)
        case Or():
            return _joined(" OR ", wanted.fields, fields)
        case Not():
            return f"(NOT {filter_sql(wanted.field, fields)})"
        case IsTrue():
            return f"({filter_sql(wanted.field, fields)} <=> true)"
        case IsFalse():
            return f"({filter_sql(wanted.field, fields)} <=> false)"
        case Always():
            return "true"
        case Never():
            return "false"
        case ByExpression():
            return f"({as_truth(compile_expression(parse(wanted.expression), fields))})"
        case IsNull():
            return _is_null(fields(wanted.column))
        case ColumnComparison():
            first, *rest = (as_string(fields(name)) for name in wanted.dimensions)
            return "(" + " AND ".join(f"({first}) <=> ({other})" for other in rest) + ")"
        case _:
            return _of_one_field(wanted, fields)


def fields_in(wanted: Filter) -> Iterator[str]:
    """Yield the names of the fields that a filter reads.

    Raises:
        ExpressionError: an expression in the filter cannot be parsed.
    """
    match wanted:
        case And() | Or():
            for inner in wanted.fields:
                yield from fields_in(inner)
        case Not() | IsTrue() | IsFalse():
            yield from fields_in(wanted.field)
        case ByExpression():
            yield from names_in(parse(wanted.expression))
        case ColumnComparison():
            yield from wanted.dimensions
        case Equals() | IsNull() | Range():
            yield wanted.column
        case Always() | Never():
            return
        case _:
            yield wanted.dimension


def _of_one_field(wanted: Filter, fields: Fields) -> str:
    match wanted:
        case Selector():
            return _is_one_of(fields(wanted.dimension), [wanted.value])
        case In():
            return _is_one_of(fields(wanted.dimension), wanted.values)
        case Equals(match_value_type="STRING"):
            return _equals_text(fields(wanted.column), wanted.match_value)
        case Equals():
            return _number_tests(wanted.column, [("==", wanted.match_value)], fields)
        case Range(match_value_type="STRING"):
            bounds = (_plain(wanted.lower), _plain(wanted.upper))
            tests = _bounds(bounds, strict=(wanted.lower_open, wanted.upper_open))
            return _any_text(fields(wanted.column), lambda x: _all(x, tests))
        case Range():
            signs = (">" if wanted.lower_open else ">=", "<" if wanted.upper_open else "<=")
            return _number_tests(
                wanted.column, zip(signs, (wanted.lower, wanted.upper), strict=True), fields
            )
        case Bound():
            return _bound(wanted, fields)
        case Like():
            pattern, escape = wanted.pattern, wanted.escape
            return _any_text(fields(wanted.dimension), lambda x: like_sql(x, pattern, escape))
        case Regex():
            checked = _checked(wanted.pattern)
            return _any_text(fields(wanted.dimension), lambda x: search_sql(x, checked))
        case Search():
            return _any_text(fields(wanted.dimension), lambda x: _holds(x, wanted.query))
        case Intervals():
            return _in_intervals(fields(wanted.dimension), wanted.intervals)
    raise AssertionError(wanted)


def _checked(pattern: str) -> str:
    try:
        groups_of(pattern)
    except RegexError as error:
        fix = "use Java's regular expressions"
        raise ExpressionError(f"the pattern cannot be read: {error}", 0, fix) from None
    return pattern


def _joined(sign: str, inner: tuple[Filter, ...], fields: Fields) -> str:
    return "(" + sign.join(filter_sql(one, fields) for one in inner) + ")"


def _is_null(value: Value) -> str:
    return "(" + (" AND ".join(f"({sql}) IS NULL" for sql in value.texts) or "true") + ")"


def _any_text(value: Value, test: Callable[[str], str]) -> str:
    """Test the text of a value, or of each of several; null if there is no text."""
    scalar = as_string(replace(value, array=None))
    if value.array is None:
        return f"({test(f'({scalar})')})"
    each = f"CAST({value.array.sql} AS ARRAY<STRING>)"
    tested = f"exists({each}, {_X} -> {test(_X)})"
    return f"(CASE WHEN {value.array.sql} IS NOT NULL THEN {tested} ELSE {test(f'({scalar})')} END)"


def _is_one_of(value: Value, wanted: Sequence[Scalar | None]) -> str:
    """An empty text is a value like any other; null stands for a missing value."""
    named = [plain for plain in map(_plain, wanted) if plain is not None]
    tests = [_equals_one(value, named, numbers=named)] if named else []
    if len(named) < len(wanted):
        tests.append(_is_null(value))
    return "(" + (" OR ".join(tests) or "false") + ")"


def _equals_text(value: Value, wanted: Scalar) -> str:
    """Beside a number the texts `true` and `false` count as numbers, as in expressions.

    Source: Druid's `EqualityFilter`, and `ExprEval.castForEqualityComparison`.
    """
    plain = str(_plain(wanted))
    number = {"true": "1", "false": "0"}.get(plain.lower(), plain)
    return _equals_one(value, [plain], numbers=[number])


def _equals_one(value: Value, named: Sequence[str], *, numbers: Sequence[str]) -> str:
    """Compare a long with the longs in `numbers`, a double with the doubles, others with texts.

    Source: Druid's `SelectorPredicateFactory` and `InDimFilter`: a text that is no number of the
    row's type equals none, but `5.0` equals the long 5.
    """
    rest = replace(value, long=None, double=None, number=None)
    cases = []
    if value.long:
        whole = f"({value.long}) IS NOT NULL" + _unless(value.truth)
        cases.append(f"WHEN {whole} THEN {_among(value.long, map(_long_sql, numbers))}")
    if value.double:
        among = _among(value.double, map(_double_sql, numbers))
        cases.append(f"WHEN ({value.double}) IS NOT NULL THEN {among}")
    otherwise = _any_text(rest, lambda x: f"{x} IN ({texts(named)})")
    return f"(CASE {' '.join(cases)} ELSE {otherwise} END)" if cases else otherwise


def _unless(truth: str | None) -> str:
    return f" AND ({truth}) IS NULL" if truth else ""


def _among(number: str, wanted: Iterable[str | None]) -> str:
    listed = ", ".join(sql for sql in wanted if sql is not None)
    return f"({number}) IN ({listed})" if listed else "false"


def _long_sql(written: str) -> str | None:
    """Return the long in a text, exactly; None: there is none."""
    if not _REAL.fullmatch(written):
        return None
    exact = Decimal(written)
    if exact and not -_DIGITS_MAX < exact.adjusted() < _DIGITS_MAX:
        return None
    return f"{int(exact)}L" if exact == int(exact) and int(exact) in _LONGS else None


def _double_sql(written: str) -> str | None:
    """Return the double in a text, where Java allows a letter for the type; None: there is none."""
    plain = written[:-1] if written[-1:] in {*"fFdD"} else written
    if _REAL.fullmatch(plain):
        return f"CAST('{float(plain)!r}' AS DOUBLE)"
    return f"CAST('{written.lstrip('+')}' AS DOUBLE)" if written in _NOT_FINITE else None


def _number_tests(column: str, tests: Iterable[tuple[str, Scalar | None]], fields: Fields) -> str:
    """A value that is no number equals none, and is less than all: Druid's `NUMERIC` order."""
    below = _is_no_number(fields(column))
    conditions = []
    for sign, bound in tests:
        if bound is not None:
            tree = Binary(0, sign, Name(0, column), Literal(0, _number(bound)))
            test = as_truth(compile_expression(tree, fields))
            other = "true" if sign in {"<", "<="} else "false"
            conditions.append(
                f"(CASE WHEN {below} THEN {other} ELSE {test} END)" if below else test
            )
    return "(" + (" AND ".join(f"({test})" for test in conditions) or "true") + ")"


def _is_no_number(value: Value) -> str:
    """Return the SQL of whether a value is a boolean, or a text that is no number."""
    conditions = [f"({value.truth}) IS NOT NULL"] if value.truth else []
    if value.string:
        word = f"lower({value.string}) IN ('true', 'false')"  # numbers only to expressions
        unread = f"({double_of_text(value.string)}) IS NULL"
        conditions.append(f"({value.string}) IS NOT NULL AND ({word} OR {unread})")
    return " OR ".join(conditions)


def _bound(wanted: Bound, fields: Fields) -> str:
    value = fields(wanted.dimension)
    strict = (wanted.lower_strict, wanted.upper_strict)
    if wanted.ordering == "numeric":
        signs = (">" if strict[0] else ">=", "<" if strict[1] else "<=")
        numbers = zip(signs, (wanted.lower, wanted.upper), strict=True)
        return _number_tests(wanted.dimension, numbers, fields)
    plain = (_plain(wanted.lower), _plain(wanted.upper))
    tests = _bounds(plain, strict=strict)
    if wanted.ordering == "lexicographic":
        return _any_text(value, lambda x: _all(x, tests))
    sized = [f"{sign} {_sized(bound)}" for sign, bound in map(_cut, tests)]
    # A struct is never null, so a null text would be less than any text.
    return _any_text(value, lambda x: f"({x} IS NOT NULL AND {_all(_sized(x), sized)})")


def _sized(x: str) -> str:
    return f"struct(length({x}), {x})"


def _bounds(plain: tuple[str | None, str | None], *, strict: tuple[bool, bool]) -> list[str]:
    signs = (">" if strict[0] else ">=", "<" if strict[1] else "<=")
    return [f"{sign} {text(b)}" for sign, b in zip(signs, plain, strict=True) if b is not None]


def _cut(test: str) -> tuple[str, str]:
    sign, _, bound = test.partition(" ")
    return sign, bound


def _all(x: str, tests: list[str]) -> str:
    return " AND ".join(f"{x} {test}" for test in tests) or f"{x} IS NOT NULL"


def _plain(value: Scalar | None) -> str | None:
    """Write a constant as the text of a field with that value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _number(value: Scalar) -> int | float:
    if not isinstance(value, str):
        return int(value) if isinstance(value, bool) else value
    try:
        return float(value) if not re.fullmatch(r"[+-]?\d{1,18}", value) else int(value)
    except ValueError:
        raise ExpressionError(f"{value[:60]!r} is no number", 0, "write a number") from None


def _holds(x: str, query: Contains | InsensitiveContains | Fragment) -> str:
    wanted = query.values if isinstance(query, Fragment) else (query.value,)
    exact = not isinstance(query, InsensitiveContains) and query.case_sensitive
    if not exact:
        x, wanted = f"lower({x})", tuple(part.lower() for part in wanted)
    return "(" + " AND ".join(f"contains({x}, {text(part)})" for part in wanted) + ")"


def _in_intervals(value: Value, intervals: Iterable[str]) -> str:
    spans = [_millis_of(interval) for interval in intervals]
    millis, unless = as_long(value), _unless(value.truth)
    tests = [f"({millis}) >= {start} AND ({millis}) < {end}{unless}" for start, end in spans]
    return "(" + " OR ".join(f"({test})" for test in tests) + ")"


def _millis_of(interval: str) -> tuple[int, int]:
    start, _, end = interval.partition("/")
    try:
        return _moment(start), _moment(end)
    except ValueError:
        message = f"{interval[:60]!r} is no interval"
        raise ExpressionError(message, 0, "write 2024-01-01/2024-02-01") from None


def _moment(written: str) -> int:
    moment = datetime.fromisoformat(written)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
