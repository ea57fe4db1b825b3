"""Quoting of names and texts for Spark SQL.  Pure.

A batch's expressions are one text per step, parsed inside the JVM.  With PySpark's `Column` methods
each operator would be a call between processes, some 50 ms per batch.
"""

from collections.abc import Iterable


def name(identifier: str) -> str:
    """Quote an identifier; every character is allowed in it."""
    escaped = identifier.replace("`", "``")
    return f"`{escaped}`"


def text(value: str) -> str:
    """Quote a text as a literal.

    A dollar is written as its code, because by default Spark replaces `${env:NAME}` and its own
    settings in SQL before it parses the SQL, even in literals.
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def texts(values: Iterable[str]) -> str:
    """Write texts as a list of literals, for IN."""
    return ", ".join(text(value) for value in values)
