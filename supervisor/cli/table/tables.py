"""`tidegate table list | timeline`: how large tables are, and how their rows lie in time."""

from datetime import datetime
from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Server, connect
from supervisor.cli.shell.output import ago, print_notice
from supervisor.cli.shell.resource import Resource
from supervisor.cli.supervisor.windows import From, To
from supervisor.views.tables.totals import TableStats, Timeline, TimelineBucket

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Tables: their size, and their rows over time."
)
TABLES = "/api/v1/datasources"


@commands.callback()
def _group() -> None:
    """Tables: their size, and their rows over time."""


@commands.command("list")
def list_all(*, server: Server = None, output: Output = Format.TABLE) -> None:
    """List tables: rows, bytes, files, the time of their rows, and who feeds them.

    Example: tidegate table list -o wide
    """
    with connect(server) as client:
        answer = client.get(TABLES, {"stats": "true"})
    _TABLES.show(answer, output)


@commands.command()
def timeline(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="Name of the table.", show_default=False)
    ],
    *,
    bucket: Annotated[
        str, typer.Option("--bucket", metavar="DURATION", help="ISO 8601, a minute or more.")
    ] = "P1D",
    begin: From = None,
    end: To = None,
    limit: Limit = 400,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show the rows, bytes and files of a table by buckets of time, the oldest first.

    SMALL files would be compacted; UNUSED ones were taken out, and are not deleted yet.

    Example: tidegate table timeline clicks --bucket PT1H
    """
    window = {name: at for name, at in (("from", begin), ("to", end)) if at is not None}
    with connect(server) as client:
        path = path_of(TABLES, table, "timeline")
        answer = client.get(path, {"bucket": bucket, "limit": limit, **window})
    _BUCKETS.show(answer, output)
    if output is not Format.JSON and answer.read(Timeline).more:
        print_notice("there are older buckets: give --to the START of the first one")


def _table(row: TableStats, now: datetime) -> tuple[object, ...]:
    return (
        row.name,
        row.rows,
        row.bytes,
        row.files,
        row.small_files or "",
        row.unused_files or "",
        row.time_min,
        row.time_max,
        ago(row.last_published_at, now),
        ", ".join(row.supervisors),
        ", ".join(row.exports),
    )


_TABLES = Resource(
    path=TABLES,
    part="stats",
    rows=list[TableStats],
    columns=("TABLE", "ROWS", "BYTES", "FILES", "SMALL", "UNUSED", "FROM", "TO", "PUBLISHED"),
    wide=("SUPERVISORS", "EXPORTS"),
    cells=_table,
    nothing="No table is known.",
)


def _bucket(row: TimelineBucket, _: datetime) -> tuple[object, ...]:
    return (row.start, row.rows, row.bytes, row.files, row.small or "", row.unused or "")


_BUCKETS = Resource(
    path=TABLES,
    part="buckets",
    rows=list[TimelineBucket],
    columns=("START", "ROWS", "BYTES", "FILES", "SMALL", "UNUSED"),
    cells=_bucket,
    nothing="No file of the table lies in this time.",
)
