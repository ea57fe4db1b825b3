"""Asks workers for the journaled files of a task, over their control API.

A worker that is slow or sends nonsense costs its answer, never the caller: time and size are
bounded, and no proxy or redirect leads the token elsewhere.
"""

import time
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from supervisor.core.errors import WorkerUnavailable
from tasks.contract import JournalView

TIMEOUT = httpx.Timeout(0.8, connect=0.5)
"""Seconds: a worker that stands still must not hold an answer up for long."""
WHOLE_S = 5.0
"""For a worker that sends a little, again and again."""
SIZE_BYTES_MAX = 8 * 1024 * 1024


class HttpJournals:
    """Implements `views_files.Journals`; one instance per process, safe from many threads."""

    def __init__(self) -> None:
        """Connect to nobody yet."""
        self._client = httpx.Client(
            timeout=TIMEOUT,
            limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Close the kept connections."""
        self._client.close()

    def journal(self, worker_url: str, task_id: str, token: str) -> JournalView:
        """Return the journaled files of one live task.

        Raises:
            WorkerUnavailable: no usable answer came within a few seconds.
        """
        path = f"/druid/worker/v1/chat/{quote(task_id, safe='')}/journal"
        # Not compressed: what is read is what was counted.
        headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        try:
            with self._client.stream("GET", worker_url.rstrip("/") + path, headers=headers) as got:
                if got.status_code != httpx.codes.OK:
                    raise WorkerUnavailable(f"{task_id}: its worker answered {got.status_code}")
                return JournalView.from_json(_read(got, task_id))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            kind = type(error).__name__
            raise WorkerUnavailable(f"{task_id}: no answer from {worker_url} ({kind})") from error
        except ValidationError as error:
            raise WorkerUnavailable(f"{task_id}: its worker sent no journal") from error


def _read(response: httpx.Response, task_id: str) -> bytes:
    body, until = b"", time.monotonic() + WHOLE_S
    for part in response.iter_raw():
        body += part
        if time.monotonic() > until:
            raise WorkerUnavailable(f"{task_id}: its journal did not come within {WHOLE_S:g} s")
        if len(body) > SIZE_BYTES_MAX:
            raise WorkerUnavailable(f"{task_id}: its journal is longer than {SIZE_BYTES_MAX} bytes")
    return body
