"""Routes of the control API beside the chat: logs of tasks, and whether the worker takes tasks."""

from typing import Annotated, NoReturn

from fastapi import FastAPI, Header, Path, Query, Request, Response

from tasks.chat import Answer
from tasks.task_logs import TaskLogs

LOG_START, LOG_SIZE = "X-Tidegate-Log-Start", "X-Tidegate-Log-Size"
_OFFSET_MAX = 2**53


def add_log_routes(app: FastAPI, logs: TaskLogs) -> None:
    """Serve the logs of tasks, each behind its task's token, also after the task has ended."""
    app.state.logs = logs
    app.add_api_route("/druid/worker/v1/task/{task_id}/log", _log, response_model=None)


def _log(
    request: Request,
    task_id: Annotated[str, Path(max_length=300)],
    offset: Annotated[int, Query(ge=-_OFFSET_MAX, le=_OFFSET_MAX)] = 0,
    authorization: Annotated[str, Header(max_length=2_000)] = "",
) -> Response:
    logs = request.app.state.logs
    assert isinstance(logs, TaskLogs)
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Answer(401, "give the task's token: Authorization: Bearer ...")
    # One answer for both: whoever has no token learns of no task.
    part = logs.read(task_id, offset) if logs.may_read(task_id, token) else None
    if part is None:
        _none()
    headers = {LOG_START: str(part.start), LOG_SIZE: str(part.size)}
    return Response(part.content, 200, headers, "text/plain; charset=utf-8")


def _none() -> NoReturn:
    raise Answer(404, "there is no log of such a task here, or this is not its token")
