"""Verbs on event queues: replay and drop events that were set aside, repair dead queues."""

from typing import Annotated

import typer

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, Yes, connect
from supervisor.cli.shell.output import print_notice, show_json, show_name, show_text
from supervisor.core.values.counts import counted, grouped
from supervisor.views.queues import FailedView, QueueState, RepairedView, ReplayedView

__all__ = ["QUEUES", "Container", "Name", "drop", "repair", "replay"]

QUEUES = "/api/v1/queues"

Container = Annotated[
    str,
    typer.Argument(
        metavar="CONTAINER",
        help="Whose queue: supervisor:ID, table:NAME, or cluster; see `queue list`.",
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the queue.", show_default=False)]
Seq = Annotated[
    int,
    typer.Argument(
        metavar="SEQ",
        help="Number of the event, as `queue failed` shows it.",
        min=0,
        show_default=False,
    ),
]


def replay(
    container: Container,
    name: Name,
    seq: Annotated[
        int | None,
        typer.Argument(
            metavar="SEQ",
            help="Number of the event, as `queue failed` shows it.",
            min=0,
            show_default="none: say --all",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All failed events of the queue, oldest first.")
    ] = False,
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Queue a failed event again, at the tail and with no tries counted; or all of them.

    \b
    Examples:
      tidegate queue replay supervisor:clicks task-output 7
      tidegate queue replay supervisor:clicks task-output --all
    """
    if (seq is None) != everything:
        raise typer.BadParameter("give either SEQ or --all")
    place: tuple[str, ...] = (container, name, "failed", "replay")
    if seq is not None:
        place = (container, name, "failed", str(seq), "replay")
    query, path = VerbQuery(dry_run, expect), path_of(QUEUES, *place)
    with connect(server, reason) as client:
        answer = query.send(client, lambda params: client.post(path, params=params))
    if dry_run:
        show_preview(answer, output)
        return
    show_name(container, name)
    if output is Format.JSON:
        show_json(answer.json())
    elif seq is not None:
        show_text(f"event {seq} waits in {container}/{name} again")
    else:
        done = answer.read(ReplayedView)
        show_text(
            f"{counted(done.replayed, 'event waits', 'events wait')} in {container}/{name} again"
        )
        if done.left:
            print_notice(
                f"{done.left} are left: `tidegate queue failed {container} {name}` says why"
            )


def drop(
    container: Container,
    name: Name,
    seq: Seq,
    yes: Yes = False,
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Delete a failed event: its work is never done.

    Example: tidegate queue drop supervisor:clicks task-output 7
    """
    place = path_of(QUEUES, container, name, "failed", str(seq))
    query = VerbQuery(dry_run, expect)
    with connect(server, reason) as client:
        if query.asks and not yes:
            event = client.get(place).read(FailedView)
            print_notice(
                f"event {seq} of {container}/{name}, about {event.key}, failed: {event.reason}"
            )
            print_notice("A dropped event is gone, and its work is never done.")
            confirm(f"Drop event {seq}?")
        answer = query.send(client, lambda params: client.delete(place, params))
    if dry_run:
        show_preview(answer, output)
    elif output is Format.JSON:
        show_json(answer.json())
    else:
        show_name(container, name)
        show_text(f"event {seq} of {container}/{name} is dropped")


def repair(
    container: Container,
    name: Name,
    *,
    yes: Yes = False,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Make a dead queue live again: sound events go on in their order, damaged ones fail.

    Example: tidegate queue repair supervisor:clicks task-output
    """
    query, path = VerbQuery(dry_run, expect), path_of(QUEUES, container, name, "repair")
    with connect(server, reason) as client:
        if query.asks and not yes:
            _describe_repair(client, container, name)
            confirm(f"Repair {container}/{name}?")
        answer = query.send(client, lambda params: client.post(path, params=params))
    if dry_run:
        show_preview(answer, output)
        return
    if output is Format.JSON:
        show_json(answer.json())
        return
    done = answer.read(RepairedView)
    show_name(container, name)
    events = counted(done.again, "event waits", "events wait")
    show_text(f"{container}/{name} is live: {events} in it again")
    if done.set_aside:
        print_notice(f"{done.set_aside} were set aside: `tidegate queue failed {container} {name}`")
    if done.missing:
        print_notice(
            f"{done.missing} are missing: look for the work that they stood for by other means"
        )


def _describe_repair(client: Client, container: str, name: str) -> None:
    queue = client.get(path_of(QUEUES, container, name)).read(QueueState)
    where = f"{container}/{name}"
    if queue.dead_seq is None:
        print_notice(f"{where} is {queue.state}.")
    else:
        print_notice(f"{where} is dead at event {queue.dead_seq}: {queue.dead_why}")
    print_notice(
        f"About {grouped(queue.outstanding_events)} events wait. The sound ones are queued again "
        "in order;"
    )
    print_notice("the damaged ones are set aside, and their work is left to you.")
