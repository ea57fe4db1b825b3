"""Queries by DuckDB, sandboxed: it can read only the listed files, and write nothing.

Each table is a view over exactly the files that the overlord lists, never over a folder.  So it has
no file that a task is still writing, or that was never published.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.problems import CommandFailed, ProblemAnswer
from supervisor.cli.table.case_names import folded, refuse_other_names
from supervisor.cli.table.segments import data_sources, files_of
from supervisor.cli.table.table_sql import named, quoted, view_of
from supervisor.core.tables.path_patterns import pattern_of
from supervisor.core.values.table_names import name_problem, rows_table
from supervisor.views.tables.files import TableFiles

_BATCH_ROWS = 1_000
_NOT_FOUND = 404
_MISSING = re.compile(r"(?P<what>.*Table with name (?P<name>.+?) does not exist)!?")
"""DuckDB's message about a missing table, without its suggestion of another table."""


@dataclass(frozen=True)
class Table:
    """The answer to a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    more: bool = False
    """Whether there are more rows than requested."""


class NoSuchTable(CommandFailed):
    """A query names a table that does not exist; `name` is spelled as in the query."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def tables_of(client: Client, sql: str, *, fresh: bool) -> list[TableFiles]:
    """Return the files of the tables that the query names, or of all if it cannot be parsed.

    Raises:
        CommandFailed: the text is no SQL.
    """
    try:
        duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise CommandFailed(_one_line(str(error))) from None
    return list(_tables(client, sql, fresh=fresh))


def run_query(
    sql: str, tables: Sequence[TableFiles], warehouse: Path | None, rows_max: int | None
) -> Table:
    """Return the result of a query, at most `rows_max` rows.

    Prints a warning for a table or column with an alias, and for a table that is left out.

    Raises:
        NoSuchTable: a table does not exist, or has no files.
        CommandFailed: DuckDB refuses the query, a name is ambiguous, or the files cannot be read
            from here.
    """
    filled = [table for table in tables if table.files]
    with _connection() as connection:
        try:
            refuse_other_names(sql, _add_views(connection, filled, warehouse))
            return _fetch(_run(connection, sql), rows_max)
        except duckdb.Error as error:
            raise _failure(error) from None


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with tempfile.TemporaryDirectory(prefix="tidegate-query-") as spill:
        connection = _connect(spill)
        try:
            yield connection
        finally:
            connection.close()


def _tables(client: Client, sql: str, *, fresh: bool) -> Iterator[TableFiles]:
    """Yield the files of the tables that the query names, or of all if it cannot be parsed."""
    names = _named_tables(sql)
    for name in data_sources(client) if names is None else sorted(names):
        if name_problem(rows_table(name)) is None:
            try:
                yield files_of(client, name, fresh=fresh)
            except ProblemAnswer as error:
                if error.status != _NOT_FOUND:
                    raise


def _named_tables(sql: str) -> set[str] | None:
    connection = duckdb.connect(config={"enable_external_access": False})
    try:
        return connection.get_table_names(sql) or None
    except duckdb.Error:
        return None
    finally:
        connection.close()


def _connect(spill: str) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "temp_directory": spill,
        }
    )


def _add_views(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[TableFiles], warehouse: Path | None
) -> dict[str, str]:
    """Create the views, then disable all other access.

    Return name of a table or column -> its alias, of names that DuckDB cannot distinguish.
    """
    paths = {table.data_source: _paths(table, warehouse) for table in tables}
    files = {path for found in paths.values() for path in found}
    every = ", ".join(map(quoted, sorted(files | {pattern_of(path) for path in files})))
    connection.execute(f"SET allowed_paths = [{every}]")
    shown: dict[str, str] = {}
    first: dict[str, str] = {}
    for table in tables:
        name = table.data_source
        known = first.setdefault(folded(name), name)
        if known != name:
            shown |= {known: known, name: known}
            print_notice(
                f"warning: {name} is left out: DuckDB cannot tell it from {known}; query it alone"
            )
            continue
        view = view_of(table, paths[name], pq.read_schema)
        for column, alias in view.aliases.items():
            if column != alias:
                print_notice(
                    f'warning: column {column} of {name} is "{alias}" here: names ignore case'
                )
        shown |= view.aliases
        connection.execute(f"CREATE VIEW {named(name)} AS {view.sql}")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return shown


def _paths(table: TableFiles, warehouse: Path | None) -> list[str]:
    root = (warehouse or Path(table.warehouse)).resolve()
    if not root.is_dir():
        raise CommandFailed(
            f"the warehouse {root} is not to be seen from here",
            "run this where the overlord's warehouse is mounted, or name it with --warehouse",
        )
    paths = [(root / file.path).resolve() for file in table.files]
    if strangers := [path for path in paths if not path.is_relative_to(root)]:
        raise CommandFailed(f"{strangers[0]} lies outside of the warehouse")
    return [str(path) for path in paths]


def _run(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.RecordBatchReader | None:
    relation = connection.sql(sql)
    # None for a statement without an answer, though the stub does not say so.
    known: duckdb.DuckDBPyRelation | None = relation
    return None if known is None else known.to_arrow_reader(_BATCH_ROWS)


def _fetch(reader: pa.RecordBatchReader | None, rows_max: int | None) -> Table:
    """Read the answer through Arrow, which keeps time zones without another library."""
    if reader is None:
        return Table((), ())
    columns = _distinct(reader.schema.names)
    rows: list[tuple[object, ...]] = []
    for batch in reader:
        rows.extend(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        if rows_max is not None and len(rows) > rows_max:
            return Table(columns, tuple(rows[:rows_max]), more=True)
    return Table(columns, tuple(rows))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Number repeated names, so that none is lost in JSON."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(distinct)


def _failure(error: duckdb.Error) -> CommandFailed:
    message = _one_line(str(error))
    missing = _MISSING.search(message)
    if isinstance(error, duckdb.CatalogException) and missing:
        return NoSuchTable(missing["what"], missing["name"])
    return CommandFailed(message)


def _one_line(text: str) -> str:
    """Return DuckDB's message without the lines that mark the place in the query."""
    message = text.partition("\n\nLINE")[0]
    return " ".join(message.split())
