"""Paths to the parts of a JSON document: how they are written, and what follows them in SQL.

    $.user.id   $['a b']   $.tags[0]     one value
    $.items[*].id                        of each element of a list, those that have it: a list

Druid follows such paths by Jayway's JsonPath, which takes other spellings for the same; they are
written again as Spark takes them.  Pure: no Spark is asked here.
"""

import re
from collections.abc import Iterator

from tasks.rows.sql.text import text

KEYS_MAX = 50
"""Steps of a path."""

ALL = "[*]"
_STEP = re.compile(
    r"\.?\['(?P<single>[^'\\\x00-\x1f]+)'\]"
    r"|\.?\[\"(?P<double>[^'\"\\\x00-\x1f]+)\"\]"
    r"|\.(?P<plain>[^.\[\]'\"*?()$,\s]+)"
    r"|\.?\[(?P<place>[0-9]{1,9})\]"
    r"|\.?(?P<all>\[\*\])"
)


class JsonPathError(ValueError):
    """A path cannot be followed."""


def canonical(path: str) -> str:
    """Return a path as Spark takes it.

    Raises:
        JsonPathError: it is none, has more than `KEYS_MAX` steps, or what is not built: scans
            (`..`), wildcards for keys, slices, filters, functions.

    Source: PathCompiler of Jayway's JsonPath 2.9: a path without `$` begins with a key.
    """
    steps = list(_steps(path if path.startswith("$") else f"$.{path}"))
    if not 1 <= len(steps) <= KEYS_MAX:
        raise JsonPathError(path)
    return "$" + "".join(steps)


def _steps(path: str) -> Iterator[str]:
    at = 1
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise JsonPathError(path)
        yield _written(step)
        at = step.end()


def _written(step: re.Match[str]) -> str:
    key = step["single"] or step["double"]
    if step["plain"] is not None:
        # Spark has no meaning for this sign, and Jayway one at the beginning of a path alone.
        plain = step["plain"]
        return f"['{plain}']" if "@" in plain else f".{plain}"
    if key is None:
        return ALL if step["all"] else f"[{step['place']}]"
    if key == "*":  # Spark takes it for every key
        raise JsonPathError(key)
    return f"['{key}']"


def finds_several(path: str) -> bool:
    """Tell whether a canonical path finds a list of what is there, and not one value."""
    return ALL in _steps(path)


def several_sql(document: str, path: str) -> str:
    """Return the SQL, an `array<variant>`, of what a path with `[*]` finds in a variant.

    Null if there is no list where the path takes all of one; of a list within, what is none is
    left out, and so is an element that has not what the path asks for.  A null of JSON is there.
    """
    parts = [""]
    for step in _steps(path):
        if step == ALL:
            parts.append("")
        else:
            parts[-1] += step
    first, *middle, last = (text(f"${part}") for part in parts)
    elements = f"try_variant_get({document}, {first}, 'array<variant>')"
    for part in middle:
        lists = f"transform({elements}, x -> try_variant_get(x, {part}, 'array<variant>'))"
        elements = f"flatten(filter({lists}, y -> y IS NOT NULL))"
    if not parts[-1]:
        return elements
    each = f"transform({elements}, x -> try_variant_get(x, {last}, 'variant'))"
    return f"filter({each}, y -> y IS NOT NULL)"
