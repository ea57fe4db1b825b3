"""The warnings and errors of a log, for the report of its task; pure.

2026-11-28T10:00:00Z WARNING text ...     a line of a worker's task log; a trace follows, shifted
"""

import re
from collections import deque
from collections.abc import Iterable

from pydantic import JsonValue

__all__ = ["EACH_MAX", "LINE_CHARS_MAX", "graves"]

EACH_MAX = 50
"""Lines from the beginning, and as many from the end."""
LINE_CHARS_MAX = 500
_GRAVE = re.compile(r"(\S+) (WARNING|ERROR|CRITICAL) +(.*)")


def graves(lines: Iterable[str]) -> dict[str, JsonValue]:
    """Return the number of grave lines, and the first and the last ones, none of them twice.

    Each has `at`, `level` and `text`; without its stack trace.
    """
    number = 0
    first: list[JsonValue] = []
    last: deque[JsonValue] = deque(maxlen=EACH_MAX)
    for line in lines:
        if (grave := _GRAVE.match(line)) is None:
            continue
        number += 1
        at, level, text = grave.groups()
        kept = first if len(first) < EACH_MAX else last
        kept.append({"at": at, "level": level, "text": text.rstrip()[:LINE_CHARS_MAX]})
    return {"count": number, "first": first, "last": [*last]}
