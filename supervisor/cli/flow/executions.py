"""`tidegate execution`: start flows, look at what runs, and let it go on, or not."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer

from supervisor.cli.flow import executor
from supervisor.cli.flow.artifact import artifact
from supervisor.cli.flow.follow import watch
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
from supervisor.cli.flow.stored import FlowId
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Reason, Server, Wait, connect
from supervisor.cli.shell.output import (
    ago,
    print_notice,
    show_done,
    show_json,
    show_table,
)
from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.executions.entities import WaitsFor
from supervisor.core.executions.states import ExecutionState
from supervisor.views.flows.executions import ExecutionPage, ExecutionView, TaskRunView

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Executions: flows at work, and those that ended."
)

StepName = Annotated[
    str,
    typer.Argument(
        metavar="STEP", help="Name of the step, or id of its task run.", show_default=False
    ),
]

WithLabels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME:VALUE", help="With each of these.", show_default="any"),
]
StartedBy = Annotated[
    str | None,
    typer.Option("--started-by", metavar="TYPE", help="By such a trigger.", show_default="any"),
]
WithError = Annotated[
    str | None,
    typer.Option(
        "--error", metavar="TEXT", help="With this text in its error.", show_default="any"
    ),
]


@commands.command()
def run(
    flow: FlowId,
    inputs: Inputs = None,
    key: Key = None,
    *,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Start an execution of a flow.

    Example: tidegate execution run orders-day -i day=2026-11-25 --wait 600
    """
    body = json.dumps({"inputs": read_inputs(inputs or []), "key": key}).encode()
    with connect(server, reason) as client:
        path = f"{path_of('/api/v1/flows', flow)}/executions"
        started = client.post(path, body).read(ExecutionView)
        ended = started if wait is None else wait_for_end(client, started, wait)
    show_execution(ended, output)
    exit_for(ended, waited=wait is not None)


@commands.command("list")
def list_all(
    flow: Annotated[
        str | None, typer.Option("--flow", metavar="FLOW", help="Of this flow.", show_default="all")
    ] = None,
    state: Annotated[
        ExecutionState | None,
        typer.Option("--state", case_sensitive=False, help="In this state.", show_default="any"),
    ] = None,
    label: WithLabels = None,
    started_by: StartedBy = None,
    error: WithError = None,
    *,
    limit: Limit = 50,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List executions, newest first."""
    wanted: dict[str, str | list[str] | None] = {
        "limit": str(limit),
        "flow": flow,
        "state": None if state is None else state.value,
        "label": label or None,
        "startedBy": started_by,
        "error": error,
    }
    with connect(server) as client:
        params = {name: value for name, value in wanted.items() if value is not None}
        page = client.get(EXECUTIONS, params).read(ExecutionPage)
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in page.executions])
        return
    now = datetime.now(UTC)
    show_table(
        ("ID", "VERSION", "STATE", "SINCE", "ERROR"),
        (
            (each.id, each.flow_version, each.state, ago(each.created_at, now), each.error)
            for each in page.executions
        ),
    )
    if page.next is not None:
        print_notice("There are more: raise --limit.")


@commands.command()
def get(execution: ExecutionId, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show an execution: its steps, what it waits for, and since when."""
    with connect(server) as client:
        show_execution(get_execution(client, execution), output)


commands.command()(artifact)
commands.command()(watch)
commands.command()(logs)
commands.command()(rerun)
commands.command()(executor.partitions)
commands.command()(executor.project)
commands.add_typer(executor.commands, name="dead")


@commands.command()
def kill(
    execution: ExecutionId,
    force: Annotated[
        bool, typer.Option("--force", help="Do not wait for what runs; no finally step begins.")
    ] = False,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """End an execution; its finally steps run, unless it is forced."""
    with connect(server, reason) as client:
        path = f"{path_of(EXECUTIONS, execution)}/kill"
        killed = client.post(path, params={"force": str(force).lower()}).read(ExecutionView)
    show_done(execution, f"{execution}: {killed.state}")


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
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Answer what an execution asks."""
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
    show_done(execution, f"{execution}: {chosen.step} {'no' if no else 'yes'}, {answered.state}")


@commands.command()
def retry(
    execution: ExecutionId, step: StepName, reason: Reason = None, server: Server = None
) -> None:
    """Try a step again, now."""
    _of_step(execution, step, "retry", reason, server)


@commands.command()
def skip(
    execution: ExecutionId, step: StepName, reason: Reason = None, server: Server = None
) -> None:
    """Go on without a step that waits for a person."""
    _of_step(execution, step, "skip", reason, server)


def _verb(execution: str, verb: str, reason: str | None, server: str | None) -> None:
    with connect(server, reason) as client:
        done = client.post(f"{path_of(EXECUTIONS, execution)}/{verb}").read(ExecutionView)
    show_done(execution, f"{execution}: {done.state}")


def _of_step(execution: str, step: str, verb: str, reason: str | None, server: str | None) -> None:
    with connect(server, reason) as client:
        runs = get_execution(client, execution).runs
        chosen = _chosen(runs, step, f"{execution} has no step {step} that has begun")
        path = f"{path_of(EXECUTIONS, execution)}/runs/{chosen.id}/{verb}"
        done = client.post(path).read(ExecutionView)
    show_done(execution, f"{execution}: {verb} {chosen.step}, {done.state}")


def _chosen(runs: list[TaskRunView], step: str | None, none: str) -> TaskRunView:
    """Return the one task run that is meant, by its step or by its id."""
    fits = [each for each in runs if step is None or step in {each.step, each.id}]
    if not fits:
        raise CommandFailed(none, "see `tidegate execution get`")
    if len(fits) > 1:
        ids = ", ".join(each.id for each in fits)
        raise CommandFailed("several task runs are meant", f"name one by its id: {ids}")
    return fits[0]
