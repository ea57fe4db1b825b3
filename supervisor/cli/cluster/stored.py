"""`tidegate logs`, `task reports`, `supervisor reports`: search what persisters have stored."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, SupervisorId, TaskId, connect
from supervisor.cli.shell.output import print_notice, show_json, show_text
from supervisor.cli.shell.pages import rows_up_to
from supervisor.cli.shell.resource import Resource
from supervisor.cli.supervisor.windows import From, To
from supervisor.views.reports import LogLinesPage, LogLineView, ReportsPage, ReportView

_REPORTS, _LINES = "/api/v1/reports", "/api/v1/logs"
_REPORTS_MAX = 1_000
_OfSupervisor = Annotated[
    str | None,
    typer.Option("--supervisor", metavar="ID", help="Of this one.", show_default="all"),
]
_OfWorker = Annotated[
    str | None,
    typer.Option("--worker", metavar="ID", help="Of this worker.", show_default="all"),
]


class ShownLevel(StrEnum):
    """The value of `--level`."""

    WARNING = "WARNING"
    ERROR = "ERROR"
    CRITICAL = "CRITICAL"


class ReportedOrigin(StrEnum):
    """The value of `--origin`."""

    SUPERVISOR = "supervisor"
    STREAM = "stream"
    COMPACTION = "compaction"


def search_logs(
    *,
    supervisor: _OfSupervisor = None,
    data_source: Annotated[
        str | None,
        typer.Option("--data-source", metavar="TABLE", help="Of this table.", show_default="all"),
    ] = None,
    worker: _OfWorker = None,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="ID", help="Of this task.", show_default="all"),
    ] = None,
    level: Annotated[
        ShownLevel | None,
        typer.Option(
            "--level",
            case_sensitive=False,
            help="This level and graver ones.",
            show_default="WARNING",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="The line holds it.", show_default="any"),
    ] = None,
    begin: From = None,
    end: To = None,
    limit: Limit = 50,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List warnings and errors of the stored logs of all tasks, newest first.

    Example: tidegate logs --supervisor clicks --level error
    """
    filters = {
        "supervisor": supervisor,
        "dataSource": data_source,
        "worker": worker,
        "task": task,
        "level": None if level is None else level.value,
        "text": text,
        "from": begin,
        "to": end,
    }
    with connect(server) as client:
        answer = rows_up_to(client, _LINES, "lines", limit, filters)
    _FOUND_LINES.show(answer, output)
    if output is not Format.JSON and answer.read(LogLinesPage).next is not None:
        print_notice("There is more: raise --limit, or narrow the time by --to.")


def task_reports(
    task_id: TaskId,
    body: Annotated[bool, typer.Option("--body", help="Print the whole of each, as JSON.")] = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the stored reports of a task by its attempts: what its worker has sent, newest first.

    Example: tidegate task reports index_kafka_clicks_0a1b2c3d4e5f_abcdefgh
    """
    with connect(server) as client:
        answer = rows_up_to(client, _REPORTS, "reports", _REPORTS_MAX, {"task": task_id})
        page = answer.read(ReportsPage)
        if body:
            show_json(list(_bodies(client, page)))
            return
    if output is Format.JSON:
        show_json(answer.json())
        return
    _STORED.show_rows(sorted(page.reports, key=lambda each: (each.attempt, each.at), reverse=True))
    if page.next is not None:
        show_text(f"The newest {_REPORTS_MAX} alone are listed.")


def supervisor_reports(
    supervisor: SupervisorId,
    origin: Annotated[
        ReportedOrigin,
        typer.Option(
            "--origin",
            case_sensitive=False,
            help="Its changes of state, or what became of its tasks or compactions.",
        ),
    ] = ReportedOrigin.SUPERVISOR,
    limit: Limit = 50,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the stored reports of a supervisor: how its state has changed, newest first.

    Example: tidegate supervisor reports clicks --origin compaction
    """
    filters = {"supervisor": supervisor, "origin": origin.value}
    with connect(server) as client:
        answer = rows_up_to(client, _REPORTS, "reports", limit, filters)
    _OF_SUPERVISOR.show(answer, output)
    if output is not Format.JSON and answer.read(ReportsPage).next is not None:
        print_notice("There is more: raise --limit.")


def _bodies(client: Client, page: ReportsPage) -> Iterator[JsonValue]:
    for each in page.reports:
        yield client.get(path_of(_REPORTS, each.id)).read(dict[str, JsonValue])


def _line_row(row: LogLineView, _: datetime) -> tuple[object, ...]:
    # The line begins with its own time and level, which are columns already.
    text = row.text.split(maxsplit=2)[-1]
    at = row.at.isoformat(timespec="seconds")
    return at, row.level, row.supervisor or "", row.task, text, row.worker or "", row.offset


def _report_row(row: ReportView, _: datetime) -> tuple[object, ...]:
    at = row.at.isoformat(timespec="seconds")
    size = "" if row.size_bytes is None else row.size_bytes
    return row.id, row.attempt, row.type, row.status or "", at, size, row.error, row.worker or ""


def _reported_row(row: ReportView, _: datetime) -> tuple[object, ...]:
    at = row.at.isoformat(timespec="seconds")
    return at, row.task, row.status or "", row.error, row.type, row.id


_FOUND_LINES = Resource(
    path=_LINES,
    part="lines",
    rows=list[LogLineView],
    columns=("WHEN", "LEVEL", "SUPERVISOR", "TASK", "LINE"),
    cells=_line_row,
    wide=("WORKER", "OFFSET"),
    nothing="No stored log has such a line. Lines of tasks that run are stored within seconds.",
)
_STORED = Resource(
    path=_REPORTS,
    part="reports",
    rows=list[ReportView],
    columns=("ID", "ATTEMPT", "TYPE", "STATUS", "WHEN", "BYTES", "ERROR"),
    cells=_report_row,
    wide=("WORKER",),
    nothing="Nothing of this task is stored.",
)
_OF_SUPERVISOR = Resource(
    path=_REPORTS,
    part="reports",
    rows=list[ReportView],
    columns=("WHEN", "ABOUT", "STATUS", "ERROR"),
    cells=_reported_row,
    wide=("TYPE", "ID"),
    nothing="Nothing of this supervisor is stored. Its leader sends reports within seconds.",
)
