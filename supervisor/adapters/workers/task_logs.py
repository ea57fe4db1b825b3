"""The HTTP client for task logs, over the control API of workers."""

from http import HTTPStatus
from urllib.parse import quote

from supervisor.adapters.workers.http import WorkerHttp, WorkerQuery
from supervisor.core.values.errors import WorkerUnavailable
from supervisor.ports.workers.task_logs import LogPart

PATIENCE_S = 0.5
"""Timeout of each wait: a frozen worker must not delay an answer by a second."""
SIZE_BYTES_MAX = 2 * 1024 * 1024
CONNECTIONS = 40
"""As many as the API has threads, so that no request waits for another one's answer."""
_START, _SIZE = "X-Tidegate-Log-Start", "X-Tidegate-Log-Size"
_NONE = {HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


class HttpTaskLogs:
    """Implements `ports.task_logs.LogSource`; one instance per process, safe from many threads."""

    def __init__(self) -> None:
        self._workers = WorkerHttp(connections=CONNECTIONS, bytes_max=SIZE_BYTES_MAX)

    def log(self, worker_url: str, task_id: str, token: str, offset: int) -> LogPart | None:
        """Return a piece of a task's log; see the port."""
        path = f"/druid/worker/v1/task/{quote(task_id, safe='')}/log"
        about = f"{task_id}: its log"
        params = {"offset": offset}
        got = self._workers.get(WorkerQuery(worker_url, path, token, about, PATIENCE_S, params))
        if got.status in _NONE:
            return None
        if got.status != HTTPStatus.OK:
            raise WorkerUnavailable(f"{task_id}: its worker answered {got.status}")
        try:
            return LogPart(got.body, int(got.headers[_START]), int(got.headers[_SIZE]))
        except (KeyError, ValueError) as error:
            raise WorkerUnavailable(f"{task_id}: its worker sent no log") from error
