"""`tidegate execution`: start flows, look at what runs, and let it go on, or not."""

import json
from typing import Annotated

import typer

from supervisor.cli.flow import executor
from supervisor.cli.flow.artifact import artifact
from supervisor.cli.flow.follow import watch
from supervisor.cli.flow.listing import list_all
from supervisor.cli.flow.logs import logs
from supervisor.cli.flow.look import (
    EXECUTIONS,
    ExecutionId,
    exit_for,
    get_execution,
    show_execution,
    wait_for_end,
)
from supervisor.cli.flow.outcomes import Inputs, read_inputs
from supervisor.cli.flow.reruns import Key, rerun
from supervisor.cli.flow.restoring import restore_topics
from supervisor.cli.flow.stored import FlowId
from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Reason, Server, Wait, connect
from supervisor.cli.shell.output import show_done
from supervisor.cli.shell.problems import LATE, CommandFailed
from supervisor.core.executions.entities import WaitsFor
from supervisor.views.flows.executions import ExecutionView, TaskRunView

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Executions: flows at work, and those that ended."
)

StepName = Annotated[
    str,
    typer.Argument(
        metavar="STEP", help="Name of the step, or id of its task run.", show_default=False
    ),
]

NewLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="NAME=VALUE",
        help="Gets this label; may be repeated.",
        show_default="none",
    ),
]


@commands.command()
def run(
    flow: FlowId,
    inputs: Inputs = None,
    key: Key = None,
    *,
    label: NewLabels = None,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Start an execution of a flow.

    Example: tidegate execution run orders-day -i day=2026-11-25 --wait 600
    """
    wanted = {"inputs": read_inputs(inputs or []), "key": key, "labels": _labels(label or [])}
    body = json.dumps(wanted).encode()
    with connect(server, reason) as client:
        path = f"{path_of('/api/v1/flows', flow)}/executions"
        started = client.post(path, body).read(ExecutionView)
        ended = started if wait is None else wait_for_end(client, started, wait)
    show_execution(ended, output)
    exit_for(ended, waited=wait is not None)


def _labels(given: list[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{each!r} is no label such as team=data")
        if labels.setdefault(name, value) != value:
            raise typer.BadParameter(f"{name} is given twice, with other values")
    return labels


@commands.command()
def get(execution: ExecutionId, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show an execution: its steps, what it waits for, and since when."""
    with connect(server) as client:
        show_execution(get_execution(client, execution), output)


commands.command("list")(list_all)
commands.command()(artifact)
commands.command()(watch)
commands.command()(logs)
commands.command()(rerun)
commands.command()(executor.partitions)
commands.command()(executor.project)
commands.command()(restore_topics)
commands.add_typer(executor.commands, name="dead")


@commands.command()
def kill(
    execution: ExecutionId,
    force: Annotated[
        bool, typer.Option("--force", help="Do not wait for what runs; no finally step begins.")
    ] = False,
    *,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """End an execution; its finally steps run, unless it is forced.

    Example: tidegate execution kill orders-day:monday --wait 60
    """
    with connect(server, reason) as client:
        path = f"{path_of(EXECUTIONS, execution)}/kill"
        killed = client.post(path, params={"force": str(force).lower()}).read(ExecutionView)
        if wait is not None:
            killed = wait_for_end(client, killed, wait)
    show_done(execution, f"{execution}: {killed.state}")
    if wait is not None and not killed.state.ended:
        raise typer.Exit(LATE)


@commands.command()
def pause(execution: ExecutionId, reason: Reason = None, server: Server = None) -> None:
    """Let no further step begin; what runs ends."""
    _verb(execution, "pause", reason, server)


@commands.command()
def resume(execution: ExecutionId, reason: Reason = None, server: Server = None) -> None:
    """Let a paused execution go on."""
    _verb(execution, "resume", reason, server)


@commands.command()
def approve(
    execution: ExecutionId,
    step: Annotated[
        str | None,
        typer.Argument(metavar="STEP", help="The step that asks.", show_default="the only one"),
    ] = None,
    *,
    no: Annotated[bool, typer.Option("--no", help="Say no: the step fails.")] = False,
    comment: Annotated[
        str,
        typer.Option(
            "--comment", metavar="TEXT", show_default="none", help="Kept with the answer."
        ),
    ] = "",
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Answer what an execution asks; --wait waits for the execution's end, as `run` does."""
    with connect(server, reason) as client:
        asking = [
            each
            for each in get_execution(client, execution).runs
            if each.waits_for is not None and each.waits_for.kind is WaitsFor.ANSWER
        ]
        chosen = _chosen(asking, step, f"{execution} asks nothing")
        path = f"{path_of(EXECUTIONS, execution)}/runs/{chosen.id}/answer"
        body = json.dumps({"yes": not no, "comment": comment}).encode()
        answered = client.post(path, body).read(ExecutionView)
        if wait is not None:
            answered = wait_for_end(client, answered, wait)
    show_done(execution, f"{execution}: {chosen.step} {'no' if no else 'yes'}, {answered.state}")
    exit_for(answered, waited=wait is not None)


@commands.command()
def retry(
    execution: ExecutionId,
    step: StepName,
    *,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Try a step again, now; --wait waits for the execution's end, as `run` does."""
    with connect(server, reason) as client:
        _of_step(client, execution, step, "retry", wait)


@commands.command()
def skip(
    execution: ExecutionId,
    step: StepName,
    *,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Go on without a step that waits for a person; --wait waits for the execution's end."""
    with connect(server, reason) as client:
        _of_step(client, execution, step, "skip", wait)


def _verb(execution: str, verb: str, reason: str | None, server: str | None) -> None:
    with connect(server, reason) as client:
        done = client.post(f"{path_of(EXECUTIONS, execution)}/{verb}").read(ExecutionView)
    show_done(execution, f"{execution}: {done.state}")


def _of_step(client: Client, execution: str, step: str, verb: str, wait: float | None) -> None:
    runs = get_execution(client, execution).runs
    chosen = _chosen(runs, step, f"{execution} has no step {step} that has begun")
    path = f"{path_of(EXECUTIONS, execution)}/runs/{chosen.id}/{verb}"
    done = client.post(path).read(ExecutionView)
    if wait is not None:
        done = wait_for_end(client, done, wait)
    show_done(execution, f"{execution}: {verb} {chosen.step}, {done.state}")
    exit_for(done, waited=wait is not None)


def _chosen(runs: list[TaskRunView], step: str | None, none: str) -> TaskRunView:
    """Return the one task run that is meant, by its step or by its id."""
    fits = [each for each in runs if step is None or step in {each.step, each.id}]
    if not fits:
        raise CommandFailed(none, "see `tidegate execution get`")
    if len(fits) > 1:
        ids = ", ".join(each.id for each in fits)
        raise CommandFailed("several task runs are meant", f"name one by its id: {ids}")
    return fits[0]
