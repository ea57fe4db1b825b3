"""Executions as commands show them, and wait for them."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.output import (
    ago,
    short_duration,
    show_facts,
    show_json,
    show_name,
    show_table,
    show_text,
    size,
)
from supervisor.cli.shell.problems import FAILED, LATE
from supervisor.core.executions.states import ExecutionState
from supervisor.views.flows.executions import ExecutionView

__all__ = [
    "EXECUTIONS",
    "ExecutionId",
    "exit_for",
    "get_execution",
    "show_execution",
    "wait_for_end",
]

EXECUTIONS = "/api/v1/executions"
_LOOK_S = 0.5

ExecutionId = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the execution.", show_default=False)
]


def get_execution(client: Client, execution: str) -> ExecutionView:
    """Return an execution as it is now."""
    return client.get(path_of(EXECUTIONS, execution)).read(ExecutionView)


def wait_for_end(client: Client, execution: ExecutionView, within_s: float) -> ExecutionView:
    """Return an execution when it has ended, or as it is after so many seconds."""
    until = time.monotonic() + within_s
    while not execution.state.ended and time.monotonic() < until:
        time.sleep(min(_LOOK_S, max(0.0, until - time.monotonic())))
        execution = get_execution(client, execution.id)
    return execution


def exit_for(execution: ExecutionView, *, waited: bool) -> None:
    """End the command by how an execution that was waited for has ended, or has not."""
    if not waited:
        return
    if not execution.state.ended:
        raise typer.Exit(LATE)
    if execution.state is not ExecutionState.SUCCESS:
        raise typer.Exit(FAILED)


def show_execution(execution: ExecutionView, output: Format) -> None:
    """Print an execution."""
    if output is Format.JSON:
        show_json(execution.model_dump(mode="json", by_alias=True))
        return
    if form() is Format.NAME:
        show_name(execution.id)
        return
    now = datetime.now(UTC)
    show_facts(
        (
            ("execution", execution.id),
            ("flow", f"{execution.flow}, version {execution.flow_version}"),
            ("state", f"{execution.state}, begun {ago(execution.created_at, now)}"),
            ("error", execution.error),
            ("longer than expected", _since(execution.warned_at, now)),
            ("outputs", json.dumps(execution.outputs) if execution.outputs else None),
        )
    )
    show_table(("STEP", "STATE", "TRIES", "SINCE", "RUN"), _rows(execution, now))
    for run in execution.runs:
        for large in run.artifacts:
            show_text(f"{run.step}: artifact {large.id}, {size(large.bytes)}")
    for wait in execution.waits_for:
        whose = f"{wait.step}: " if wait.step else ""
        show_text(f"{whose}waits for {wait.what} (for {_length(wait.since, now)})")


def _since(at: datetime | None, now: datetime) -> str | None:
    return None if at is None else f"since {ago(at, now)}"


def _length(since: datetime, now: datetime) -> str:
    """Return the time since a moment; the clock of the server may be ahead."""
    return short_duration(max(now - since, timedelta(0)))


def _rows(execution: ExecutionView, now: datetime) -> Iterator[tuple[object, ...]]:
    for each in execution.runs:
        item = "" if each.item is None else f" [{each.item}]"
        since = each.ended_at or each.created_at
        yield f"{each.step}{item}", each.state, len(each.attempts), ago(since, now), each.id
