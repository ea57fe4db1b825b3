"""`tidegate flow triggers, trigger`: what starts a flow, when it does, and why it did not."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from supervisor.cli.flow.firing import FLOWS, last_of, next_of, rule_of
from supervisor.cli.flow.stored import FlowId
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, connect
from supervisor.cli.shell.output import (
    print_notice,
    show_done,
    show_json,
    show_table,
    show_text,
)
from supervisor.cli.shell.problems import CommandFailed
from supervisor.views.flows.triggers import FiredView, TriggersView, TriggerView

__all__ = ["add_triggers"]

TriggerName = Annotated[
    str, typer.Argument(metavar="TRIGGER", help="Name of the trigger.", show_default=False)
]


def triggers(flow: FlowId, server: Server = None, output: Output = Format.TABLE) -> None:
    """List the triggers of a flow: when each fired and fires next, and why it did not.

    Example: tidegate flow triggers orders-day
    """
    with connect(server) as client:
        page = client.get(path_of(FLOWS, flow, "triggers")).read(TriggersView)
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in page.triggers])
        return
    now = datetime.now(UTC)
    show_table(
        ("TRIGGER", "FIRES", "LAST", "NEXT", "FIRED", "PASSED", "LAST EXECUTION"),
        (
            (
                each.name,
                rule_of(each),
                last_of([each], now),
                next_of([each]),
                each.fired,
                each.passed,
                each.last_execution or "",
            )
            for each in page.triggers
        ),
    )
    for each in page.triggers:
        if each.problem:
            show_text(f"{each.name}: {each.problem}")
    if not page.triggers:
        print_notice(f"{flow} has no triggers: name some in its document")


def trigger(
    flow: FlowId,
    name: TriggerName,
    *,
    pause: Annotated[bool, typer.Option("--pause", help="Let it fire no more.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Let it fire again.")] = False,
    now: Annotated[bool, typer.Option("--now", help="Start an execution now.")] = False,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Pause a trigger, resume it, or start an execution now, as it would.

    Example: tidegate flow trigger orders-day nightly --pause
    """
    verbs = [verb for verb, on in (("pause", pause), ("resume", resume), ("fire", now)) if on]
    if len(verbs) != 1:
        raise CommandFailed("say what to do with it", "give one of --pause, --resume, --now")
    with connect(server, reason) as client:
        answer = client.post(path_of(FLOWS, flow, "triggers", name, verbs[0]))
    if now:
        execution = answer.read(FiredView).execution
        show_done(execution, f"{execution}: started")
        return
    done = "paused" if answer.read(TriggerView).paused else "resumed"
    show_done(flow, f"{flow} {name}: {done}")


def add_triggers(commands: typer.Typer) -> None:
    """Add these commands to `tidegate flow`."""
    for command in (triggers, trigger):
        commands.command()(command)
