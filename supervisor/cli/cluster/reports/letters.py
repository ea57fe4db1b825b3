"""`tidegate reports dead ...`: records that could not be stored; list, show, replay, drop.

Where no persister is named, the overlord passes the verbs on to one that lives.
"""

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated

import typer

from supervisor.cli.cluster.reports.connection import By, caller_name
from supervisor.cli.cluster.reports.desk import DeskUrl, desk
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Reason, Server, Yes
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
from supervisor.cli.shell.problems import FAILED
from supervisor.views.reports import HandledView, LetterView

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Dead letters: records that cannot be stored."
)
_REJECTED = "rejected"
_REASON_SHOWN = 100

Partition = Annotated[
    int,
    typer.Argument(
        metavar="PARTITION", help="Its partition, as `list` shows it.", min=0, show_default=False
    ),
]
Offset = Annotated[
    int,
    typer.Argument(metavar="OFFSET", help="Its offset in it.", min=0, show_default=False),
]


@commands.callback()
def _group() -> None:
    """Dead letters: records that cannot be stored."""


@commands.command("list")
def list_all(
    about: Annotated[
        str | None,
        typer.Option(
            "--about", metavar="TEXT", show_default="all", help="Only if the reason holds this."
        ),
    ] = None,
    handled: Annotated[
        bool, typer.Option("--handled", help="Also those that were replayed or dropped.")
    ] = False,
    limit: Limit = 100,
    *,
    persister: DeskUrl = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the dead letters, the newest first.

    Example: tidegate reports dead list --about "unknown version"
    """
    with desk(persister, server) as letter_desk:
        letters = letter_desk.pages(about, limit, handled=handled)
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in letters])
        return
    now = datetime.now(UTC)
    show_table(
        ("PARTITION", "OFFSET", "SINCE", "SIZE", "FROM", "REASON", "HANDLED"),
        (
            (
                each.partition,
                each.offset,
                ago(each.at, now),
                size(each.size_bytes),
                each.origin,
                each.reason[:_REASON_SHOWN],
                "" if each.handled is None else f"{each.handled.outcome} by {each.handled.by}",
            )
            for each in letters
        ),
    )
    if not letters:
        print_notice("There is no dead letter that needs somebody.")


@commands.command()
def show(
    partition: Partition,
    offset: Offset,
    *,
    persister: DeskUrl = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show one dead letter: why it could not be stored, and its text.

    Example: tidegate reports dead show 0 17
    """
    with desk(persister, server) as letter_desk:
        answer = letter_desk.get(partition, offset)
    if output is Format.JSON:
        show_json(answer.json())
        return
    letter, now = answer.read(LetterView), datetime.now(UTC)
    show_name(partition, offset)
    if form() is Format.NAME:
        return
    show_facts(
        [
            ("reason", letter.reason),
            ("read from", letter.origin),
            ("kept", ago(letter.at, now)),
            ("size", size(letter.size_bytes)),
        ]
    )
    if letter.handled is not None:
        print_notice(_handled(letter.handled))
    show_text(letter.body)
    if letter.cut:
        print_notice("The rest is not shown.")


@commands.command()
def replay(
    partition: Annotated[
        int | None,
        typer.Argument(
            metavar="PARTITION",
            help="Its partition, as `list` shows it.",
            min=0,
            show_default="none: say --all",
        ),
    ] = None,
    offset: Annotated[
        int | None,
        typer.Argument(
            metavar="OFFSET", help="Its offset in it.", min=0, show_default="none: say --all"
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All letters that nobody has handled.")
    ] = False,
    about: Annotated[
        str | None,
        typer.Option(
            "--about",
            metavar="TEXT",
            show_default="all",
            help="With --all: only if the reason holds this.",
        ),
    ] = None,
    *,
    by: By = None,
    reason: Reason = None,
    persister: DeskUrl = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Store dead letters that can be stored now, such as after an upgrade.

    One that still cannot be stored stays a dead letter: exit code 1.

    \b
    Examples:
      tidegate reports dead replay 0 17
      tidegate reports dead replay --all --about "unknown version"
    """
    if everything == (offset is not None):
        raise typer.BadParameter("give either PARTITION and OFFSET, or --all")
    who = caller_name(by)
    with desk(persister, server, reason) as letter_desk:
        if partition is None or offset is None:
            letters = letter_desk.pages(about, None, handled=False)
            places = [(each.partition, each.offset) for each in letters]
        else:
            places = [(partition, offset)]
        replayed = [letter_desk.replay(*place, who).read(LetterView) for place in places]
    _show_replayed(replayed, output)


@commands.command()
def drop(
    partition: Partition,
    offset: Offset,
    *,
    yes: Yes = False,
    by: By = None,
    reason: Reason = None,
    persister: DeskUrl = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Drop a dead letter: it is listed no more, and stays in its topic until its age deletes it.

    Example: tidegate reports dead drop 0 17 --reason "a test of ours"
    """
    with desk(persister, server, reason) as letter_desk:
        if not yes:
            letter = letter_desk.get(partition, offset).read(LetterView)
            print_notice(f"the letter {partition} {offset}, from {letter.origin}: {letter.reason}")
            confirm(f"Drop the letter {partition} {offset}?")
        answer = letter_desk.drop(partition, offset, caller_name(by))
    if output is Format.JSON:
        show_json(answer.json())
        return
    show_name(partition, offset)
    handled = answer.read(LetterView).handled
    show_text(f"letter {partition} {offset}: {_handled(handled)}")


def _show_replayed(replayed: list[LetterView], output: Format) -> None:
    outcomes = Counter(each.handled.outcome for each in replayed if each.handled is not None)
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in replayed])
    else:
        for each in replayed:
            show_name(each.partition, each.offset)
            show_text(f"letter {each.partition} {each.offset}: {_handled(each.handled)}")
        if not replayed:
            print_notice("There is no dead letter that needs somebody.")
    if outcomes[_REJECTED]:
        raise typer.Exit(FAILED)


def _handled(handled: HandledView | None) -> str:
    if handled is None:
        return "nothing was done with it"
    detail = f": {handled.detail}" if handled.detail else ""
    why = f" ({handled.reason})" if handled.reason else ""
    return f"{handled.outcome}{detail}, by {handled.by} at {handled.at:%Y-%m-%d %H:%M:%S}{why}"
