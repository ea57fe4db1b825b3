"""`tidegate execution list`: executions by flow, state, time, label, and what started them."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from supervisor.cli.flow.look import EXECUTIONS
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import ago, print_notice, show_json, show_table
from supervisor.cli.shell.pages import WindowParams, rows_up_to
from supervisor.cli.supervisor.windows import From, To
from supervisor.core.executions.states import ExecutionState
from supervisor.views.flows.executions import ExecutionPage

__all__ = ["list_all"]

_EVERY = 1_000_000
"""More than are kept of all flows together."""

OfFlow = Annotated[
    str | None, typer.Option("--flow", metavar="FLOW", help="Of this flow.", show_default="all")
]
InStates = Annotated[
    list[ExecutionState] | None,
    typer.Option(
        "--state",
        case_sensitive=False,
        help="In this state; may be repeated: in one of them.",
        show_default="any",
    ),
]
WithLabels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME:VALUE", help="With each of these.", show_default="any"),
]
StartedBy = Annotated[
    str | None,
    typer.Option(
        "--started-by", metavar="TYPE", help="By a trigger of this type.", show_default="any"
    ),
]
ByTrigger = Annotated[
    str | None,
    typer.Option(
        "--trigger", metavar="NAME", help="By the trigger of this name.", show_default="any"
    ),
]
OfParent = Annotated[
    str | None,
    typer.Option(
        "--parent", metavar="ID", help="By a subflow step of this execution.", show_default="any"
    ),
]
WithError = Annotated[
    str | None,
    typer.Option(
        "--error", metavar="TEXT", help="With this text in its error.", show_default="any"
    ),
]
Rows = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=1, max=_EVERY, help="At most so many.")
]
Every = Annotated[bool, typer.Option("--all", help="All of them, whatever --limit says.")]


def list_all(
    flow: OfFlow = None,
    state: InStates = None,
    label: WithLabels = None,
    *,
    started_by: StartedBy = None,
    trigger: ByTrigger = None,
    parent: OfParent = None,
    error: WithError = None,
    begin: From = None,
    end: To = None,
    limit: Rows = 50,
    every: Every = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List executions, newest first; times are those at which they began.

    Example: tidegate execution list --state FAILED --state KILLED --all
    """
    wanted: WindowParams = {
        "flow": flow,
        "state": [each.value for each in state or ()],
        "label": label or [],
        "startedBy": started_by,
        "trigger": trigger,
        "parent": parent,
        "error": error,
        "from": begin,
        "to": end,
    }
    with connect(server) as client:
        answer = rows_up_to(client, EXECUTIONS, "executions", _EVERY if every else limit, wanted)
    page = answer.read(ExecutionPage)
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in page.executions])
    else:
        now = datetime.now(UTC)
        show_table(
            ("ID", "VERSION", "STATE", "SINCE", "ERROR"),
            (
                (each.id, each.flow_version, each.state, ago(each.created_at, now), each.error)
                for each in page.executions
            ),
        )
    if page.next is not None:
        print_notice("There are more: raise --limit, or give --all.")
