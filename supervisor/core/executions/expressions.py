"""Values with expressions in them: `"${ inputs.day }"`, and how they are worked out.

A text that is one expression gives its value with its type; a text with more around it gives text.
The language itself is a port, `Expressions`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import JsonValue

_OPENS = "${"
_QUOTES = "'\""


class ExpressionFailed(Exception):
    """An expression does not parse, has no type, or has no value for these variables."""

    def __init__(self, message: str, hint: str = "") -> None:
        """`hint`: what to do."""
        super().__init__(message)
        self.hint = hint


class ValueKind(StrEnum):
    """The kinds of values that expressions have, by the names that CEL gives to its types."""

    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"
    LIST = "list"
    MAP = "map"
    NULL = "null_type"
    TIMESTAMP = "google.protobuf.Timestamp"
    DURATION = "google.protobuf.Duration"
    TYPE = "type"


Kinds = frozenset[ValueKind]
"""The kinds that a value may have."""
ANY: Kinds = frozenset(ValueKind)


@dataclass(frozen=True)
class Known:
    """What is known of a value before there is one."""

    kinds: Kinds = ANY
    members: Mapping[str, "Known"] | None = None
    """Of an object all that it can have; None: nobody knows."""
    missing: str = "{name} is not known here"
    """Of a member that is none of these."""
    hint: str = ""
    """What to do about it, if no member has a name like it."""


class Expressions(Protocol):
    """The language of expressions: a function without side effects, time or chance."""

    def check(self, text: str, variables: Known, wanted: Kinds = ANY) -> None:
        """Refuse an expression that does not parse, or that cannot have a value.

        `variables`: what it may read; `wanted`: the kinds of value that are of use.  What is not
        known before it runs, such as the output of a step, may be anything.

        Raises:
            ExpressionFailed: the message says why, its hint what to do.
        """

    def value(self, text: str, variables: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value of one expression.

        Raises:
            ExpressionFailed: it has none; the message says why.
        """


def resolve(
    value: JsonValue, variables: Mapping[str, JsonValue], language: Expressions
) -> JsonValue:
    """Return a value with all expressions in it worked out.

    Raises:
        ExpressionFailed: one of them has no value.
    """
    match value:
        case str():
            return _text(value, variables, language)
        case list():
            return [resolve(item, variables, language) for item in value]
        case dict():
            return {name: resolve(item, variables, language) for name, item in value.items()}
        case _:
            return value


def _text(text: str, variables: Mapping[str, JsonValue], language: Expressions) -> JsonValue:
    parts = tuple(parts_of(text))
    if len(parts) == 1 and parts[0][1]:
        return language.value(parts[0][0], variables)
    return "".join(
        _shown(language.value(part, variables)) if computed else part for part, computed in parts
    )


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def parts_of(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text into plain parts and expressions, which come with True.

    Raises:
        ExpressionFailed: a `${` has no end.
    """
    at = 0
    while (opens := text.find(_OPENS, at)) >= 0:
        if opens > at:
            yield text[at:opens], False
        closes = _end_of(text, opens + len(_OPENS))
        yield text[opens + len(_OPENS) : closes].strip(), True
        at = closes + 1
    if at < len(text) or not text:
        yield text[at:], False


def _end_of(text: str, at: int) -> int:
    """Return where the expression that begins at `at` has its closing brace."""
    depth, quote, skips = 0, "", False
    for place in range(at, len(text)):
        letter = text[place]
        if skips:
            skips = False
        elif quote:
            skips = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter == "{":
            depth += 1
        elif letter == "}":
            if not depth:
                return place
            depth -= 1
    message = f"{text[at - 2 : at + 30]!r} has no end"
    raise ExpressionFailed(message, "close it with a brace: ${ inputs.day }")
