"""`tidegate supervisor events | ranges | plans | lag`: the history, in a window of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.completion import complete_ids
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, SupervisorId, connect
from supervisor.cli.shell.output import print_notice, short_duration, show_json, show_table
from supervisor.cli.shell.pages import rows_up_to
from supervisor.cli.shell.resource import Resource
from supervisor.cli.supervisor.watch import API, EVENTS, Types, short_value
from supervisor.core.history.lag import STEPS_MAX
from supervisor.core.history.lifecycle_events import LASTING
from supervisor.views.generations import GenerationView
from supervisor.views.history import EventsPage, EventView
from supervisor.views.lag import LagSeries, LagsView
from supervisor.views.tables.ledger import PlanView

LAG = "/api/v1/lag"
_BARS, _BARS_MAX = "▁▂▃▄▅▆▇█", 48
"""Heights of a bar, and characters of a line of them: of more steps the worst of a share counts."""
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
    _show_trimmed(answer.read(EventsPage), kinds or ())


def _show_trimmed(page: EventsPage, kinds: Sequence[str]) -> None:
    """Say where the events of handoffs begin, if the list goes back so far."""
    since, lasting = page.complete_since, {kind.value for kind in LASTING}
    if since is None or (kinds and lasting.issuperset(kinds)):
        return
    if page.events and page.events[-1].at < since:
        print_notice(
            f"events of handoffs, tasks and compactions before {since:%Y-%m-%d %H:%M:%S %Z} are "
            "trimmed; those of supervisors and offsets are kept longer"
        )


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


def lag(
    supervisor_ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Ids of the supervisors, at most 200.",
            show_default=False,
            autocompletion=complete_ids,
        ),
    ],
    *,
    step: Annotated[
        str,
        typer.Option(
            "--step",
            metavar="DURATION",
            help=f"ISO 8601: the worst of each step counts; at most {STEPS_MAX} steps.",
        ),
    ] = "PT15M",
    begin: From = None,
    end: To = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show how far supervisors were behind: now, at worst, and step by step over a day.

    A supervisor that you may not see is left out, as one that is not there.

    Example: tidegate supervisor lag orders clicks --step PT30M
    """
    window = {name: at for name, at in (("from", begin), ("to", end)) if at is not None}
    with connect(server) as client:
        answer = client.get(LAG, {"id": supervisor_ids, "step": step, **window})
    if output is Format.JSON:
        show_json(answer.json())
        return
    series = answer.read(LagsView).lag
    names = [*dict.fromkeys(supervisor_ids)]
    rows = [_lag_cells(name, series[name]) for name in names if name in series]
    show_table(_LAG_COLUMNS, rows, wide=_LAG_WIDE)
    for name in names:
        if name not in series:
            print_notice(f"{name}: no lag is known of that time, or you may not see it")


_LAG_COLUMNS = ("ID", "RECORDS", "OLDEST", "WORST", "LAG")
_LAG_WIDE = ("MOST RECORDS", "STEPS")


def _lag_cells(name: str, series: LagSeries) -> tuple[object, ...]:
    ages = [millis for millis in series.millis if millis is not None]
    counts = [records for records in series.records if records is not None]
    return (
        name,
        series.records[-1] if series.records else None,
        _age(series.millis[-1] if series.millis else None),
        _age(max(ages, default=None)),
        bars(series.millis if ages else series.records),
        max(counts, default=None),
        len(series.at),
    )


def _age(millis: int | None) -> str:
    return "" if millis is None else short_duration(timedelta(milliseconds=millis))


def bars(values: Sequence[int | None], width: int = _BARS_MAX) -> str:
    """Return a line of bars, the highest as the worst; a step that is not known is a gap."""
    share = -(-len(values) // width) or 1
    parts = [values[at : at + share] for at in range(0, len(values), share)]
    worst = [max((v for v in part if v is not None), default=None) for part in parts]
    highest = max((v for v in worst if v is not None), default=0) or 1
    return "".join(" " if v is None else _BARS[v * (len(_BARS) - 1) // highest] for v in worst)
