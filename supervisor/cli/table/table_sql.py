"""DuckDB SQL for a table: the rows of its listed files, cast to the table's own types.

A column's type may have been widened since a file was written; `tasks.rows.discovery` has the rules
for its values.  If names differ only in case, columns are addressed by their position in each file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from supervisor.cli.table.case_names import aliases_of
from supervisor.core.tables.path_patterns import pattern_of
from supervisor.core.tables.widening import DUCK, cast_sql
from supervisor.views.tables.files import TableFile, TableFiles
from tasks.contract.ingest_spec import Column
from tasks.rows.row_plan import OWN_COLUMNS, RECORDS, is_own_of_rollup

_OF_ROLLUP = "(c = '__at' OR starts_with(c, '__of_') OR starts_with(c, '__each_'))"
"""SQL condition for columns that rows have only until they are rolled up: see `_is_hidden`."""
_TEXT = "VARCHAR"
_Widened = tuple[tuple[str, str, str], ...]
"""(name, type in a file, type in the table) of columns where the types differ."""


@dataclass(frozen=True)
class TableView:
    """The definition of a table's view in DuckDB."""

    sql: str
    """SQL of all rows."""
    aliases: Mapping[str, str]
    """Column -> its alias in the view, of columns whose names differ only in case."""


def view_of(
    table: TableFiles, paths: Sequence[str], schema_of: Callable[[str], pa.Schema]
) -> TableView:
    """Return a table's view; `paths` are those of its files, in their order.

    `schema_of` reads a file's schema.  It is called only for files without recorded columns, and
    for all files of a table with names that differ only in case.
    """
    names = [*OWN_COLUMNS, *(column.name for some in table.column_sets for column in some)]
    for file, path in zip(table.files, paths, strict=True):
        if file.column_set is None:
            names += schema_of(path).names
    aliases = aliases_of(names)
    if aliases:
        schemas = list(map(schema_of, paths))
        aliases = aliases_of([*names, *(name for schema in schemas for name in schema.names)])
        return TableView(_sql_by_place(table, paths, schemas, aliases), aliases)
    return TableView(_sql_by_name(table, paths), {})


def named(identifier: str) -> str:
    """Quote an identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def quoted(value: str) -> str:
    """Quote a text."""
    return "'" + value.replace("'", "''") + "'"


def _had(table: TableFiles, file: TableFile) -> Sequence[Column]:
    return () if file.column_set is None else table.column_sets[file.column_set]


def _types(table: TableFiles) -> dict[str, str]:
    return {column.name: column.type for column in table.columns}


def _widened(had: Sequence[Column], types: Mapping[str, str]) -> _Widened:
    own = ((column.name, column.type, types.get(column.name, column.type)) for column in had)
    return tuple((name, was, wanted) for name, was, wanted in own if was != wanted)


def _is_hidden(name: str, file: TableFile, had: Sequence[Column]) -> bool:
    """Whether rows have a column only until they are rolled up and published."""
    of_rollup = is_own_of_rollup(name) and name != RECORDS
    return of_rollup and not file.published and all(column.name != name for column in had)


# -- by name -----------------------------------------------------------------------------------


def _sql_by_name(table: TableFiles, paths: Sequence[str]) -> str:
    types = _types(table)
    alike: dict[tuple[_Widened, str], list[str]] = {}
    for file, path in zip(table.files, paths, strict=True):
        had = _had(table, file)
        key = _widened(had, types), _selected(file, had)
        alike.setdefault(key, []).append(path)
    parts = [_select(selected, widened, found) for (widened, selected), found in alike.items()]
    return " UNION ALL BY NAME ".join(parts)


def _selected(file: TableFile, had: Sequence[Column]) -> str:
    """Return the SQL of a file's columns, without the hidden ones."""
    if file.published:
        return "*"
    kept = sorted(column.name for column in had if is_own_of_rollup(column.name))
    users = "".join(f" OR c = {quoted(name)}" for name in kept)
    return f"COLUMNS(lambda c: NOT {_OF_ROLLUP}{users})"


def _source(paths: Sequence[str], options: str) -> str:
    files = ", ".join(quoted(pattern_of(path)) for path in paths)
    return f"read_parquet([{files}], {options}, hive_partitioning = false)"


def _select(selected: str, widened: _Widened, paths: Sequence[str]) -> str:
    source = _source(paths, "union_by_name = true")
    if not widened:
        return f"SELECT {selected} FROM {source}"  # noqa: S608 -- all quoted
    casts = ", ".join(
        f"{cast_sql(named(name), was, wanted)} AS {named(name)}" for name, was, wanted in widened
    )
    # A file may lack a column of its set; the empty row set adds the column in any case.
    empty = ", ".join(
        f"CAST(NULL AS {DUCK.get(was, _TEXT)}) AS {named(name)}" for name, was, _ in widened
    )
    whole = f"SELECT * FROM {source} UNION ALL BY NAME SELECT {empty} WHERE false"  # noqa: S608 -- all quoted
    return f"SELECT {selected} FROM (SELECT * REPLACE ({casts}) FROM ({whole}))"  # noqa: S608 -- all quoted


# -- by place ----------------------------------------------------------------------------------


def _sql_by_place(
    table: TableFiles,
    paths: Sequence[str],
    schemas: Sequence[pa.Schema],
    aliases: Mapping[str, str],
) -> str:
    """Return the SQL of all rows, with columns by position, because names are ambiguous.

    Files with equal schemas are read together.
    """
    types = _types(table)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for file, path, schema in zip(table.files, paths, schemas, strict=True):
        had = _had(table, file)
        casts = {name: (was, wanted) for name, was, wanted in _widened(had, types)}
        columns = []
        for number, name in enumerate(schema.names):
            if not _is_hidden(name, file, had):
                own = f"c{number}"
                sql = cast_sql(own, *casts[name]) if name in casts else own
                columns.append(f"{sql} AS {named(aliases.get(name, name))}")
        shape = schema.remove_metadata().to_string()
        alike.setdefault((shape, tuple(columns)), []).append(path)
    parts = []
    for (_, selected), found in alike.items():
        places = ", ".join(f"c{number}" for number in range(len(schemas[paths.index(found[0])])))
        source = f"{_source(found, 'union_by_name = false')} AS file({places})"
        parts.append(f"SELECT {', '.join(selected)} FROM {source}")  # noqa: S608 -- all quoted
    held = {name for schema in schemas for name in schema.names}
    if absent := [name for name in types if name not in held]:
        empty = ", ".join(
            f"CAST(NULL AS {DUCK.get(types[name], _TEXT)}) AS {named(aliases.get(name, name))}"
            for name in absent
        )
        parts.append(f"SELECT {empty} WHERE false")
    return " UNION ALL BY NAME ".join(parts)
