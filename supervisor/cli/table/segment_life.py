"""`tidegate segment mark-unused`, `mark-used` and `retention`: the life cycle of segments."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated

import typer

from supervisor.cli.shell.client import ApiReply, Client, Params, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, Yes, connect
from supervisor.cli.shell.output import ago, show_done, show_json, show_table, size
from supervisor.core.values.counts import grouped
from supervisor.core.values.field_types import parse_duration
from supervisor.core.values.intervals import Interval, parse_interval
from supervisor.views.tables.segments import Marked, RetentionView, SegmentView, TableSegments

TABLES = "/api/v1/datasources"
PAGE = 5_000
NO_WINDOW: Mapping[str, str] = MappingProxyType({})
"""Segments per request."""
DRUID_TABLES = "/druid/indexer/v1/datasources"

Table = Annotated[
    str, typer.Argument(metavar="TABLE", help="Name of the table.", show_default=False)
]


def _an_interval(text: str | None) -> str | None:
    if text is not None:
        try:
            parse_interval(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return text


def a_period(text: str | None) -> str | None:
    """Return a valid period unchanged; refuse any other text as wrong usage."""
    if text is not None:
        try:
            parse_duration(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return text


def within(otherwise: str) -> object:
    """Return the option --interval; `otherwise`: help text about its absence."""
    return typer.Option(
        "--interval",
        metavar="START/END",
        callback=_an_interval,
        show_default=otherwise,
        help="Those wholly inside, such as 2026-01-01/2026-01-02; UTC.",
    )


Within = Annotated[str | None, within("none: give --id or --all then")]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="ID",
        show_default="none: give --interval or --all then",
        help="This segment, as `segment list --all` shows it. May be repeated.",
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="All of the table.")]


def mark_unused(
    table: Table,
    interval: Within = None,
    ids: Ids = None,
    everything: Everything = False,
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    yes: Yes = False,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Take segments out of a table; their files are deleted after a time of grace.

    \b
    Example:
      tidegate segment mark-unused clicks --interval 2026-01-01/2026-01-02
    """
    body, query = _which(interval, ids, everything=everything), VerbQuery(dry_run, expect)
    with connect(server, reason) as client:
        if query.asks and not yes:
            found = _chosen(segments_of(client, table, used=True), interval, ids)
            confirm(
                f"Take {len(found)} segments ({grouped(sum(s.rows for s in found))} rows) out of "
                f"{table}? "
                "Until their grace time is over, `tidegate segment mark-used` puts them back."
            )
        answer = query.send(client, lambda params: _take_out(client, table, body, params))
    if dry_run:
        show_preview(answer, output)
    elif output is Format.JSON:
        show_json(answer.json())
    else:
        number = answer.read(Marked).num_changed_segments
        show_done(table, f"{number} segments were taken out of {table}")


def _take_out(client: Client, table: str, body: bytes | None, params: Params) -> ApiReply:
    if body is None:
        return client.delete(path_of(DRUID_TABLES, table), params)
    return client.post(path_of(DRUID_TABLES, table, "markUnused"), body, params)


