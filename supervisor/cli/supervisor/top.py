"""`tidegate supervisor top`: which supervisors need somebody, and how far each is behind."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from supervisor.cli.shell.client import OURS
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, connect
from supervisor.cli.shell.output import ago, print_notice, short_duration
from supervisor.cli.shell.pages import rows_up_to
from supervisor.cli.shell.resource import Resource
from supervisor.cli.shell.selection import InState
from supervisor.core.history.listing import COLUMNS, Trend
from supervisor.views.listing import ListedRow, SupervisorsPage

_ARROWS = {Trend.RISING: " up", Trend.FALLING: " down"}


_Text = Annotated[
    str | None,
    typer.Argument(
        metavar="TEXT",
        help="A part of the id, of the table or of the topic; * matches any letters.",
        show_default="all",
    ),
]
_OfTable = Annotated[
    str | None,
    typer.Option(
        "--data-source",
        metavar="PATTERN",
        show_default="of any table",
        help="Those that fill this table; * matches any letters.",
    ),
]
_OfTopic = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="PATTERN",
        show_default="any topic",
        help="Those that read this topic; * matches any letters.",
    ),
]
_Healthy = Annotated[
    bool | None,
    typer.Option("--healthy/--unhealthy", show_default="both", help="Those that are, or not."),
]
_Bounded = Annotated[
    bool | None,
    typer.Option(
        "--bounded/--endless",
        show_default="both",
        help="Those that read fixed ranges once, as a backfill does, or for ever.",
    ),
]
_Sort = Annotated[
    str,
    typer.Option(
        "--sort",
        metavar="COLUMN",
        help=f"{', '.join(COLUMNS)}; with - before it, the highest value first.",
    ),
]


def top(
    text: _Text = None,
    *,
    state: InState = None,
    data_source: _OfTable = None,
    topic: _OfTopic = None,
    healthy: _Healthy = None,
    bounded: _Bounded = None,
    sort: _Sort = "attention",
    limit: Limit = 50,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show supervisors, the worst first: state, lag, rows a second, when they publish next.

    It shows what the leader saw in its last passes, so it costs little and may be repeated.

    \b
    Examples:
      tidegate supervisor top --unhealthy -o wide
      tidegate supervisor top 'orders*' --sort -lagMillis
    """
    params = {
        "q": text,
        "state": state,
        "dataSource": data_source,
        "topic": topic,
        "healthy": None if healthy is None else str(healthy).lower(),
        "bounded": None if bounded is None else str(bounded).lower(),
        "sort": sort,
    }
    with connect(server) as client:
        answer = rows_up_to(client, OURS, "supervisors", limit, params)
    _TOP.show(answer, output)
    if output is Format.JSON:
        return
    page = answer.read(SupervisorsPage)
    if page.totals:
        counts = ", ".join(f"{number} {name}" for name, number in page.totals.items())
        print_notice(f"{len(page.supervisors)} of {page.matching} shown; in all {counts}")


def _cells(row: ListedRow, now: datetime) -> tuple[object, ...]:
    return (
        row.id,
        row.detailed_state or row.state,
        ago(row.since, now),
        row.lag_records,
        _age(row),
        row.rows_per_second,
        ago(row.next_publish_due, now),
        row.why,
        row.data_source,
        row.stream,
        row.version,
        ago(row.last_published_at, now),
        ago(row.observed_at, now),
        _room(row),
        row.remedy.label if row.remedy else "",
        f"{row.operation.kind} {row.operation.id}" if row.operation else "",
    )


def _age(row: ListedRow) -> str:
    if row.lag_millis is None:
        return ""
    arrow = "" if row.trend is None else _ARROWS.get(row.trend, "")
    return short_duration(timedelta(milliseconds=row.lag_millis)) + arrow


def _room(row: ListedRow) -> str:
    if row.headroom_millis is None:
        return ""
    return short_duration(timedelta(milliseconds=row.headroom_millis))


_TOP = Resource(
    path=OURS,
    part="supervisors",
    rows=list[ListedRow],
    columns=("ID", "STATE", "SINCE", "LAG", "OLDEST", "ROWS/S", "PUBLISHES", "WHY"),
    wide=("TABLE", "TOPIC", "VERSION", "PUBLISHED", "SEEN", "HEADROOM", "STEP", "OPERATION"),
    cells=_cells,
    nothing="No supervisor fits.",
)
