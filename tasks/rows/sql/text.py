"""How names and texts are written in Spark SQL.  Pure.

A batch's expressions are one text per step, parsed inside the JVM: built with PySpark's `Column`
methods each operator would be a call from process to process, some 50 ms per batch.
"""

from collections.abc import Iterable


def name(identifier: str) -> str:
    """Quote an identifier; every character is allowed in it."""
    escaped = identifier.replace("`", "``")
    return f"`{escaped}`"


def text(value: str) -> str:
    """Quote a text as a literal.

    A dollar is written as its code: unless told otherwise, Spark puts the values of `${env:NAME}`
    and of its own settings into SQL before it parses it, into literals too.
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def texts(values: Iterable[str]) -> str:
    """Write texts as a list of literals, for IN."""
    return ", ".join(text(value) for value in values)
