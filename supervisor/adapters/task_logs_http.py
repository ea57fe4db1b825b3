"""Asks workers for the logs of tasks, over their control API.

As with journals: time and size are bounded, no proxy or redirect leads the token elsewhere.
"""

import time
from http import HTTPStatus
from urllib.parse import quote

import httpx

from supervisor.core.errors import WorkerUnavailable
from supervisor.ports_logs import LogPart

TIMEOUT = httpx.Timeout(2.0, connect=0.5)
WHOLE_S = 5.0
"""For a worker that sends a little, again and again."""
SIZE_BYTES_MAX = 2 * 1024 * 1024
_START, _SIZE = "X-Tidegate-Log-Start", "X-Tidegate-Log-Size"
_NONE = {HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


class HttpTaskLogs:
    """Implements `ports_logs.LogSource`; one instance per process, safe from many threads."""

    def __init__(self) -> None:
        """Connect to nobody yet."""
        self._client = httpx.Client(
            timeout=TIMEOUT,
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=4),
            follow_redirects=False,
            trust_env=False,
        )

    def log(self, worker_url: str, task_id: str, token: str, offset: int) -> LogPart | None:
        """Return a piece of a task's log; see the port."""
        path = f"/druid/worker/v1/task/{quote(task_id, safe='')}/log"
        # Not compressed: what is read is what was counted.
        headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        url, asked = worker_url.rstrip("/") + path, {"offset": offset}
        try:
            with self._client.stream("GET", url, params=asked, headers=headers) as got:
                if got.status_code in _NONE:
                    return None
                if got.status_code != HTTPStatus.OK:
                    raise WorkerUnavailable(f"{task_id}: its worker answered {got.status_code}")
                start, size = int(got.headers[_START]), int(got.headers[_SIZE])
                return LogPart(_read(got, task_id), start, size)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            kind = type(error).__name__
            raise WorkerUnavailable(
                f"{task_id}: its log is at its worker, and {worker_url} does not answer ({kind})"
            ) from error
        except (KeyError, ValueError) as error:
            raise WorkerUnavailable(f"{task_id}: its worker sent no log") from error


def _read(response: httpx.Response, task_id: str) -> bytes:
    body, until = b"", time.monotonic() + WHOLE_S
    for part in response.iter_raw():
        body += part
        if time.monotonic() > until:
            raise WorkerUnavailable(f"{task_id}: its log did not come within {WHOLE_S:g} s")
        if len(body) > SIZE_BYTES_MAX:
            raise WorkerUnavailable(f"{task_id}: its log is longer than {SIZE_BYTES_MAX} bytes")
    return body
