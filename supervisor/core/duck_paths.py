"""DuckDB takes every path for a pattern, so that a file's name could stand for others as well."""

import re

SPECIAL = "[*?"
"""What makes a path a pattern."""
PATTERN, QUOTED = r"([*?[])", r"[\1]"
"""What is replaced in a path, and by what.  Source: tried with DuckDB 2.0; a backslash is none."""


def pattern_of(path: str) -> str:
    """Return the pattern that this very path matches, and no other."""
    return re.sub(PATTERN, QUOTED, path)
