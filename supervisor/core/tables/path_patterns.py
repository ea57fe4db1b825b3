"""Readers that take every path for a pattern, so that a file's name could stand for others too."""

import re
from typing import Final

SPARK: Final = "{}[]*?\\"
"""What makes a path a pattern to Spark and Hadoop; a backslash before it takes that away."""
DUCKDB: Final = "*?["
"""To DuckDB; brackets around it take that away.  Source: tried with 2.0."""


def pattern_of(path: str) -> str:
    """Return the pattern that this very path matches in DuckDB, and no other."""
    return re.sub(rf"([{DUCKDB}])", r"[\1]", path)