def mark_used(
    table: Table,
    interval: Within = None,
    ids: Ids = None,
    everything: Everything = False,
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Put segments back into a table whose grace time is not over.

    \b
    Example:
      tidegate segment mark-used clicks --interval 2026-01-01/2026-01-02
    """
    body, query = _which(interval, ids, everything=everything), VerbQuery(dry_run, expect)
    path = path_of(DRUID_TABLES, table, *(() if body is None else ("markUsed",)))
    with connect(server, reason) as client:
        answer = query.send(client, lambda params: client.post(path, body or b"", params))
    if dry_run:
        show_preview(answer, output)
    elif output is Format.JSON:
        show_json(answer.json())
    else:
        number = answer.read(Marked).num_changed_segments
        show_done(table, f"{number} segments were put back into {table}")


def retention(
    table: Table,
    keep_for: Annotated[
        str | None,
        typer.Option(
            "--keep-for",
            metavar="PERIOD",
            callback=a_period,
            show_default="the rule is shown, not changed",
            help="Take out rows older than this, now and from now on; ISO 8601, such as P30D.",
        ),
    ] = None,
    keep_forever: Annotated[
        bool, typer.Option("--keep-forever", help="Take nothing out any more.")
    ] = False,
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show or set how long a table keeps its rows, counted by the time in the rows.

    \b
    Examples:
      tidegate segment retention clicks
      tidegate segment retention clicks --keep-for P30D
    """
    if keep_for is not None and keep_forever:
        raise typer.BadParameter("give one of --keep-for and --keep-forever")
    query, path = VerbQuery(dry_run, expect), path_of(TABLES, table, "retention")
    changes = keep_forever or keep_for is not None
    query.check_change(changes=changes, by="--keep-for or --keep-forever")
    with connect(server, reason) as client:
        if keep_for is not None:
            body = json.dumps({"keepFor": keep_for}).encode()
            answer = query.send(client, lambda params: client.put(path, body, params))
        elif keep_forever:
            answer = query.send(client, lambda params: client.delete(path, params))
        else:
            answer = client.get(path)
    if dry_run:
        show_preview(answer, output)
        return
    if output is Format.JSON:
        show_json(answer.json())
        return
    rule = answer.read(RetentionView)
    kept = "for ever" if rule.keep_for is None else f"for {rule.keep_for} (set by {rule.author})"
    show_done(table, f"{table} keeps its rows {kept}")


def segments_of(
    client: Client, table: str, *, used: bool | None, window: Mapping[str, str] = NO_WINDOW
) -> tuple[SegmentView, ...]:
    """Return segments of a table: those in use (True), those taken out (False), or all (None).

    `window`: further conditions of the list, by the names that the overlord has for them.
    """
    params = {"limit": str(PAGE), **window}
    params |= {} if used is None else {"used": str(used).lower()}
    segments: list[SegmentView] = []
    while True:
        page = client.get(path_of(TABLES, table, "segments"), params).read(TableSegments)
        segments += page.segments
        if page.next is None:
            return tuple(segments)
        params["cursor"] = page.next


def show_segments(segments: list[tuple[str, SegmentView]]) -> None:
    """Print (table, segment) pairs with the state of each segment."""
    now = datetime.now(UTC)
    show_table(
        ("TABLE", "FROM", "TO", "ROWS", "SIZE", "STANDS", "ID"),
        (
            (
                table,
                f"{each.interval_start:%Y-%m-%d %H:%M}",
                f"{each.interval_end:%Y-%m-%d %H:%M}",
                each.rows,
                size(each.size_bytes),
                _format_state(each, now),
                each.id,
            )
            for table, each in segments
        ),
    )


def _format_state(segment: SegmentView, now: datetime) -> str:
    if segment.used:
        return "in use"
    out = "unused" if segment.replaced_by is None else "compacted"
    if segment.deleted_at is not None:
        gone = f"deleted {ago(segment.deleted_at, now)}"
        return gone if segment.replaced_by is None else f"{out}, {gone}"
    due = segment.delete_after is None or segment.delete_after <= now
    return f"{out}, deleted {'soon' if due else ago(segment.delete_after, now)}"


def _which(interval: str | None, ids: list[str] | None, *, everything: bool) -> bytes | None:
    """Return the request body of the selection; None: the whole table.

    Exactly one option must be given.
    """
    if (interval is not None) + bool(ids) + everything != 1:
        raise typer.BadParameter("give one of --interval, --id and --all")
    if everything:
        return None
    return json.dumps({"segmentIds": ids} if ids else {"interval": interval}).encode()


def _chosen(
    segments: tuple[SegmentView, ...], interval: str | None, ids: list[str] | None
) -> list[SegmentView]:
    within: Interval | None = None if interval is None else parse_interval(interval)
    return [
        each
        for each in segments
        if (not ids or each.id in ids)
        and (within is None or within.contains(each.interval_start, each.interval_end))
    ]
