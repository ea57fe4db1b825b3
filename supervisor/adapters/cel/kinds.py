"""The kinds that the library's operators and functions take, and the kinds that they give.

Each rule is what the library itself does with a sample of each kind, tried once: so a rule here is
never narrower than what an execution would do.
"""

from functools import lru_cache
from itertools import product

from supervisor.core.executions.expressions import ANY, Kinds, ValueKind

__all__ = ["FUNCTIONS", "called", "operated", "type_named", "worded"]

FUNCTIONS = (
    *("size", "contains", "startsWith", "endsWith", "matches", "type", "dyn"),
    *("string", "int", "uint", "double", "bytes", "timestamp", "duration"),
    *("getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek"),
    *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
)
"""Functions and methods, without those that go through a list."""
_SAMPLES: dict[ValueKind, tuple[str, ...]] = {
    ValueKind.BOOL: ("true",),
    ValueKind.INT: ("1",),
    ValueKind.UINT: ("1u",),
    ValueKind.DOUBLE: ("1.5",),
    ValueKind.STRING: ("'1'", "'1s'", "'2026-11-25T00:00:00Z'"),
    ValueKind.BYTES: ("b'1'",),
    ValueKind.LIST: ("[1]",),
    ValueKind.MAP: ("{'a': 1}",),
    ValueKind.NULL: ("null",),
    ValueKind.TIMESTAMP: ("timestamp('2026-11-25T00:00:00Z')",),
    ValueKind.DURATION: ("duration('1s')",),
    ValueKind.TYPE: ("int",),
}
_WORDS = {
    ValueKind.BOOL: "true or false",
    ValueKind.INT: "a whole number",
    ValueKind.UINT: "a number without a sign",
    ValueKind.DOUBLE: "a number with a fraction",
    ValueKind.STRING: "a text",
    ValueKind.BYTES: "bytes",
    ValueKind.LIST: "a list",
    ValueKind.MAP: "an object",
    ValueKind.NULL: "null",
    ValueKind.TIMESTAMP: "a time",
    ValueKind.DURATION: "a duration",
    ValueKind.TYPE: "a type",
}


def worded(kinds: Kinds) -> str:
    """Return kinds in words: `a text or null`."""
    if kinds == ANY:
        return "any value"
    return " or ".join(_WORDS[kind] for kind in ValueKind if kind in kinds)


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
    kinds_given: set[ValueKind] = set()
    for kinds in product(*operands):
        kinds_given |= _of_samples(form, kinds)
    return frozenset(kinds_given)


@lru_cache(10_000)
def _of_samples(form: str, kinds: tuple[ValueKind, ...]) -> Kinds:
    choices = [_SAMPLES[kind] for kind in kinds]
    kinds_given: set[ValueKind] = set()
    for each in product(*choices):
        kinds_given |= _kind_of(form.format(*(f"({sample})" for sample in each)))
    return frozenset(kinds_given)


def _kind_of(text: str) -> Kinds:
    """Return the kind of an expression without variables; empty: it has no value."""
    import cel  # as elsewhere: only where there are flows

    try:
        name = cel.compile(f"type({text})").execute({})
    except (ValueError, TypeError, RuntimeError, LookupError, ArithmeticError):
        return frozenset()
    return frozenset({ValueKind(name)}) if name in set(ValueKind) else ANY


@lru_cache(1_000)
def type_named(name: str) -> bool:
    """Return whether a name is that of a type, as in `type(x) == int`."""
    return _kind_of(name) == frozenset({ValueKind.TYPE})
