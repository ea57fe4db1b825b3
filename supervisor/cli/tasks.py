"""`tidegate task ...`: the attempts that read and publish."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from supervisor.cli.answers import TaskRow
from supervisor.cli.client import TASKS
from supervisor.cli.form import Format
from supervisor.cli.options import Output, Server, connect
from supervisor.cli.output import ago, show_json, show_table

commands = typer.Typer(no_args_is_help=True, help="Attempts that read a range and publish it.")


class TaskFilter(StrEnum):
    """What `--state` takes; the words are Druid's."""

    RUNNING = "running"
    COMPLETE = "complete"


@commands.callback()
def _group() -> None:
    """Attempts that read a range and publish it."""


@commands.command("list")
def list_all(
    state: Annotated[TaskFilter | None, typer.Option("--state", help="Only these.")] = None,
    datasource: Annotated[str | None, typer.Option("--datasource", help="Of this table.")] = None,
    limit: Annotated[int, typer.Option("--max", min=1, max=10_000, help="At most so many.")] = 100,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List tasks, newest first."""
    params: dict[str, str | int | bool] = {"max": limit}
    if state is not None:
        params["state"] = state.value
    if datasource is not None:
        params["datasource"] = datasource
    with connect(server) as client:
        answer = client.get(TASKS, params)
    if output is Format.JSON:
        show_json(answer.json())
        return
    now = datetime.now(UTC)
    show_table(
        ("ID", "TABLE", "STATUS", "CREATED", "TOOK", "WORKER", "ERROR"),
        (_row(task, now) for task in answer.read(list[TaskRow])),
    )


def _row(task: TaskRow, now: datetime) -> tuple[object, ...]:
    where = task.location or {}
    worker = f"{where.get('host')}:{where.get('port')}" if where.get("host") else ""
    took = ""
    if task.duration is not None and task.duration >= 0:
        took = f"{timedelta(milliseconds=task.duration).total_seconds():.1f}s"
    return (
        task.id,
        task.data_source,
        task.status_code,
        ago(task.created_time, now),
        took,
        worker,
        task.error_msg,
    )
