"""Values that their declared columns cannot hold, where a spec makes no row of such a record.

A discovered column has the type of its values, so none is unfit there.  With rollup a metric's
value is not judged: it counts for nothing in the row of others.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks.contract.ingest_spec import Column
from tasks.rows.sql.text import text


@dataclass(frozen=True)
class Lost:
    """A value that may not be what its column holds."""

    sql: str
    """BOOLEAN: it is there, and its column is null; of an array, an element of it."""
    column: Column
    declared: bool = True


def unfit_sql(lost: Iterable[Lost], *beside: str) -> str:
    """Return the SQL of what was expected of which values, a STRING; null: they all fit.

    `beside` are columns with the same of others.
    """
    cases = [f"CASE WHEN {one.sql} THEN {text(_expected(one))} END" for one in lost if one.declared]
    return (
        f"nullif(concat_ws('; ', {', '.join([*beside, *cases])}), '')" if cases else _none(beside)
    )


def _none(beside: tuple[str, ...]) -> str:
    return beside[0] if beside else "CAST(NULL AS STRING)"


def _expected(one: Lost) -> str:
    article = "an" if one.column.type.startswith("array") else "a"
    return f"{one.column.name}: {article} {one.column.type} was expected"
