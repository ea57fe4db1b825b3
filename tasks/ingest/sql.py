"""How names and texts are written in Spark SQL, and the names of the frames' inner columns.

A batch's expressions are one text per step, parsed inside the JVM: built with PySpark's `Column`
methods each operator would be a call from process to process, some 50 ms per batch.
"""

from collections.abc import Iterable

ERROR_COLUMN = "bad"
"""True where a value did not fit its column."""

REASON_COLUMN = "reason"
"""0 for a row, else the number of a `RejectReason`."""


def name(identifier: str) -> str:
    """Quote an identifier; every character is allowed in it."""
    escaped = identifier.replace("`", "``")
    return f"`{escaped}`"


def text(value: str) -> str:
    """Quote a text as a literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def texts(values: Iterable[str]) -> str:
    """Write texts as a list of literals, for IN."""
    return ", ".join(text(value) for value in values)
