"""Unfit values, which their declared columns cannot hold, if the spec rejects such records.

A discovered column has the type of its values, so no value is unfit there.  With rollup a metric's
value is not checked: an unfit value counts for nothing in the common row.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks.contract.ingest_spec import Column
from tasks.rows.sql.text import text


@dataclass(frozen=True)
class Lost:
    """A value that may not fit its column."""

    sql: str
    """BOOLEAN: the value is present but its column is null; for an array, an element is."""
    column: Column
    declared: bool = True


def unfit_sql(lost: Iterable[Lost], *beside: str) -> str:
    """Return the SQL of the expected types of the unfit values, a STRING; null: all values fit.

    `beside` are columns with such texts for other values.
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
