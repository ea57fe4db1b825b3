"""`tidegate supervisor events | ranges | plans`: what happened, in a window of the history."""

from datetime import datetime
from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.completion import complete_ids
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, SupervisorId, connect
from supervisor.cli.shell.pages import rows_up_to
from supervisor.cli.shell.resource import Resource
from supervisor.cli.supervisor.watch import API, EVENTS, Types, short_value
from supervisor.views.generations import GenerationView
from supervisor.views.history import EventView
from supervisor.views.tables.ledger import PlanView

From = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", show_default="the oldest", help="Not before this time."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", show_default="now", help="Before this time."),
]


def events(
    supervisor_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Of this supervisor alone.",
            show_default="of all",
            autocompletion=complete_ids,
        ),
    ] = None,
    *,
    kinds: Types = None,
    begin: From = None,
    end: To = None,
    limit: Limit = 100,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List what happened, the newest first: of a type, or of a time.

    Example: tidegate supervisor events clicks --type state-changed
    """
    window = {"supervisor": supervisor_id, "from": begin, "to": end, "type": kinds}
    with connect(server) as client:
        answer = rows_up_to(client, EVENTS, "events", limit, window)
    _EVENTS.show(answer, output)


def ranges(
    supervisor_id: SupervisorId,
    *,
    begin: From = None,
    end: To = None,
    group: Annotated[
        int | None,
        typer.Option("--group", metavar="N", min=0, show_default="all", help="Of this group."),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state", metavar="STATE", show_default="all", help="In this state. May be repeated."
        ),
    ] = None,
    limit: Limit = 50,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List ranges, the newest first: when each was read, and how long its steps took.

    Example: tidegate supervisor ranges clicks --state DISCARDED
    """
    number = None if group is None else str(group)
    window = {"from": begin, "to": end, "group": number, "state": state}
    path = path_of(API, supervisor_id, "generations")
    with connect(server) as client:
        answer = rows_up_to(client, path, "generations", limit, window)
    _RANGES.show(answer, output)


def plans(
    supervisor_id: SupervisorId,
    *,
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="TIME", show_default="now", help="Before this time."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=200, help="At most so many.")
    ] = 50,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List what the last passes decided and why, the newest first; 200 are kept.

    Example: tidegate supervisor plans clicks -n 5
    """
    path = path_of(API, supervisor_id, "plans")
    with connect(server) as client:
        answer = rows_up_to(client, path, "plans", limit, {"before": before})
    _PLANS.show(answer, output)


def _seconds(millis: int | None) -> str:
    return "" if millis is None else f"{millis / 1_000:.1f}s"


_EVENTS = Resource(
    path=EVENTS,
    part="events",
    rows=list[EventView],
    columns=("WHEN", "EVENT", "SUPERVISOR", "GROUP", "DETAIL"),
    wide=("ID", "RANGE", "TASK"),
    cells=lambda row, _: (
        f"{row.at:%Y-%m-%d %H:%M:%S}",
        row.type,
        row.supervisor_id,
        row.group,
        "  ".join(f"{name}={short_value(value)}" for name, value in row.detail.items()),
        row.id,
        row.generation_id,
        row.task_id,
    ),
    nothing="Nothing of that happened, as far as events are kept.",
)


def _range(row: GenerationView, _: datetime) -> tuple[object, ...]:
    took = row.durations
    return (
        row.ordinal,
        row.group,
        row.state,
        f"{row.opened_at:%Y-%m-%d %H:%M:%S}",
        *(_seconds(step) for step in (took.reading, took.pausing, took.finishing, took.publishing)),
        row.records,
        row.rows,
        row.handoff_why,
        row.id,
    )


_RANGES = Resource(
    path=API,
    part="generations",
    rows=list[GenerationView],
    columns=(
        *("NUMBER", "GROUP", "STATE", "OPENED"),
        *("READING", "PAUSING", "FINISHING", "PUBLISHING", "RECORDS", "ROWS", "HANDOFF"),
    ),
    wide=("ID",),
    cells=_range,
    nothing="There is no such range.",
)
_PLANS = Resource(
    path=API,
    part="plans",
    rows=list[PlanView],
    columns=("WHEN", "DECIDED"),
    wide=("TERM",),
    cells=lambda row, _: (
        f"{row.at:%Y-%m-%d %H:%M:%S}",
        row.error or "; ".join(f"{a.action} {a.about}: {a.why}" for a in row.actions),
        row.term,
    ),
    nothing="No pass had anything to do, as far as plans are kept.",
)
