"""Let-bindings in SQL texts: a part that is used several times is written once, under a name."""

import re
from collections.abc import Callable
from hashlib import blake2s

SQL_MAX = 60_000
"""Most characters of one SQL text; a larger text is refused."""

PREFIX = "tg_"
"""Prefix of each bound name; no column of a frame may begin with it."""

NESTED_MAX = 10
"""Most nested lambdas in one SQL text: each level doubles the time of Spark's analysis."""

CONDITIONS_MAX = 25
"""Most nested CASEs in one SQL text.

Measured with sums and products of fields of no fixed type, in a heap of 512 MB: the code that
Spark generates takes a second for 25 levels and all of the memory for 40.
"""

_SHORT = 40
_SCOPES = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|[()]|->", re.DOTALL)
_CASES = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|\bCASE\b|\bEND\b", re.DOTALL)


def let(sql: str, body: Callable[[str], str]) -> str:
    """Return `body(sql)`; a long `sql` that the body uses several times is bound once.

    A name is derived from the text that it stands for, so an inner binding of the same name has
    the same meaning.
    """
    if len(sql) <= _SHORT:
        return body(sql)
    bound = PREFIX + blake2s(sql.encode(), digest_size=8).hexdigest()
    text = body(bound)
    if text.count(bound) <= 1:
        return text.replace(bound, sql)
    return f"transform(array({sql}), {bound} -> {text})[0]"


def let_both(left: str, right: str, body: Callable[[str, str], str]) -> str:
    """Return `body` of two SQL texts, each bound like in `let`."""
    return let(left, lambda a: let(right, lambda b: body(a, b)))


def element(depth: int, place: int = 0) -> str:
    """Return the name of a lambda's argument; `depth` counts the lambdas around it."""
    return f"{PREFIX}e{depth}_{place}"


def nested(sql: str) -> int:
    """Return the depth of nested lambdas."""
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
    """Return the depth of nested CASEs."""
    most, depth = 0, 0
    for match in _CASES.finditer(sql):
        if match.group() == "CASE":
            depth += 1
            most = max(most, depth)
        elif match.group() == "END":
            depth -= 1
    return most
