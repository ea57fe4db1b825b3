"""`tidegate execution restore-topics`: the state on Kafka is written anew from the tables."""

from typing import Annotated

import typer

from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun
from supervisor.cli.shell.options import Yes
from supervisor.cli.shell.output import print_notice, show_done, show_text
from supervisor.cli.shell.problems import CommandFailed
from supervisor.executions.restoring import Restorable
from supervisor.settings.settings import load_settings

__all__ = ["restore_topics"]


def restore_topics(
    *,
    execution: Annotated[
        str | None,
        typer.Option(
            "--execution",
            metavar="ID",
            help="This one alone: the topics cannot read it.  Executors may run.",
            show_default="all, and no executor runs",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Also over a state that can be used: executions fall back to the tables.",
        ),
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Write the state of executions on Kafka anew, from the tables, when its topics are lost.

    It asks no overlord: run it where an executor runs, with the same settings.  Stop every executor
    first.  Topics that are missing are made.

    Example: tidegate execution restore-topics --dry-run
    """
    settings = load_settings()
    from supervisor.app.executions.restoring import topics_here

    with topics_here(settings) as topics:
        if execution is not None:
            if dry_run:
                raise typer.BadParameter("--dry-run is about all executions: leave --execution out")
            if not yes:
                confirm(f"Write the state of {execution} on Kafka anew, from the tables?")
            topics.repair(execution, force=force)
            show_done(execution, f"{execution}: its owner goes on with what the tables have")
            return
        restorable = topics.look()
        _show(restorable)
        if dry_run:
            show_text("nothing is changed: a dry run")
            return
        if restorable.in_use and not force:
            numbers = ", ".join(map(str, restorable.in_use))
            raise CommandFailed(
                f"the state of these partitions has records: {numbers}",
                hint="start the executors, they go on with it.  --force lets each execution fall "
                "back to what the tables have of it: its steps since then are made again",
            )
        if not yes:
            confirm("Write the state of executions on Kafka anew?")
        topics.write(force=force)
        show_text("the topics have what the tables have: start the executors")


def _show(restorable: Restorable) -> None:
    show_text(f"executions: {restorable.executions:,}, of them {restorable.live:,} have not ended")
    show_text(f"gates: {restorable.gates:,}")
    show_text(f"starts that are sent again: {restorable.begin:,}")
    for lack in restorable.lacks:
        print_notice(f"cannot be restored: {lack}")
