"""`tidegate queue ...`: show event queues, replay or drop failed events, repair dead queues."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from supervisor.cli.cluster.deferred import QUEUES, Container, Name, drop, repair, replay
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Server, connect
from supervisor.cli.shell.output import (
    ago,
    show_facts,
    show_json,
    show_name,
    show_text,
    size,
)
from supervisor.cli.shell.pages import linked_rows_up_to, rows_up_to
from supervisor.cli.shell.resource import Resource
from supervisor.core.values.counts import counted
from supervisor.views.queues import (
    FailedRow,
    FailedView,
    LatencyView,
    OldestView,
    QueueState,
)

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Deferred work: event queues, failed events."
)
REASON_SHOWN = 100
"""Characters of a reason in a table; `--seq` shows all of it."""

ListLimit = Annotated[
    int | None,
    typer.Option(
        "--limit", "-n", metavar="N", min=1, max=1_000, help="At most so many.", show_default="all"
    ),
]


@commands.callback()
def _group() -> None:
    """Deferred work: event queues, failed events."""


_QUEUES = Resource(
    path=QUEUES,
    rows=list[QueueState],
    columns=("CONTAINER", "NAME", "STATE", "EVENTS", "SIZE", "OLDEST", "FAILED", "HEALTHY"),
    cells=lambda queue, now: (
        queue.container,
        queue.name,
        queue.state,
        queue.outstanding_events,
        size(queue.outstanding_bytes),
        "" if queue.oldest is None else ago(queue.oldest.enqueued_at, now),
        queue.failed_events,
        "yes" if queue.healthy else f"no: {queue.why}",
    ),
    nothing="There is no event queue yet: nothing was ever deferred.",
)


@commands.command("list")
def list_all(
    unhealthy: Annotated[
        bool, typer.Option("--unhealthy", help="Only queues with a trouble.")
    ] = False,
    limit: ListLimit = None,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the event queues: what waits, since when, and what is wrong.

    Example: tidegate queue list --unhealthy
    """
    params = {"unhealthy": "true"} if unhealthy else {}
    with connect(server) as client:
        if limit is None:
            answer = client.get(QUEUES, params)
        else:
            answer = linked_rows_up_to(client, QUEUES, limit, bound="limit", params=params)
    resource = replace(_QUEUES, nothing="No event queue has a trouble.") if unhealthy else _QUEUES
    resource.show(answer, output)


@commands.command()
def show(
    container: Container, name: Name, server: Server = None, output: Output = Format.TABLE
) -> None:
    """Show the state of one queue, and what holds it up.

    Example: tidegate queue show supervisor:clicks task-output
    """
    with connect(server) as client:
        answer = client.get(path_of(QUEUES, container, name))
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_name(container, name)
        show_facts(_facts(answer.read(QueueState), datetime.now(UTC)))


@commands.command()
def failed(
    container: Annotated[
        str | None,
        typer.Argument(
            metavar="CONTAINER",
            help="Only of this container's queue; give NAME as well.",
            show_default="all queues",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Only of the queue of this name.", show_default="all queues"
        ),
    ] = None,
    seq: Annotated[
        int | None,
        typer.Option(
            "--seq",
            metavar="SEQ",
            min=0,
            help="Show the event of this number, with its payload.",
            show_default="they are listed",
        ),
    ] = None,
    limit: Limit = 100,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the events that were set aside, by queue and oldest first; or show one.

    Example: tidegate queue failed supervisor:clicks task-output --seq 7
    """
    if container is not None and name is None:
        raise typer.BadParameter("name the queue as well: CONTAINER NAME")
    if seq is not None:
        if container is None or name is None:
            raise typer.BadParameter("--seq needs the queue: CONTAINER NAME")
        _show_failed(container, name, seq, server=server, output=output)
        return
    place = ("failed",) if container is None or name is None else (container, name, "failed")
    with connect(server) as client:
        answer = rows_up_to(client, path_of(QUEUES, *place), _FAILED.part, limit)
    _FAILED.show(answer, output)


commands.command()(replay)
commands.command()(drop)
commands.command()(repair)


def _show_failed(
    container: str, name: str, seq: int, *, server: str | None, output: Format
) -> None:
    with connect(server) as client:
        answer = client.get(path_of(QUEUES, container, name, "failed", str(seq)))
    if output is Format.JSON:
        show_json(answer.json())
        return
    event, now = answer.read(FailedView), datetime.now(UTC)
    if form() is Format.NAME:
        show_name(container, name, seq)
        return
    show_facts(
        (
            ("queue", f"{event.container}/{event.name}"),
            ("event", f"{event.seq}, about {event.key}"),
            ("reason", event.reason),
            ("tries", event.attempts),
            ("added", ago(event.enqueued_at, now)),
            ("set aside", ago(event.failed_at, now)),
            ("size", size(event.size_bytes)),
        )
    )
    if event.payload_base64 is not None:
        show_text(f"payload, base64: {event.payload_base64}")
    else:
        show_json(event.payload)


def _facts(queue: QueueState, now: datetime) -> tuple[tuple[str, object], ...]:
    waits = f"{counted(queue.outstanding_events, 'event')}, {size(queue.outstanding_bytes)}"
    limit = f" (limit {size(queue.max_outstanding_bytes)})" if queue.mode == "CONSUMER" else ""
    return (
        ("queue", f"{queue.container}/{queue.name}"),
        ("state", queue.state),
        ("mode", queue.mode),
        ("waiting", f"{waits}{limit}"),
        ("oldest", "" if queue.oldest is None else _oldest(queue.oldest, now)),
        ("latency", "" if queue.latency is None else _latency(queue.latency)),
        ("failed tries in a row", queue.failed_iterations or ""),
        ("last error", queue.last_error),
        ("failed events", queue.failed_events or ""),
        ("segments stored", queue.segments or ""),
        ("wrong", queue.why),
    )


def _oldest(oldest: OldestView, now: datetime) -> str:
    kind = oldest.kind or "not decodable"
    added, due = ago(oldest.enqueued_at, now), ago(oldest.due_at, now)
    return f"event {oldest.seq} ({kind}, {oldest.key}), added {added}, due {due}"


def _latency(latency: LatencyView) -> str:
    return f"{latency.average:.1f}s on average, p99 {latency.p99:.1f}s, of {latency.count} events"


def _failed_row(event: FailedRow, now: datetime) -> tuple[object, ...]:
    reason = event.reason
    if len(reason) > REASON_SHOWN:
        reason = f"{reason[:REASON_SHOWN]}..."
    when = ago(event.failed_at, now)
    return event.container, event.name, event.seq, event.key, event.attempts, when, reason


_FAILED = Resource(
    path=f"{QUEUES}/failed",
    part="failed",
    rows=list[FailedRow],
    columns=("CONTAINER", "NAME", "SEQ", "KEY", "TRIES", "FAILED", "REASON"),
    cells=_failed_row,
)
