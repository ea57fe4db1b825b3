"""The HTTP client for the journaled files of a task, over the control API of workers."""

from http import HTTPStatus
from urllib.parse import quote

from pydantic import ValidationError

from supervisor.adapters.workers.http import WorkerHttp, WorkerQuery
from supervisor.core.values.errors import WorkerUnavailable
from tasks.contract.messages import JournalView

SIZE_BYTES_MAX = 8 * 1024 * 1024
CONNECTIONS = 64


class HttpJournals:
    """Implements `views.files.Journals`; one instance per process, safe from many threads."""

    def __init__(self) -> None:
        self._workers = WorkerHttp(connections=CONNECTIONS, bytes_max=SIZE_BYTES_MAX)

    def close(self) -> None:
        """Close the kept connections."""
        self._workers.close()

    def journal(self, worker_url: str, task_id: str, token: str, patience_s: float) -> JournalView:
        """Return the journaled files of one live task; see the port."""
        path = f"/druid/worker/v1/chat/{quote(task_id, safe='')}/journal"
        about = f"{task_id}: its journal"
        got = self._workers.get(WorkerQuery(worker_url, path, token, about, patience_s))
        if got.status != HTTPStatus.OK:
            raise WorkerUnavailable(f"{task_id}: its worker answered {got.status}")
        try:
            return JournalView.from_json(got.body)
        except ValidationError as error:
            raise WorkerUnavailable(f"{task_id}: its worker sent no journal") from error
