"""`tidegate execution logs`: print the log of an execution, or of one of its steps."""

from typing import Annotated

import typer

from supervisor.cli.cluster.task_logs import Tail, print_log
from supervisor.cli.flow.look import EXECUTIONS, ExecutionId
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.options import Server, connect

__all__ = ["logs"]


def logs(
    execution: ExecutionId,
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            metavar="STEP",
            help="The lines of this step alone, by its name or by the id of a task run.",
            show_default="all",
        ),
    ] = None,
    tail: Tail = None,
    server: Server = None,
) -> None:
    """Print the log of an execution: its steps, their attempts, and how each ended.

    Of an execution that was deleted it is what a persister has stored.

    Example: tidegate execution logs nightly:2026-11-25 --step verify
    """
    with connect(server) as client:
        params = {} if step is None else {"step": step}
        print_log(client, path_of(EXECUTIONS, execution, "log"), tail, params)
