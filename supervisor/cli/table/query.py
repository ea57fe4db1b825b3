"""`tidegate query`: SQL over the published files, by DuckDB in this process."""

import base64
import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated

import typer

from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, WarehouseHere, connect
from supervisor.cli.shell.output import print_notice, show_json, show_table

ROWS_MAX = 1_000
"""Rows that are printed as a table; JSON has all rows."""
_EXACT_MAX = 2**53
"""Larger integers would lose digits in JSON readers that have only floats."""


def query(
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help='In quotes, such as "select count(*) from clicks".')
    ],
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Also rows that are written and not yet published."),
    ] = False,
    warehouse: WarehouseHere = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Query the tables with SQL (DuckDB's).

    A table has the published rows only; --fresh adds what tasks have written since, which may yet
    be written anew by another task. A table without any file has no columns yet: exit code 1.

    Example: tidegate query "select count(*) from clicks"
    """
    # DuckDB is loaded only when asked.
    from supervisor.cli.table.duck import NoSuchTable, run_query, tables_of
    from supervisor.cli.table.missing_tables import why_missing

    as_json = output is Format.JSON
    with connect(server) as client:
        tables = tables_of(client, sql, fresh=fresh)
        for table in tables:
            for missing in table.missing:
                print_notice(f"warning: not all of {table.data_source} could be had: {missing}")
        try:
            result_set = run_query(sql, tables, warehouse, None if as_json else ROWS_MAX)
        except NoSuchTable as error:
            raise why_missing(client, error, tables, fresh=fresh) from None
    if as_json:
        rows = (map(_plain, row) for row in result_set.rows)
        show_json([dict(zip(result_set.columns, row, strict=True)) for row in rows])
        return
    show_table(result_set.columns, (tuple(map(_cell, row)) for row in result_set.rows))
    if result_set.more:
        print_notice(f"The first {ROWS_MAX} rows; -o json prints all, or add a LIMIT.")


def _cell(value: object) -> object:
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _plain(value: object) -> object:
    """Return a value for JSON: times in ISO 8601, bytes in base64, large numbers as text."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= _EXACT_MAX else str(value)
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            whole = value == value.to_integral_value()
            return _plain(int(value)) if whole else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
        case list() | tuple():
            return [_plain(each) for each in value]
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case _:
            return str(value)
