"""SQL texts that stay small: what is used more than once is written once, and bound to a name."""

import re
from collections.abc import Callable
from hashlib import blake2s

SQL_MAX = 60_000
"""Characters of one SQL text; a larger one is refused."""

PREFIX = "tg_"
"""Begins each name that is bound here; no column of a frame may begin so."""

NESTED_MAX = 10
"""Lambdas inside each other in one SQL text: to analyse it Spark takes twice the time for each."""

CONDITIONS_MAX = 25
"""CASEs inside each other in one SQL text.

Measured with sums and products of fields of no fixed type, in a heap of 512 MB: the code that
Spark generates takes a second for 25 and all of the memory for 40.
"""

_SHORT = 40
_SCOPES = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|[()]|->", re.DOTALL)
_CASES = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|\bCASE\b|\bEND\b", re.DOTALL)


def let(sql: str, body: Callable[[str], str]) -> str:
    """Return what `body` makes of `sql`; a long one that is used twice or more is bound once.

    A name is made from the text it stands for, so one that is bound inside another of the same
    name means the same.
    """
    if len(sql) <= _SHORT:
        return body(sql)
    bound = PREFIX + blake2s(sql.encode(), digest_size=8).hexdigest()
    text = body(bound)
    if text.count(bound) <= 1:
        return text.replace(bound, sql)
    return f"transform(array({sql}), {bound} -> {text})[0]"


def let_both(left: str, right: str, body: Callable[[str, str], str]) -> str:
    """Return what `body` makes of two texts."""
    return let(left, lambda a: let(right, lambda b: body(a, b)))


def element(depth: int, place: int = 0) -> str:
    """Return the name of a lambda's argument; `depth` counts the lambdas around it."""
    return f"{PREFIX}e{depth}_{place}"


def nested(sql: str) -> int:
    """Return how many lambdas stand inside each other."""
    most, lambdas, opened = 0, 0, [0]
    for found in _SCOPES.finditer(sql):
        match found.group():
            case "(":
                opened.append(0)
            case ")":
                lambdas -= opened.pop()
            case "->":
                opened[-1] += 1
                lambdas += 1
                most = max(most, lambdas)
    return most


def conditions(sql: str) -> int:
    """Return how many CASEs stand inside each other."""
    most, depth = 0, 0
    for match in _CASES.finditer(sql):
        if match.group() == "CASE":
            depth += 1
            most = max(most, depth)
        elif match.group() == "END":
            depth -= 1
    return most
