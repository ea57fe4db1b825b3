"""Values with expressions in them: `"${ inputs.day }"`, and how they are worked out.

A text that is one expression gives its value with its type; a text with more around it gives text.
The language itself is a port, `Expressions`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Protocol

from pydantic import JsonValue

_OPENS = "${"
_QUOTES = "'\""


class ExpressionFailed(Exception):
    """An expression does not parse, or has no value for these variables."""


class Expressions(Protocol):
    """The language of expressions: a function without side effects, time or chance."""

    def check(self, text: str) -> None:
        """Refuse an expression that does not parse.

        Raises:
            ExpressionFailed: the message says why.
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
    raise ExpressionFailed(f"{text[at - 2 : at + 30]!r} has no end: close it with a brace")
