"""Escaping of paths for readers that treat every path as a glob pattern."""

import re
from typing import Final

SPARK: Final = "{}[]*?\\"
"""Glob characters of Spark and Hadoop; a backslash escapes each."""
DUCKDB: Final = "*?["
"""Glob characters of DuckDB; brackets around a character escape it.  Source: tried with 2.0."""


def pattern_of(path: str) -> str:
    """Return the DuckDB glob pattern that matches this path and no other."""
    return re.sub(rf"([{DUCKDB}])", r"[\1]", path)
