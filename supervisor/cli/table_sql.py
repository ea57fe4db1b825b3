"""DuckDB's SQL for a table: the rows of the files that are listed, in the table's own types.

A column's type may have grown since a file was written; see `tasks.discovery` for what a value
becomes then.
"""

from collections.abc import Mapping, Sequence

from supervisor.cli.answers import Files, TableColumn
from supervisor.core.path_patterns import pattern_of
from supervisor.core.widening import DUCK, cast_sql

_COLUMNS = "COLUMNS(lambda c: c <> '__at' AND NOT starts_with(c, '__of_'))"
"""All but what rows hold only until they are rolled up."""

_TEXT = "VARCHAR"


def rows_sql(table: Files, paths: Sequence[str]) -> str:
    """Return the SQL of all rows; `paths` are those of the table's files, in their order."""
    types = {column.name: column.type for column in table.columns}
    alike: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for file, path in zip(table.files, paths, strict=True):
        had = () if file.column_set is None else table.column_sets[file.column_set]
        alike.setdefault(_widened(had, types), []).append(path)
    parts = [_select(columns, found) for columns, found in alike.items()]
    return " UNION ALL BY NAME ".join(parts)


def named(identifier: str) -> str:
    """Quote an identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def quoted(value: str) -> str:
    """Quote a text."""
    return "'" + value.replace("'", "''") + "'"


def _widened(
    had: Sequence[TableColumn], types: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """Return (name, its type in a file, its type in the table) where these differ."""
    own = ((column.name, column.type, types.get(column.name, column.type)) for column in had)
    return tuple((name, was, wanted) for name, was, wanted in own if was != wanted)


def _select(widened: Sequence[tuple[str, str, str]], paths: Sequence[str]) -> str:
    files = ", ".join(quoted(pattern_of(path)) for path in paths)
    source = f"read_parquet([{files}], union_by_name = true, hive_partitioning = false)"
    if not widened:
        return f"SELECT {_COLUMNS} FROM {source}"  # noqa: S608 -- both quoted
    casts = ", ".join(
        f"{cast_sql(named(name), was, wanted)} AS {named(name)}" for name, was, wanted in widened
    )
    # A file may lack a column of its set: without a row of it, too, the column has to be there.
    empty = ", ".join(
        f"CAST(NULL AS {DUCK.get(was, _TEXT)}) AS {named(name)}" for name, was, _ in widened
    )
    whole = f"SELECT * FROM {source} UNION ALL BY NAME SELECT {empty} WHERE false"  # noqa: S608 -- all quoted
    return f"SELECT {_COLUMNS} FROM (SELECT * REPLACE ({casts}) FROM ({whole}))"  # noqa: S608 -- all quoted
