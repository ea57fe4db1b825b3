"""Bounds of all filters, expressions and patterns of a spec together.

Each filter and expression is compiled when a spec is validated and whenever it is read, and is part
of the plan of each batch.  The bounds of one filter and of one expression alone would allow a spec
that takes seconds of CPU.  The bounds are judged on the document, before anything is compiled.  A
stored spec of an earlier release may be beyond them: it is read all the same.
"""

from collections.abc import Iterator, Mapping, Sequence

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.values.field_types import shown
from tasks.rows.expression.compile import regexes_in
from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.parse import parse
from tasks.rows.sql.empty_ways import WAYS_MAX, empty_ways
from tasks.rows.sql.java_regex import RegexError, groups_of

FILTERS_MAX = 1_000
"""Most filters of a spec, those within others counted; `in` is one filter of many values."""
VALUES_MAX = 50_000
"""Most values that all filters of a spec list together."""
CHARACTERS_MAX = 100_000
"""Most characters of all expressions of a spec, and patterns of its filters, together."""

_Object = Mapping[str, object]
_LISTS = ("values", "intervals", "dimensions")
"""Fields of a filter, and of the query of one, that list values."""


def refuse_too_many_rules(notes: SpecProblems, kept: dict[str, object], pointer: str) -> None:
    """Refuse too many filters or expressions; then the sections with them are not read further.

    `kept`: the fields of a dataSchema that its model will read.
    """
    transforms, metrics = kept.get("transformSpec"), kept.get("metricsSpec")
    owners = [*_objects(transforms), *_objects(metrics)]
    filters = [one for owner in owners for one in _filters(owner.get("filter"))]
    inner = [owner.get("aggregator") for owner in owners]
    parts = [owner.get("transforms") for owner in owners]
    holders = [*owners, *filters, *_objects(inner), *(t for each in parts for t in _objects(each))]
    expressions, patterns = _texts(holders, "expression"), _texts(filters, "pattern")
    characters = sum(map(len, (*expressions, *patterns)))
    refused = []
    if len(filters) > FILTERS_MAX:
        hint = f"use {FILTERS_MAX:,} at most; one filter of type in takes 1,000 values"
        refused.append((f"{len(filters):,} filters are too many for one spec", hint))
    values = sum(map(_listed, (*filters, *(f.get("query") for f in filters))))
    if values > VALUES_MAX:
        message = f"filters with {values:,} values are too many for one spec"
        refused.append((message, f"list {VALUES_MAX:,} values at most in all of them"))
    if characters > CHARACTERS_MAX:
        message = f"expressions and patterns of {characters:,} characters are too long for one spec"
        refused.append((message, f"use {CHARACTERS_MAX:,} characters at most in all of them"))
    for message, hint in refused:
        notes.refuse(pointer, message, hint)
        kept.pop("transformSpec", None)
        kept.pop("metricsSpec", None)
    if not refused:
        regexes = _texts([one for one in filters if one.get("type") == "regex"], "pattern")
        for pattern in (*regexes, *_regexes_in(expressions)):
            refuse_empty_ways(notes, pattern, pointer)


def refuse_empty_ways(notes: SpecProblems, pattern: str, pointer: str) -> None:
    """Refuse a regular expression with too many ways to match nothing at one place."""
    try:
        groups_of(pattern)
    except RegexError:
        return  # its section says so
    if empty_ways(pattern) > WAYS_MAX:
        notes.refuse(
            pointer,
            f"the pattern {shown(pattern)} has more than {WAYS_MAX:,} ways to match nothing",
            "let fewer of its groups match an empty text: (a+)? rather than (a*)?, (a|b)? rather "
            "than (a|b|)",
        )


def _regexes_in(expressions: Sequence[str]) -> Iterator[str]:
    for expression in expressions:
        try:
            yield from regexes_in(parse(expression))
        except ExpressionError:
            continue  # its section says so


def _texts(holders: Sequence[_Object], name: str) -> list[str]:
    values = [holder.get(name) for holder in holders]
    return [value for value in values if isinstance(value, str)]


def _listed(holder: object) -> int:
    """Return the number of values in the lists of a filter or of its query."""
    lists = [one.get(name) for one in _objects(holder) for name in _LISTS]
    return sum(len(each) for each in lists if isinstance(each, list | tuple))


def _objects(value: object) -> Sequence[_Object]:
    """Return an object, or the objects of a list."""
    each = value if isinstance(value, list | tuple) else [value]
    return [one for one in each if isinstance(one, Mapping)]


def _filters(root: object) -> Iterator[_Object]:
    """Yield a filter and all filters within it."""
    todo = list(_objects(root))
    while todo:
        one = todo.pop()
        yield one
        todo += [*_objects(one.get("fields")), *_objects(one.get("field"))]
