"""`tidegate execution rerun`: an ended execution begins anew, from a step."""

import json
from typing import Annotated

import typer

from supervisor.cli.flow.look import (
    EXECUTIONS,
    ExecutionId,
    exit_for,
    show_execution,
    wait_for_end,
)
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.options import Output, Reason, Server, Wait, connect
from supervisor.cli.shell.output import show_json, show_name, show_text
from supervisor.views.flows.executions import ExecutionView
from supervisor.views.flows.reruns import RerunPlanView

__all__ = ["Key", "rerun"]

Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", help="A repeat with it starts nothing.", show_default="none"
    ),
]


def rerun(
    execution: ExecutionId,
    first: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="STEP",
            help="Begin with this step, and keep what does not come after it.",
            show_default="what was not done",
        ),
    ] = None,
    *,
    latest: Annotated[
        bool, typer.Option("--latest", help="By the newest version of the flow.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Keep outputs of steps that are others now.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what is kept and what runs.")
    ] = False,
    key: Key = None,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Start an ended execution anew; it keeps outputs of steps that need not run.

    Example: tidegate execution rerun orders-day:monday --from pack --dry-run
    """
    path = f"{path_of(EXECUTIONS, execution)}/rerun"
    with connect(server, reason) as client:
        if dry_run:
            params = {"latest": str(latest).lower()} | ({} if first is None else {"from": first})
            _show_plan(execution, client.get(path, params).read(RerunPlanView), output)
            return
        wanted = {"from": first, "latest": latest, "force": force, "key": key}
        begun = client.post(path, json.dumps(wanted).encode()).read(ExecutionView)
        ended = begun if wait is None else wait_for_end(client, begun, wait)
    show_execution(ended, output)
    exit_for(ended, waited=wait is not None)


def _show_plan(execution: str, plan: RerunPlanView, output: Format) -> None:
    if output is Format.JSON:
        show_json(plan.model_dump(mode="json", by_alias=True))
        return
    if form() is Format.NAME:
        show_name(execution)
        return
    version = f"version {plan.flow_version}"
    show_text(f"keeps {_names(plan.keeps)} with their outputs; runs {_names(plan.runs)}")
    if plan.goes_on:
        show_text(f"goes on in {_names(plan.goes_on)}, and keeps what is done inside")
    if plan.changed:
        show_text(f"{version} has changed {_names(plan.changed)}: needs --force")


def _names(names: list[str]) -> str:
    return ", ".join(names) or "nothing"
