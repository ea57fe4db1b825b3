"""`tidegate compaction ...`: run, list and cancel compactions, and set rules."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Reason, Server, Wait, connect
from supervisor.cli.shell.output import print_notice, show_done, show_json
from supervisor.cli.shell.pages import rows_up_to
from supervisor.cli.shell.problems import FAILED
from supervisor.cli.shell.resource import Resource
from supervisor.cli.shell.wait import wait_for
from supervisor.cli.table.segment_life import TABLES, Table, a_period, within
from supervisor.views.tables.compaction import CompactionPage, CompactionRuleView, CompactionView

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Rewrite small files of a table as larger ones."
)
COMPACTIONS = "/api/v1/compactions"

TargetRows = Annotated[
    int | None,
    typer.Option(
        "--target-rows",
        metavar="N",
        min=2,
        show_default="the spec's maxRowsPerSegment",
        help="A file is to have so many rows at most.",
    ),
]
TargetBytes = Annotated[
    int | None,
    typer.Option(
        "--target-bytes",
        metavar="N",
        min=1024,
        show_default="the spec's targetSegmentBytes",
        help="A file is to have so many bytes at most.",
    ),
]
FilesMin = Annotated[
    int,
    typer.Option(
        "--files-min", metavar="N", min=2, help="Leave fewer small files of a chunk of time alone."
    ),
]

SkipLatest = Annotated[
    str | None,
    typer.Option(
        "--skip-latest",
        metavar="PERIOD",
        callback=a_period,
        show_default="the rule is shown, not changed",
        help="Set the rule: compact by itself, but not what lies less than this before the "
        "newest row; ISO 8601, such as P1D.",
    ),
]


@commands.callback()
def _group() -> None:
    """Rewrite small files of a table as larger ones."""


@commands.command("run")
def run(
    table: Table,
    interval: Annotated[str | None, within("the whole table")] = None,
    *,
    target_rows: TargetRows = None,
    target_bytes: TargetBytes = None,
    files_min: FilesMin = 2,
    wait: Wait = None,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Compact a table's small files now; with --wait, fail if one of them could not be.

    Example: tidegate compaction run clicks --wait 600
    """
    body = _json_body(
        targetRows=target_rows, targetBytes=target_bytes, filesMin=files_min, interval=interval
    )
    query, path = VerbQuery(dry_run, expect), path_of(TABLES, table, "compact")
    with connect(server, reason) as client:
        answer = query.send(client, lambda params: client.post(path, body, params))
        if dry_run:
            show_preview(answer, output)
            return
        compactions = answer.read(CompactionPage).compactions
        if wait is not None and compactions:
            compactions = _ended(client, compactions, wait)
    if output is Format.JSON and wait is None:
        show_json(answer.json())
    elif output is Format.JSON:
        show_json(
            {"compactions": [each.model_dump(mode="json", by_alias=True) for each in compactions]}
        )
    elif not compactions:
        print_notice(f"{table} has no files that would become fewer.")
    else:
        _COMPACTIONS.show_rows(compactions)
    if any(each.status == "FAILED" for each in compactions):
        raise typer.Exit(FAILED)


