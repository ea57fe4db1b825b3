"""`tidegate export ...` and `tidegate snippet`: list exports, print code that reads a table."""

from datetime import datetime
from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import ago, show_text
from supervisor.cli.shell.resource import Resource
from supervisor.core.tables.snippets import Reader
from supervisor.views.tables.exports import ExportView, Snippets

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Tables in other formats, over the same files."
)
TABLES = "/api/v1/datasources"


@commands.callback()
def _group() -> None:
    """Tables in other formats, over the same files."""


@commands.command("list")
def list_all(
    datasource: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Only of this table.", show_default="all tables"),
    ] = None,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the exports of a table, or of all: how far behind each is, and what holds it up."""
    path = _EXPORTS.path if datasource is None else path_of(TABLES, datasource, "exports")
    with connect(server) as client:
        answer = client.get(path)
    _EXPORTS.show(answer, output)


def snippet(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="Name of the table.", show_default=False)
    ],
    reader: Annotated[Reader, typer.Option("--reader", "-r", help="What is to read it.")],
    *,
    server: Server = None,
) -> None:
    """Print Python that reads exactly the published rows of a table.

    Example: tidegate snippet clicks --reader polars
    """
    with connect(server) as client:
        answer = client.get(path_of(TABLES, table, "snippets"), {"reader": reader.value})
    for each in answer.read(Snippets).snippets:
        show_text(each.code.rstrip())


def _row(each: ExportView, now: datetime) -> tuple[object, ...]:
    lag = f"{each.lag_seconds:.0f}s" if each.lag_seconds else ""
    exported = ago(each.exported_at, now)
    return (
        each.data_source,
        each.format,
        each.state,
        lag,
        each.version,
        exported,
        each.location,
    )


_EXPORTS = Resource(
    path="/api/v1/exports",
    part="exports",
    rows=list[ExportView],
    columns=("TABLE", "FORMAT", "STATE", "LAG", "VERSION", "EXPORTED", "LOCATION"),
    cells=_row,
    nothing='No table is exported: "exports" in a spec\'s dataSchema asks for it.',
    problem=lambda row: row.problem and f"{row.data_source} as {row.format}: {row.problem}",
)
