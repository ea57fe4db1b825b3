"""Names of the inner columns of frames, and the optional ones among them."""

import itertools
from collections.abc import Collection
from dataclasses import dataclass

ERROR_COLUMN = "bad"
"""True if a value did not fit its column."""

UNFIT_COLUMN = "unfit"
"""A text on the values that did not fit, or null; only if such a record is no row."""

REASON_COLUMN = "reason"
"""0 for a row, else the number of a `RejectReason`."""

IS_ROW = f"{REASON_COLUMN} = 0"
"""SQL: a record became a row."""

MISSING_SCHEMA_COLUMN = "asked"
"""Numbers of schemas that a record needs and nobody has fetched yet; not in every frame."""

KIND_COLUMN = "q"
"""`q0`, `q1`, …: the kind of each value whose column has no settled type; not in every frame."""

UNKNOWN_COLUMN = "unknown"
"""Fields of a row that are not columns yet; only if columns are discovered."""

AGAIN_COLUMN = "again"
"""True if a record had to be read a second time, as texts; only if numbers are read directly."""


@dataclass(frozen=True)
class ExtraColumns:
    """The optional columns of judged rows (see `decode`)."""

    unknown: bool = False
    missing_schemas: bool = False
    kinds: int = 0
    """The number of columns of which kinds are reported."""
    unfit: bool = False
    again: bool = False


def extra_columns_of(columns: Collection[str]) -> ExtraColumns:
    """Return the optional columns among these columns."""
    return ExtraColumns(
        unknown=UNKNOWN_COLUMN in columns,
        missing_schemas=MISSING_SCHEMA_COLUMN in columns,
        kinds=next(n for n in itertools.count() if f"{KIND_COLUMN}{n}" not in columns),
        unfit=UNFIT_COLUMN in columns,
        again=AGAIN_COLUMN in columns,
    )


def distinct_sql(column: str) -> str:
    """Return the SQL of the distinct elements of a column of arrays, sorted."""
    return f"array_sort(array_distinct(flatten(collect_set({column}))))"