@commands.command("list")
def list_all(
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Only of this table.", show_default="all tables"),
    ] = None,
    limit: Limit = 20,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the newest compactions of a table, or of all, and what became of them."""
    with connect(server) as client:
        answer = rows_up_to(client, COMPACTIONS, _COMPACTIONS.part, limit, {"dataSource": table})
    _COMPACTIONS.show(answer, output)


@commands.command("rule")
def rule(
    context: typer.Context,
    table: Table,
    *,
    skip_latest: SkipLatest = None,
    target_rows: TargetRows = None,
    target_bytes: TargetBytes = None,
    files_min: FilesMin = 2,
    off: Annotated[bool, typer.Option("--off", help="Compact only on request.")] = False,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show, set (--skip-latest) or end (--off) how a table is compacted by itself.

    \b
    Examples:
      tidegate compaction rule clicks
      tidegate compaction rule clicks --skip-latest P1D
    """
    if skip_latest is not None and off:
        raise typer.BadParameter("give one of --skip-latest and --off")
    if skip_latest is None and _given(context):
        raise typer.BadParameter(
            "it goes with --skip-latest, which sets the rule", param_hint=_given(context)
        )
    query, path = VerbQuery(dry_run, expect), path_of(TABLES, table, "compaction")
    query.check_change(changes=off or skip_latest is not None, by="--skip-latest or --off")
    with connect(server, reason) as client:
        if skip_latest is not None:
            body = _json_body(
                skipOffsetFromLatest=skip_latest,
                targetRows=target_rows,
                targetBytes=target_bytes,
                filesMin=files_min,
            )
            answer = query.send(client, lambda params: client.put(path, body, params))
        elif off:
            answer = query.send(client, lambda params: client.delete(path, params))
        else:
            answer = client.get(path)
    if dry_run:
        show_preview(answer, output)
    elif output is Format.JSON:
        show_json(answer.json())
    else:
        show_done(table, _format_rule(answer.read(CompactionRuleView)))


@commands.command("cancel")
def cancel(
    compaction: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the compaction.", show_default=False)
    ],
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Give up a compaction that waits or runs; its files stay as they are."""
    query, path = VerbQuery(dry_run, expect), path_of(COMPACTIONS, compaction, "cancel")
    with connect(server, reason) as client:
        answer = query.send(client, lambda params: client.post(path, params=params))
    if dry_run:
        show_preview(answer, output)
        return
    if output is Format.JSON:
        show_json(answer.json())
        return
    found = answer.read(CompactionView)
    show_done(found.id, f"{found.id}: {found.status}, {found.detail}")


def _json_body(**members: int | str | None) -> bytes:
    """Return a JSON object of the given members; the overlord has defaults for the others."""
    return json.dumps(
        {name: value for name, value in members.items() if value is not None}
    ).encode()


def _given(context: typer.Context) -> list[str]:
    """Return the options of a rule that the command line gives."""
    parts = ("target_rows", "target_bytes", "files_min")
    named = (part for part in parts if _source(context, part) == "COMMANDLINE")
    return [f"--{part.replace('_', '-')}" for part in named]


def _source(context: typer.Context, part: str) -> str:
    found = context.get_parameter_source(part)
    return "" if found is None else found.name


def _ended(client: Client, begun: Sequence[CompactionView], seconds: float) -> list[CompactionView]:
    """Wait until all compactions have ended; return them with their results."""
    ended: dict[str, CompactionView] = {}

    def look() -> str | None:
        for each in begun:
            if each.id not in ended:
                now = client.get(path_of(COMPACTIONS, each.id)).read(CompactionView)
                if now.status != "RUNNING":
                    ended[each.id] = now
        left = len(begun) - len(ended)
        return f"{left} of {len(begun)} still wait or run" if left else None

    wait_for(f"compacting {begun[0].data_source}", look, seconds)
    return [ended[each.id] for each in begun]


def _format_rule(rule: CompactionRuleView) -> str:
    if rule.skip_offset_from_latest is None:
        return f"{rule.data_source} is compacted only when asked"
    return (
        f"{rule.data_source} is compacted by itself, up to {rule.skip_offset_from_latest} before "
        f"its newest rows: {rule.files_min} or more files of a chunk, into files of "
        f"{rule.target_rows} rows or {rule.target_bytes} bytes at most (set by {rule.author})"
    )


_COMPACTIONS = Resource(
    path=COMPACTIONS,
    part="compactions",
    rows=list[CompactionView],
    columns=("TABLE", "FROM", "TO", "FILES", "ROWS", "STATUS", "ASKED BY", "ID"),
    cells=lambda row, _: (
        row.data_source,
        f"{row.interval_start:%Y-%m-%d %H:%M}",
        f"{row.interval_end:%Y-%m-%d %H:%M}",
        row.files,
        row.rows,
        row.status_code or row.status,
        row.reason,
        row.id,
    ),
    problem=lambda row: f"{row.id}: {row.detail}" if row.status == "FAILED" else None,
)
