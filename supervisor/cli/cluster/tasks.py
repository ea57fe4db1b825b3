"""`tidegate task ...`: list, show and stop tasks."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated

import typer

from supervisor.cli.cluster.audit import Cursor
from supervisor.cli.shell.client import TASK, TASKS, Params, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Limit, Output, Server, TaskId, connect
from supervisor.cli.shell.output import ago, print_notice, show_facts, show_json, show_name
from supervisor.cli.shell.resource import Resource, Verb, add_verb
from supervisor.cli.table.segment_life import DRUID_TABLES, Table
from supervisor.core.model.rows import TaskStatus
from supervisor.views.tasks import TaskRow, TasksPage, TaskStatusView

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Attempts that read a range and publish it."
)
_NO_REPORTS = (HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE)
Part = Annotated[
    str | None,
    typer.Argument(
        metavar="[TEXT]",
        help="A part of the id, the worker's id or the reason.",
        show_default="any",
    ),
]
OfSupervisor = Annotated[
    str | None,
    typer.Option("--supervisor", metavar="ID", help="Of this one.", show_default="all"),
]
OfGeneration = Annotated[
    str | None,
    typer.Option("--generation", metavar="ID", help="Of this range.", show_default="all"),
]
OfGroup = Annotated[
    int | None,
    typer.Option("--group", metavar="N", min=0, help="Of this group.", show_default="all"),
]
OnWorker = Annotated[
    str | None,
    typer.Option("--worker", metavar="ID", help="On this worker.", show_default="all"),
]
OfStatus = Annotated[
    TaskStatus | None,
    typer.Option("--status", help="Only those of this status.", show_default="all"),
]
OwnFailures = Annotated[
    bool, typer.Option("--own-failures", help="Only those that failed by themselves.")
]


class ShownTasks(StrEnum):
    """The value of `--state`, in Druid's words."""

    RUNNING = "running"
    COMPLETE = "complete"


@commands.callback()
def _group() -> None:
    """Attempts that read a range and publish it."""


@commands.command("list")
def list_all(
    state: Annotated[
        ShownTasks | None,
        typer.Option("--state", help="Only those that run, or have ended.", show_default="both"),
    ] = None,
    data_source: Annotated[
        str | None,
        typer.Option(
            "--data-source", metavar="TABLE", help="Only of this table.", show_default="all tables"
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", metavar="N", min=1, max=10_000, help="At most so many."),
    ] = 100,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List tasks, newest first; `tidegate task find` has more filters, and pages.

    Example: tidegate task list --data-source clicks --state running
    """
    params: dict[str, str | int | bool] = {"max": limit}
    if state is not None:
        params["state"] = state.value
    if data_source is not None:
        params["datasource"] = data_source
    with connect(server) as client:
        answer = client.get(_TASKS.path, params)
    _TASKS.show(answer, output)


@commands.command()
def find(
    text: Part = None,
    *,
    supervisor: OfSupervisor = None,
    generation: OfGeneration = None,
    group: OfGroup = None,
    worker: OnWorker = None,
    status: OfStatus = None,
    own_failures: OwnFailures = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Find tasks by what they are of and how they stand, newest first, page by page.

    Example: tidegate task find --supervisor clicks --own-failures
    """
    filters: Mapping[str, str | int | bool | None] = {
        "q": text,
        "supervisor": supervisor,
        "generation": generation,
        "group": group,
        "worker": worker,
        "status": None if status is None else status.value,
        "ownFailure": own_failures or None,
        "cursor": cursor,
    }
    params: Params = {"limit": limit} | {k: v for k, v in filters.items() if v is not None}
    with connect(server) as client:
        answer = client.get(_FOUND.path, params)
    _FOUND.show(answer, output)
    if output is not Format.JSON and (following := answer.read(TasksPage).next) is not None:
        print_notice(f"There is more: --cursor {following}")


@commands.command()
def get(task_id: TaskId, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show one task: its worker, its state and its counters."""
    with connect(server) as client:
        answer = client.get(path_of(TASK, task_id, "status"))
        reports = client.get(path_of(TASK, task_id, "reports"), also=_NO_REPORTS)
    report = reports.json() if reports.status == HTTPStatus.OK else None
    if output is Format.JSON:
        show_json({"status": answer.json(), "reports": report})
        return
    task, now = answer.read(TaskStatusView).status, datetime.now(UTC)
    _, table, status, created, took, place, _ = _row(task, now)
    show_name(task.id)
    show_facts(
        [
            ("task", task.id),
            ("status", status),
            ("reason", task.reason or task.error_msg or ""),
            ("table", table),
            ("supervisor", task.supervisor_id),
            ("generation", task.generation_id),
            ("replica", task.replica),
            ("attempt", task.attempt),
            ("worker", f"{task.worker_id} {place}".strip()),
            ("created", created),
            ("took", took),
            *_counted(report),
        ]
    )


def _counted(reports: object) -> list[tuple[str, object]]:
    """Return (name, number) of each counter in a live or a final report."""
    stats = reports
    for name in ("ingestionStatsAndErrors", "payload", "rowStats"):
        stats = stats.get(name) if isinstance(stats, dict) else None
    if isinstance(stats, dict):
        stats = stats.get("totals", stats)
    if not isinstance(stats, dict):
        return []
    counted, reasons = (stats.get(name) or {} for name in ("buildSegments", "rejected"))
    return [*counted.items(), *((f"rejected: {reason}", n) for reason, n in reasons.items())]


add_verb(
    commands,
    Verb("stop", TASK, "shutdown", TaskId, "has ended"),
    "End a task: what it has not published is read again by the task that replaces it.",
)
add_verb(
    commands,
    Verb("stop-all", DRUID_TABLES, "shutdownAllTasks", Table, "has no task of before any more"),
    "End all tasks of a table: what they have not published is read again by those that follow.",
)


def _row(task: TaskRow, now: datetime) -> tuple[object, ...]:
    where = task.location
    worker = f"{where.host}:{where.port}" if where.host else ""
    took = ""
    if task.duration >= 0:
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


_TASKS = Resource(
    path=TASKS,
    rows=list[TaskRow],
    columns=("ID", "TABLE", "STATUS", "CREATED", "TOOK", "WORKER", "ERROR"),
    cells=_row,
)
_FOUND = replace(_TASKS, path="/api/v1/tasks", part="tasks")
