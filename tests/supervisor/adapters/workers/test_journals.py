"""Asking a worker for a journal: bounded, and never more than its own word."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from supervisor.adapters.workers.journals import SIZE_BYTES_MAX, HttpJournals
from supervisor.core.values.errors import WorkerUnavailable
from tasks.contract.messages import JournalFile, JournalView
from tasks.contract.offsets import TopicPartition

PATIENCE_S = 5.0
VIEW = JournalView(
    task_id="t",
    position={TopicPartition("clicks", 0): 5},
    files=(JournalFile(path="clicks/data/t/a.parquet", rows=5, size_bytes=9),),
)


@dataclass
class Worker:
    """A control API that gives one answer."""

    status: int = 200
    body: bytes = VIEW.to_json().encode()
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker that listens."""
    worker = Worker()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            worker.requests.append((self.path, self.headers["Authorization"]))
            self.send_response(worker.status)
            for name, value in worker.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(worker.body)))
            self.end_headers()
            try:
                self.wfile.write(worker.body)
            except OSError:
                return  # the other side has heard enough

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        worker.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield worker
        server.shutdown()
        thread.join(timeout=10)


@pytest.fixture
def journals() -> Iterator[HttpJournals]:
    """The adapter."""
    journals = HttpJournals()
    yield journals
    journals.close()


def test_a_journal_is_asked_with_the_tasks_own_token(
    worker: Worker, journals: HttpJournals
) -> None:
    assert journals.journal(worker.url, "t", "secret", PATIENCE_S) == VIEW
    assert worker.requests == [("/druid/worker/v1/chat/t/journal", "Bearer secret")]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"{}"),
        (200, b"{}"),
        (200, b"<html>"),
        (200, VIEW.to_json().encode() + b" " * SIZE_BYTES_MAX),
    ],
)
def test_an_unusable_answer_is_as_none(
    worker: Worker, journals: HttpJournals, status: int, body: bytes
) -> None:
    worker.status, worker.body = status, body

    with pytest.raises(WorkerUnavailable):
        journals.journal(worker.url, "t", "secret", PATIENCE_S)


def test_the_token_is_not_carried_elsewhere(worker: Worker, journals: HttpJournals) -> None:
    worker.status, worker.headers = 307, {"Location": f"{worker.url}/elsewhere"}

    with pytest.raises(WorkerUnavailable):
        journals.journal(worker.url, "t", "secret", PATIENCE_S)

    assert [path for path, _ in worker.requests] == ["/druid/worker/v1/chat/t/journal"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://x", "no url", ""])
def test_a_worker_that_cannot_be_reached_is_unavailable(journals: HttpJournals, url: str) -> None:
    with pytest.raises(WorkerUnavailable):
        journals.journal(url, "t", "secret", PATIENCE_S)
