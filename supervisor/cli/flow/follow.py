"""`tidegate execution watch`: what happens to an execution, until it ends."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.flow.look import EXECUTIONS, ExecutionId, exit_for, get_execution
from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import show_text
from supervisor.cli.shell.problems import Unreachable
from supervisor.views.flows.executions import ExecutionEventsPage, ExecutionEventView

__all__ = ["watch"]

_LOOK_S = 0.5
_AWAY_S = 60.0
"""How long an overlord may be away before the command gives up."""


def watch(
    execution: ExecutionId,
    within: Annotated[
        float | None,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            min=0.0,
            show_default="until it ends",
            help="Watch at most so long; exits with 4 if it has not ended then.",
        ),
    ] = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Print what happens to an execution, from its first event on, until it ends.

    Exits with 0 if it ends well, and with 1 if it fails or is killed.
    """
    with connect(server) as client:
        for event in _events(client, execution, within):
            if output is Format.JSON:
                show_text(json.dumps(event.model_dump(mode="json", by_alias=True)))
            else:
                show_text(_line(event))
        exit_for(get_execution(client, execution), waited=True)


def _events(client: Client, execution: str, within_s: float | None) -> Iterator[ExecutionEventView]:
    """Yield events in order; ends with the execution, or when the time is over."""
    began = time.monotonic()
    path, after, answered = f"{path_of(EXECUTIONS, execution)}/events", 0, None
    while True:
        try:
            page = client.get(path, {"after": after}).read(ExecutionEventsPage)
        except Unreachable:
            # Before the first answer it is told at once; later another overlord may lead soon.
            if answered is None or time.monotonic() - answered > _AWAY_S:
                raise
            page = ExecutionEventsPage(events=[], next=None)
        else:
            answered = time.monotonic()
        yield from page.events
        if page.events:
            after = page.events[-1].number
            if page.events[-1].name == "execution-ended":
                return
        if page.next is not None:
            continue
        left_s = _LOOK_S if within_s is None else began + within_s - time.monotonic()
        if left_s <= 0:
            return
        time.sleep(min(_LOOK_S, left_s))


def _line(event: ExecutionEventView) -> str:
    about: Mapping[str, JsonValue] = event.about
    step = about.get("step")
    rest = [f"{name}={_shown(value)}" for name, value in about.items() if name != "step" and value]
    parts = (f"{event.at:%H:%M:%S}", event.name, None if step is None else str(step), *rest)
    return "  ".join(part for part in parts if part)


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
