"""`tidegate execution partitions, project, dead`: executions on Kafka as a whole."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from supervisor.cli.flow.look import EXECUTIONS
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Reason, Server, Yes, connect
from supervisor.cli.shell.output import (
    ago,
    print_notice,
    show_facts,
    show_json,
    show_name,
    show_table,
    show_text,
    size,
)
from supervisor.ports.flows.engine_kinds import EngineKind
from supervisor.views.flows.executor import (
    DeadInputPage,
    DeadInputView,
    ExecutionPartitionsView,
    ExecutorState,
    ProjectedView,
)

__all__ = ["commands", "partitions", "project"]

_EXECUTOR = f"{EXECUTIONS.rpartition('/')[0]}/executor"
_DEAD = f"{_EXECUTOR}/dead"
_AT_ONCE = 1_000
_STATES = {
    ExecutorState.SILENT: "is silent, and was heard",
    ExecutorState.WAITING: "waits for something that is away, as it wrote",
}

commands = typer.Typer(
    no_args_is_help=True,
    cls=HelpSections,
    help="Inputs of executions on Kafka that could not be worked in.",
)
Offset = Annotated[
    int,
    typer.Argument(metavar="OFFSET", help="Its place, as `list` shows it.", show_default=False),
]


@commands.callback()
def _group() -> None:
    """Inputs of executions on Kafka that could not be worked in."""


def partitions(server: Server = None, output: Output = Format.TABLE) -> None:
    """Show who runs executions, and on Kafka each partition: its owner, and what waits in it."""
    with connect(server) as client:
        answer = client.get(_EXECUTOR)
    if output is Format.JSON:
        show_json(answer.json())
        return
    executor = answer.read(ExecutionPartitionsView)
    if executor.engine is EngineKind.SQL:
        print_notice("Executions run in the database, by the overlord that leads: no partitions.")
        return
    show_table(
        ("PARTITION", "EXECUTOR", "POSITION", "LAG", "TABLES BEHIND"),
        (
            (p.partition, p.owner or "nobody", p.position, p.lag, p.projection_lag)
            for p in executor.partitions
        ),
    )
    now = datetime.now(UTC)
    for each in executor.executors:
        if each.state is not ExecutorState.RUNNING:
            why = f": {each.reason}" if each.reason else ""
            print_notice(f"{each.name} {_STATES[each.state]} {ago(each.heard_at, now)}{why}")
    if executor.dead_letters:
        print_notice(f"{executor.dead_letters} dead letters: tidegate execution dead list")


def project(
    *,
    from_topics: Annotated[
        bool, typer.Option("--from-topics", help="Say that this is what you want.")
    ] = False,
    yes: Yes = False,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Write the tables of executions on Kafka anew, from the topics; executions go on meanwhile.

    Lists lack executions until the projectors have read their topics.

    Example: tidegate execution project --from-topics
    """
    if not from_topics:
        raise typer.BadParameter("the tables are written from the topics: say --from-topics")
    if not yes:
        confirm("Delete the tables of executions, and read them again from their topics?")
    with connect(server, reason) as client:
        answer = client.post(f"{_EXECUTOR}/project", b"")
    if output is Format.JSON:
        show_json(answer.json())
        return
    deleted = answer.read(ProjectedView).deleted
    show_text(f"{deleted} executions are read again from their topics")


@commands.command("list")
def list_all(
    handled: Annotated[
        bool, typer.Option("--handled", help="Also those that were replayed or dropped.")
    ] = False,
    limit: Limit = 100,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List inputs that could not be worked in, the newest first.

    Example: tidegate execution dead list
    """
    letters: list[DeadInputView] = []
    before: int | None = None
    with connect(server) as client:
        while len(letters) < limit:
            asked = {"limit": str(min(limit - len(letters), _AT_ONCE))}
            asked |= {"handled": str(handled).lower()}
            asked |= {} if before is None else {"before": str(before)}
            page = client.get(_DEAD, asked).read(DeadInputPage)
            letters += page.letters
            before = page.next
            if before is None:
                break
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in letters])
        return
    now = datetime.now(UTC)
    show_table(
        ("OFFSET", "SINCE", "EXECUTION", "SIZE", "REASON", "HANDLED"),
        (
            (
                each.offset,
                ago(each.at, now),
                each.execution or "",
                size(each.size_bytes),
                each.reason[:100],
                "" if each.handled is None else f"{each.handled.outcome} by {each.handled.by}",
            )
            for each in letters
        ),
    )
    if not letters:
        print_notice("There is no dead letter that needs somebody.")


@commands.command()
def show(offset: Offset, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show one input that could not be worked in: why, and its text.

    Example: tidegate execution dead show 17
    """
    with connect(server) as client:
        answer = client.get(f"{_DEAD}/{offset}")
    if output is Format.JSON:
        show_json(answer.json())
        return
    letter = answer.read(DeadInputView)
    show_name(offset)
    if form() is Format.NAME:
        return
    show_facts(
        [
            ("reason", letter.reason),
            ("execution", letter.execution or "it does not say"),
            ("set aside", ago(letter.at, datetime.now(UTC))),
            ("size", size(letter.size_bytes)),
        ]
    )
    show_text(letter.body)
    print_notice(_done(letter))


@commands.command()
def replay(
    offset: Offset, reason: Reason = None, server: Server = None, output: Output = Format.TABLE
) -> None:
    """Send an input once more, such as after an upgrade; one that is known changes nothing.

    Example: tidegate execution dead replay 17
    """
    with connect(server, reason) as client:
        answer = client.post(f"{_DEAD}/{offset}/replay", b"")
    if output is Format.JSON:
        show_json(answer.json())
        return
    show_name(offset)
    show_text(_done(answer.read(DeadInputView)))


@commands.command()
def drop(
    offset: Offset,
    *,
    yes: Yes = False,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Drop an input: it is listed no more, and stays in its topic until its age deletes it.

    Example: tidegate execution dead drop 17 --reason "a test of ours"
    """
    with connect(server, reason) as client:
        if not yes:
            letter = client.get(f"{_DEAD}/{offset}").read(DeadInputView)
            print_notice(f"the dead letter {offset}, to {letter.execution}: {letter.reason}")
            confirm(f"Drop the dead letter {offset}?")
        answer = client.delete(f"{_DEAD}/{offset}")
    if output is Format.JSON:
        show_json(answer.json())
        return
    show_name(offset)
    show_text(_done(answer.read(DeadInputView)))


def _done(letter: DeadInputView) -> str:
    if (handled := letter.handled) is None:
        return "nothing was done with it"
    verb = "dropped" if handled.outcome == "dropped" else "sent once more"
    why = f" ({handled.reason})" if handled.reason else ""
    return f"letter {letter.offset}: {verb}, by {handled.by} at {handled.at:%Y-%m-%d %H:%M:%S}{why}"
