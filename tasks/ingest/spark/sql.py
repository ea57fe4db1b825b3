"""The names of the frames' inner columns, and which of them a frame has."""

import itertools
from collections.abc import Collection
from dataclasses import dataclass

ERROR_COLUMN = "bad"
"""True where a value did not fit its column."""

UNFIT_COLUMN = "unfit"
"""Where a value did not fit, in words; null: nowhere.  Only where such a record is no row."""

REASON_COLUMN = "reason"
"""0 for a row, else the number of a `RejectReason`."""

IS_ROW = f"{REASON_COLUMN} = 0"
"""SQL: a record became a row."""

MISSING_SCHEMA_COLUMN = "asked"
"""Numbers of schemas that a record names and nobody has fetched yet; not in every frame."""

KIND_COLUMN = "q"
"""`q0`, `q1`, …: the kind of each value whose column's type is not settled; not in every frame."""

UNKNOWN_COLUMN = "unknown"
"""Fields of a row that are no columns; only where columns are discovered."""

AGAIN_COLUMN = "again"
"""True where a record had to be read a second time, as texts; only where numbers are read."""


@dataclass(frozen=True)
class ExtraColumns:
    """What judged rows tell beside what they all do (see `decode`)."""

    unknown: bool = False
    missing_schemas: bool = False
    kinds: int = 0
    """Of so many columns."""
    unfit: bool = False
    again: bool = False


def extra_columns_of(columns: Collection[str]) -> ExtraColumns:
    """Return what rows with these columns tell."""
    return ExtraColumns(
        unknown=UNKNOWN_COLUMN in columns,
        missing_schemas=MISSING_SCHEMA_COLUMN in columns,
        kinds=next(n for n in itertools.count() if f"{KIND_COLUMN}{n}" not in columns),
        unfit=UNFIT_COLUMN in columns,
        again=AGAIN_COLUMN in columns,
    )


def distinct_sql(column: str) -> str:
    """Return the SQL of what the arrays of a column hold, once each, sorted."""
    return f"array_sort(array_distinct(flatten(collect_set({column}))))"
