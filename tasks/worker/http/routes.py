"""Routes of the control API beside the chat: metrics, task logs, and the enabled state."""

from typing import Annotated, NoReturn

from fastapi import FastAPI, Header, Path, Query, Request, Response

from tasks.worker.http.control_api import HttpRefusal, Listing
from tasks.worker.http.metrics import scraped
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.roster import Roster

LOG_START, LOG_SIZE = "X-Tidegate-Log-Start", "X-Tidegate-Log-Size"
_OFFSET_MAX = 2**53


def add_worker_routes(app: FastAPI, roster: Roster, logs: TaskLogs, address: str) -> None:
    """Serve task logs, each behind its task's token, and whether this worker takes new tasks.

    `address` is `host:port`, Druid's name of a worker.
    """
    app.state.logs, app.state.roster, app.state.address = logs, roster, address
    app.add_api_route("/metrics", _metrics, response_model=None)
    base = "/druid/worker/v1"
    app.add_api_route(f"{base}/task/{{task_id}}/log", _log, response_model=None)
    app.add_api_route(f"{base}/enabled", _enabled)
    for verb in ("enable", "disable"):
        app.add_api_route(f"{base}/{verb}", _change, methods=["POST"], response_model=None)


def _metrics(
    request: Request, authorization: Annotated[str | None, Header(max_length=2_000)] = None
) -> Response:
    listing = request.app.state.listing
    assert isinstance(listing, Listing)
    listing.check(authorization, request.headers.get("host", ""))
    return scraped(request)


def _enabled(request: Request) -> dict[str, bool]:
    roster = request.app.state.roster
    assert isinstance(roster, Roster)
    return {str(request.app.state.address): not roster.disabled}


def _change(request: Request) -> NoReturn:
    verb, address = request.url.path.rpartition("/")[2], request.app.state.address
    raise HttpRefusal(
        400,
        "which workers take tasks is kept by the overlord, over restarts: ask it by "
        f"POST /druid/indexer/v1/worker/{address}/{verb}",
    )


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
        raise HttpRefusal(401, "give the task's token: Authorization: Bearer ...")
    # One answer for both cases, so that a caller without a token learns of no task.
    part = logs.read(task_id, offset) if logs.may_read(task_id, token) else None
    if part is None:
        _none()
    headers = {LOG_START: str(part.start), LOG_SIZE: str(part.size)}
    return Response(part.content, 200, headers, "text/plain; charset=utf-8")


def _none() -> NoReturn:
    raise HttpRefusal(404, "there is no log of such a task here, or this is not its token")
