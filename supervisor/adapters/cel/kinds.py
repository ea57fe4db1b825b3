"""The kinds that the library's operators and functions take, and the kinds that they give.

The library itself is asked, once, with a sample of each kind: so a rule here is never narrower than
what an execution would do.
"""

from functools import lru_cache
from itertools import product

from supervisor.core.executions.expressions import ANY, Kind, Kinds

__all__ = ["FUNCTIONS", "called", "operated", "type_named", "worded"]

FUNCTIONS = (
    *("size", "contains", "startsWith", "endsWith", "matches", "type", "dyn"),
    *("string", "int", "uint", "double", "bytes", "timestamp", "duration"),
    *("getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek"),
    *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
)
"""Functions and methods, without those that go through a list."""
_SAMPLES: dict[Kind, tuple[str, ...]] = {
    Kind.BOOL: ("true",),
    Kind.INT: ("1",),
    Kind.UINT: ("1u",),
    Kind.DOUBLE: ("1.5",),
    Kind.STRING: ("'1'", "'1s'", "'2026-11-25T00:00:00Z'"),
    Kind.BYTES: ("b'1'",),
    Kind.LIST: ("[1]",),
    Kind.MAP: ("{'a': 1}",),
    Kind.NULL: ("null",),
    Kind.TIMESTAMP: ("timestamp('2026-11-25T00:00:00Z')",),
    Kind.DURATION: ("duration('1s')",),
    Kind.TYPE: ("int",),
}
_WORDS = {
    Kind.BOOL: "true or false",
    Kind.INT: "a whole number",
    Kind.UINT: "a number without a sign",
    Kind.DOUBLE: "a number with a fraction",
    Kind.STRING: "a text",
    Kind.BYTES: "bytes",
    Kind.LIST: "a list",
    Kind.MAP: "an object",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "a time",
    Kind.DURATION: "a duration",
    Kind.TYPE: "a type",
}


def worded(kinds: Kinds) -> str:
    """Return kinds in words: `a text or null`."""
    if kinds == ANY:
        return "any value"
    return " or ".join(_WORDS[kind] for kind in Kind if kind in kinds)


def operated(form: str, *operands: Kinds) -> Kinds:
    """Return what an operator may give; empty: it takes no such operands.

    `form`: the operator with a `{}` for each operand.
    """
    return _given(form, operands)


def called(name: str, owner: Kinds | None, arguments: tuple[Kinds, ...]) -> Kinds:
    """Return what a function may give, as a method of an owner; empty: it takes no such values."""
    places = ", ".join("{}" for _ in arguments)
    if owner is None:
        return _given(f"{name}({places})", arguments)
    return _given(f"{{}}.{name}({places})", (owner, *arguments))


@lru_cache(1_000)
def _given(form: str, operands: tuple[Kinds, ...]) -> Kinds:
    if len(operands) > 2:  # noqa: PLR2004  # no function has more
        return frozenset()
    found: set[Kind] = set()
    for kinds in product(*operands):
        found |= _of_samples(form, kinds)
    return frozenset(found)


@lru_cache(10_000)
def _of_samples(form: str, kinds: tuple[Kind, ...]) -> Kinds:
    choices = [_SAMPLES[kind] for kind in kinds]
    found: set[Kind] = set()
    for each in product(*choices):
        found |= _kind_of(form.format(*(f"({sample})" for sample in each)))
    return frozenset(found)


def _kind_of(text: str) -> Kinds:
    """Return the kind of an expression without variables; empty: it has no value."""
    import cel  # as elsewhere: only where there are flows

    try:
        name = cel.compile(f"type({text})").execute({})
    except (ValueError, TypeError, RuntimeError, LookupError, ArithmeticError):
        return frozenset()
    return frozenset({Kind(name)}) if name in set(Kind) else ANY


@lru_cache(1_000)
def type_named(name: str) -> bool:
    """Return whether a name is that of a type, as in `type(x) == int`."""
    return _kind_of(name) == frozenset({Kind.TYPE})
