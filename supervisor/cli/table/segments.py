"""`tidegate segment ...`: list the published files of tables."""

from collections.abc import Mapping
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import print_notice, show_json, show_table, size
from supervisor.cli.supervisor.windows import From, To
from supervisor.cli.table.segment_life import (
    mark_unused,
    mark_used,
    retention,
    segments_of,
    show_segments,
)
from supervisor.core.values.counts import grouped
from supervisor.views.tables.files import DataSources, TableFile, TableFiles
from supervisor.views.tables.segments import SegmentView

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Published files: together they are the table."
)
DATA_SOURCES = "/api/v1/datasources"
_PublishedBy = Annotated[
    str | None,
    typer.Option(
        "--supervisor", metavar="ID", show_default="any", help="Those that it has published."
    ),
]
for _command in (mark_unused, mark_used, retention):
    commands.command()(_command)


@commands.callback()
def _group() -> None:
    """Published files: together they are the table."""


@commands.command("list")
def list_all(
    datasource: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Only of this table.", show_default="all tables"),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Also files that are written and not yet published.")
    ] = False,
    unused: Annotated[
        bool,
        typer.Option("--unused", help="Those that were taken out of the table, with their ids."),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Those in use and those taken out, with their ids.")
    ] = False,
    *,
    begin: From = None,
    end: To = None,
    supervisor: _PublishedBy = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the files of a table, or of all tables: by default the published ones.

    With --from, --to or --supervisor those in use, with their ids.

    Example: tidegate segment list clicks --all
    """
    if fresh + unused + everything > 1:
        raise typer.BadParameter("give one of --fresh, --unused and --all")
    wanted = {"from": begin, "to": end, "supervisor": supervisor}
    window = {name: value for name, value in wanted.items() if value is not None}
    _check_fresh(window, fresh=fresh)
    with connect(server) as client:
        names = [datasource] if datasource is not None else data_sources(client)
        if unused or everything or window or form() is Format.NAME:  # files have no ids
            used = False if unused else None if everything else True
            found = {name: segments_of(client, name, used=used, window=window) for name in names}
            _show_life([(name, each) for name in names for each in found[name]], output)
            return
        answers = [files_of(client, name, fresh=fresh) for name in names]
    _show_files(answers, output)


def _show_files(answers: list[TableFiles], output: Format) -> None:
    if output is Format.JSON:
        files = [
            {"dataSource": each.data_source} | file.model_dump(mode="json")
            for each in answers
            for file in each.files
        ]
        show_json(files)
        return
    rows = [_row(each.data_source, file) for each in answers for file in each.files]
    show_table(("TABLE", "FROM", "TO", "ROWS", "SIZE", "PUBLISHED", "BY", "PATH"), rows)
    print_notice(
        f"{len(rows)} files, {grouped(sum(f.rows for each in answers for f in each.files))} rows"
    )


def _check_fresh(window: Mapping[str, str], *, fresh: bool) -> None:
    """Refuse --fresh with what only published files have."""
    if fresh and form() is Format.NAME:
        raise typer.BadParameter("what is not published has no id yet: leave --fresh out")
    if fresh and window:
        raise typer.BadParameter("what is not published has no window: leave --fresh out")


def _show_life(segments: list[tuple[str, SegmentView]], output: Format) -> None:
    if output is Format.JSON:
        show_json([{"dataSource": name} | each.model_dump(mode="json") for name, each in segments])
        return
    show_segments(segments)
    print_notice(
        f"{len(segments)} segments, {grouped(sum(each.rows for _, each in segments))} rows"
    )


def data_sources(client: Client) -> list[str]:
    """Return the tables that have published files."""
    return client.get(DATA_SOURCES).read(DataSources).data_sources


def files_of(client: Client, data_source: str, *, fresh: bool) -> TableFiles:
    """Return the files of a table; `fresh` adds files that are not published yet."""
    params = {"include": "journaled"} if fresh else None
    return client.get(path_of(DATA_SOURCES, data_source, "files"), params).read(TableFiles)


def _row(data_source: str, file: TableFile) -> tuple[object, ...]:
    start, end = (
        "" if moment is None else moment.strftime("%Y-%m-%d %H:%M")
        for moment in (file.interval_start, file.interval_end)
    )
    published = "yes" if file.published else "not yet"
    sized = size(file.size_bytes)
    return data_source, start, end, file.rows, sized, published, file.supervisor_id, file.path
