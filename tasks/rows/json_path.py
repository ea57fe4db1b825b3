"""Paths to the parts of a JSON document: parsing, and translation to SQL.

    $.user.id   $['a b']   $.tags[0]     one value
    $.items[*].id                        of each element of a list, those that have it: a list

Druid follows paths by Jayway's JsonPath, which accepts several spellings; here they are rewritten
to Spark's spelling.  Pure: nothing here calls Spark.
"""

import re
from collections.abc import Iterator

from tasks.rows.sql.text import text

KEYS_MAX = 50
"""Most steps of a path."""

ALL = "[*]"
_STEP = re.compile(
    r"\.?\['(?P<single>[^'\\\x00-\x1f]+)'\]"
    r"|\.?\[\"(?P<double>[^'\"\\\x00-\x1f]+)\"\]"
    r"|\.(?P<plain>[^.\[\]'\"*?()$,\s]+)"
    r"|\.?\[(?P<place>[0-9]{1,9})\]"
    r"|\.?(?P<all>\[\*\])"
)


class JsonPathError(ValueError):
    """A path cannot be parsed, or is not supported."""


def canonical(path: str) -> str:
    """Return a path in Spark's spelling.

    Raises:
        JsonPathError: the text is no path, has more than `KEYS_MAX` steps, or has unsupported
            parts: scans (`..`), wildcards for keys, slices, filters, functions.

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
        # Spark gives this character no meaning, and Jayway only at the beginning of a path.
        plain = step["plain"]
        return f"['{plain}']" if "@" in plain else f".{plain}"
    if key is None:
        return ALL if step["all"] else f"[{step['place']}]"
    if key == "*":  # to Spark it means every key
        raise JsonPathError(key)
    return f"['{key}']"


def finds_several(path: str) -> bool:
    """Return whether a canonical path leads to a list of values instead of one value."""
    return ALL in _steps(path)


def several_sql(document: str, path: str) -> str:
    """Return the SQL, an `array<variant>`, of the values at a path with `[*]` in a variant.

    Null if there is no list where the path begins with `[*]`.  Further inside, a value that is no
    list is left out, and so is an element without the rest of the path.  A JSON null is a value.
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
