"""A secret in a log line and in an error's text: it is in no record, stored or set aside.

The worker's own log, reports and sender, and the rules of the persister, without processes.
"""

import json
import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from supervisor.app.process import configure_logging
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.reports import ReportQuery
from supervisor.reports.incoming import Incoming
from tasks.contract.messages import FailureCode, TaskPhase, TaskReport
from tasks.ports import TaskError
from tasks.reporting.record import ReportRecord
from tasks.runtime.secrets import secret_text
from tasks.sending.transport import Outgoing
from tasks.worker.reporting.reporter import ReportedTask
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, REFERENCE, SECRET, VARIABLE
from tests.supervisor.reports.shelves import Shelves
from tests.tasks.memory import at, desired
from tests.waiting import wait_until

_TASK, _ATTEMPT = "task-1", desired().attempt


@dataclass
class _Persister:
    """A transport whose other end stores each record, and sets a spoiled copy of it aside."""

    refused_total = 0

    shelves: Shelves = field(default_factory=Shelves)
    sent: list[bytes] = field(default_factory=list)
    """As they went out."""

    def send(self, batch: Sequence[Outgoing]) -> None:
        for each in batch:
            newer = json.dumps(json.loads(each.body) | {"v": 9}).encode()
            self._store(each.body)
            self._store(newer)
            self.sent.append(each.body)

    def close(self) -> None:
        """Keep nothing open."""

    def _store(self, body: bytes) -> None:
        item = Incoming("completed.default", 0, len(self.sent), None, body, _hears_nothing)
        self.shelves.storing().store([item], _hears_nothing)

    def places(self) -> dict[str, str]:
        """Return all texts by where they are."""
        shelves = self.shelves
        log = b"".join(part.content for part in shelves.logs.read(_TASK, _ATTEMPT, 0, 1_000_000))
        records = shelves.reports.list(ReportQuery(), 100)
        return {
            "sent": "\n".join(body.decode() for body in self.sent),
            "stored": "\n".join(_json(each) for each in records),
            "log": log.decode(),
            "letters": "\n".join(each.body.decode() for each in shelves.letters.kept),
        }


def _hears_nothing(_: object, __: StoreOutcome) -> None:
    """Stand in for whoever commits offsets."""


def _json(record: ReportRecord) -> str:
    return json.dumps(json.loads(record.to_json()), ensure_ascii=False)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before, handlers = structlog.get_config(), logging.getLogger().handlers
    hooks = sys.excepthook, threading.excepthook
    yield
    sys.excepthook, threading.excepthook = hooks
    structlog.configure(**before)
    logging.getLogger().handlers = handlers


@pytest.mark.parametrize("text", [BY_NAME, BY_VALUE], ids=["by its name", "by its value"])
def test_a_secret_in_lines_and_errors_is_in_no_record(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)
    secret_text(REFERENCE)  # a process masks what it has read
    logs = TaskLogs(tmp_path)
    logs.begin(_TASK, "token")
    configure_logging(logs, form="json")
    log = structlog.get_logger().bind(task=_TASK)
    log.error("the line begins", why=text, error=ValueError(text))
    log.warning("the line ends", exc_info=ValueError(text))
    logs.end(_TASK)
    error = TaskError(FailureCode.INTERNAL, f"the error begins: {text}")
    report = TaskReport(
        task_id=_TASK,
        phase=TaskPhase.FAILED,
        order_term=1,
        order_sequence=1,
        position=at(5),
        failure=error.code,
        detail=str(error),
    )
    persister = _Persister()
    reports = WorkerReports(tmp_path, "w1", persister)
    reports.begun(desired())
    reported = ReportedTask(desired(), report, datetime(2026, 3, 1, tzinfo=UTC))
    reports.start(lambda: [reported], lambda _: False)
    wait_until(lambda: "the line ends" in persister.places()["log"])
    wait_until(lambda: "the error begins" in persister.places()["stored"])
    wait_until(lambda: "the error begins" in persister.places()["letters"])
    reports.stop()

    places = persister.places()
    assert "the line ends" in places["letters"], "what is searched for would not be found"
    assert [place for place, all_ in places.items() if CANARY in all_] == []
    spool = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert spool
    assert [each.name for each in spool if CANARY.encode() in each.read_bytes()] == []
