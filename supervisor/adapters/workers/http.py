"""The HTTP client for the control API of workers, with bounded time and size of each answer.

If a worker is slow or sends nonsense, the caller gets an error within a bounded time.  Proxies and
redirects are off, so that they cannot send the token elsewhere.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from supervisor.core.values.errors import WorkerUnavailable

CONNECT_S = 0.5
WHOLE_S = 5.0
"""Timeout of the whole answer, for a worker that sends a few bytes again and again."""


@dataclass(frozen=True)
class WorkerQuery:
    """One request about one task."""

    worker_url: str
    path: str
    token: str
    about: str
    """The task and the requested part, for the text of an error: `task-1: its log`."""
    patience_s: float
    """Timeout of each wait: for a connection, for the answer, for the next piece of the answer."""
    params: Mapping[str, int] | None = None


@dataclass(frozen=True)
class WorkerReply:
    """The answer of a worker; `body` is empty unless the status is 200."""

    status: int
    headers: httpx.Headers
    body: bytes = b""


class WorkerHttp:
    """One client per kind of request, safe from many threads."""

    def __init__(self, *, connections: int, bytes_max: int) -> None:
        """`bytes_max` bounds the size of each answer."""
        self._bytes_max = bytes_max
        self._client = httpx.Client(
            limits=httpx.Limits(
                max_connections=connections, max_keepalive_connections=connections // 4
            ),
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Close the kept connections."""
        self._client.close()

    def get(self, request: WorkerQuery) -> WorkerReply:
        """Return the answer of the worker.

        Raises:
            WorkerUnavailable: the worker did not answer in time, or its answer was too large.
        """
        url = request.worker_url.rstrip("/") + request.path
        # No compression, so that the bytes that are read are the bytes that are counted.
        headers = {"Authorization": f"Bearer {request.token}", "Accept-Encoding": "identity"}
        bounds = httpx.Timeout(request.patience_s, connect=min(CONNECT_S, request.patience_s))
        try:
            with self._client.stream(
                "GET", url, params=request.params, headers=headers, timeout=bounds
            ) as got:
                if got.status_code != HTTPStatus.OK:
                    return WorkerReply(got.status_code, got.headers)
                return WorkerReply(got.status_code, got.headers, self._read(got, request.about))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            kind = type(error).__name__
            raise WorkerUnavailable(
                f"{request.about} is at its worker, and {request.worker_url} does not answer "
                f"({kind})"
            ) from error

    def _read(self, response: httpx.Response, about: str) -> bytes:
        body, until = b"", time.monotonic() + WHOLE_S
        for part in response.iter_raw():
            body += part
            if time.monotonic() > until:
                raise WorkerUnavailable(f"{about} did not come within {WHOLE_S:g} s")
            if len(body) > self._bytes_max:
                raise WorkerUnavailable(f"{about} is longer than {self._bytes_max} bytes")
        return body
