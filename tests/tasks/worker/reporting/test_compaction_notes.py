"""Compactions are reported as tasks are: a log of their own, and how they ended."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import structlog

from tasks.contract.messages import FailureCode, PublishOutcome
from tasks.ports import TaskError
from tasks.reporting.levels import read_levels
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord
from tasks.sending.transport import Outgoing
from tasks.worker.reporting.compaction_notes import CompactionNotes
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs
from tests.tasks.memory import DEADLINE_S
from tests.tasks.orders import compaction
from tests.tasks.worker.yard import Yard
from tests.waiting import wait_until


class _Shelf:
    """A transport that keeps what it is given."""

    refused_total = 0

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: list[ReportRecord] = []

    def send(self, batch: Sequence[Outgoing]) -> None:
        with self._lock:
            self._kept += [ReportRecord.from_json(each.body) for each in batch]

    def close(self) -> None:
        """Keep nothing open."""

    def of(self, kind: RecordType) -> list[ReportRecord]:
        with self._lock:
            return [each for each in self._kept if each.type is kind]


@contextmanager
def _compacting(folder: Path, shelf: _Shelf, level: str = "always") -> Iterator[Yard]:
    before = structlog.get_config()
    logs = TaskLogs(folder)
    structlog.configure(
        [
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            logs,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.ReturnLoggerFactory(),
    )
    reports = WorkerReports(folder, "w1", shelf, levels=read_levels(level))
    reports.start(list, logs.is_open)
    yard = Yard(notes=CompactionNotes(logs, reports))
    try:
        yield yard
    finally:
        yard.compactor.close()
        yard.engine.release()
        assert yard.compactor.join(DEADLINE_S)
        reports.stop()
        structlog.configure(**before)


def test_a_compaction_that_is_published_is_reported_with_its_log(tmp_path: Path) -> None:
    shelf = _Shelf()
    with _compacting(tmp_path, shelf) as yard:
        yard.list_compactions("c-1")
        wait_until(lambda: any(each.final for each in shelf.of(RecordType.LOG_CHUNK)))
        wait_until(lambda: len(shelf.of(RecordType.TASK_REPORT)) == 1)

    [result], [report] = shelf.of(RecordType.TASK_RESULT), shelf.of(RecordType.TASK_REPORT)
    assert (result.subject, result.attempt, result.origin) == ("c-1", 0, RecordOrigin.COMPACTION)
    assert (result.status, result.data_source, result.worker) == ("SUCCESS", "clicks", "w1")
    assert (result.payload["outcome"], result.payload["rows"]) == ("committed", 20)
    assert report.payload["inputs"] == [each.file.path for each in compaction("c-1").inputs]
    chunks = shelf.of(RecordType.LOG_CHUNK)
    assert {each.origin for each in chunks} == {RecordOrigin.COMPACTION}
    text = "".join(str(each.payload["text"]) for each in chunks)
    assert "compaction begins" in text
    assert "compaction ends" in text


def test_one_that_fails_says_why_and_one_that_is_taken_back_was_cancelled(tmp_path: Path) -> None:
    shelf = _Shelf()
    with _compacting(tmp_path, shelf) as yard:
        yard.engine.failure = TaskError(FailureCode.READ_FAILED, "a file is gone")
        yard.list_compactions("c-1")
        wait_until(lambda: len(shelf.of(RecordType.TASK_REPORT)) == 1)
        yard.engine.failure = None
        yard.engine.hold()
        yard.list_compactions("c-2")
        yard.engine.wait_running("c-2")
        yard.list_compactions()
        wait_until(lambda: len(shelf.of(RecordType.TASK_REPORT)) == 2)

    failed, taken_back = shelf.of(RecordType.TASK_RESULT)
    assert (failed.status, failed.payload["failure"]) == ("FAILED", "READ_FAILED")
    assert failed.payload["detail"] == "a file is gone"
    assert (taken_back.status, taken_back.payload["outcome"]) == ("FAILED", "cancelled")


def test_one_that_the_end_of_its_worker_stops_has_not_ended(tmp_path: Path) -> None:
    shelf = _Shelf()
    with _compacting(tmp_path, shelf) as yard:
        yard.engine.hold()
        yard.list_compactions("c-1")
        yard.engine.wait_running("c-1")

    assert shelf.of(RecordType.TASK_RESULT) == []


def test_at_the_level_of_failures_one_that_is_published_is_only_over(tmp_path: Path) -> None:
    shelf = _Shelf()
    with _compacting(tmp_path, shelf, "compaction=failures") as yard:
        yard.list_compactions("c-1")
        wait_until(lambda: len(shelf.of(RecordType.COMPLETION)) == 1)

    assert [each.subject for each in shelf.of(RecordType.COMPLETION)] == ["c-1"]
    assert shelf.of(RecordType.TASK_RESULT) == shelf.of(RecordType.LOG_CHUNK) == []


def test_a_file_that_came_too_late_is_no_success(tmp_path: Path) -> None:
    shelf = _Shelf()
    with _compacting(tmp_path, shelf) as yard:
        yard.overlord.outcome = PublishOutcome.SUPERSEDED
        yard.list_compactions("c-1")
        wait_until(lambda: len(shelf.of(RecordType.TASK_REPORT)) == 1)

    [result] = shelf.of(RecordType.TASK_RESULT)
    assert (result.status, result.payload["outcome"]) == ("FAILED", "superseded")
