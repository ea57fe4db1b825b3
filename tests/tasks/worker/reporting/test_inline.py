"""Mode `inline`: result, report and log of a task come as one record, if they fit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

import pytest

from tasks.contract.messages import TaskPhase, TaskReport
from tasks.reporting.levels import read_levels
from tasks.reporting.record import RecordType, ReportRecord, read_record
from tasks.sending.log_tail import LogTail
from tasks.sending.transport import Outgoing, TransportAway
from tasks.worker.reporting import reports as worker_reports
from tasks.worker.reporting.inline import InlineLogs
from tasks.worker.reporting.reporter import ReportedTask
from tasks.worker.reporting.reports import WorkerReports
from tests.tasks.memory import at, desired
from tests.waiting import wait_until

_STARTED = datetime(2026, 3, 1, tzinfo=UTC)
_LOG = "a line\nits error \\ with a tab\tin it\n"


class _Topic:
    """A transport that keeps what it is given, while it takes anything."""

    refused_total = 0

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: list[ReportRecord] = []
        self.is_away = False
        self.tries = 0

    def send(self, batch: Sequence[Outgoing]) -> None:
        with self._lock:
            self.tries += 1
            if self.is_away:
                raise TransportAway("the broker is away")
            self._kept += [read_record(each.body) for each in batch]

    def close(self) -> None:
        """Keep nothing open."""

    def of(self, kind: RecordType) -> list[ReportRecord]:
        with self._lock:
            return [each for each in self._kept if each.type is kind]

    def log_of(self, task: str) -> str:
        chunks = self.of(RecordType.LOG_CHUNK)
        return "".join(str(each.payload["text"]) for each in chunks if each.subject == task)


def _ended(task_id: str = "task-1", phase: TaskPhase = TaskPhase.SUCCESS) -> ReportedTask:
    report = TaskReport(
        task_id=task_id, phase=phase, order_term=1, order_sequence=1, position=at(5)
    )
    return ReportedTask(desired(task_id), report, _STARTED)


@contextmanager
def _reporting(
    folder: Path,
    topic: _Topic,
    *tasks: ReportedTask,
    open_logs: Callable[[str], bool] = lambda _: False,
    level: str = "always",
) -> Iterator[WorkerReports]:
    levels = read_levels(level)
    reports = WorkerReports(folder, "w1", topic, levels=levels, inline=True)
    (folder / "task-logs").mkdir(exist_ok=True)
    for each in tasks:
        reports.begun(each.desired)
        (folder / "task-logs" / f"{each.desired.task_id}.log").write_text(_LOG)
    reports.start(lambda: tasks, open_logs)
    try:
        yield reports
    finally:
        reports.stop()


def test_a_log_comes_with_the_result_of_its_task_and_no_other_way(tmp_path: Path) -> None:
    topic = _Topic()
    tail = LogTail(tmp_path / "task-logs", lambda _: False)
    with _reporting(tmp_path, topic, _ended()):
        wait_until(lambda: tail.is_whole("task-1"))

    [record] = topic.of(RecordType.COMBINED)
    assert record.payload["log"] == _LOG
    assert (record.status, record.final, record.place) == ("SUCCESS", True, 0)
    assert record.payload["startedAt"] == _STARTED.isoformat()
    assert topic.of(RecordType.LOG_CHUNK) == []
    assert topic.of(RecordType.TASK_RESULT) == topic.of(RecordType.TASK_REPORT) == []


def test_a_log_that_may_still_grow_is_waited_for(tmp_path: Path) -> None:
    topic, looks = _Topic(), []

    def is_open(_: str) -> bool:
        looks.append(1)
        return len(looks) < 4

    with _reporting(tmp_path, topic, _ended(), open_logs=is_open):
        wait_until(lambda: bool(topic.of(RecordType.COMBINED)))

    [record] = topic.of(RecordType.COMBINED)
    assert record.payload["log"] == _LOG


def test_a_worker_that_ends_first_sends_the_result_alone_and_the_log_later(
    tmp_path: Path,
) -> None:
    topic, later = _Topic(), _Topic()
    with _reporting(tmp_path, topic, _ended(), open_logs=lambda _: True):
        pass
    with _reporting(tmp_path, later, _ended()):
        wait_until(lambda: any("log" in each.payload for each in later.of(RecordType.COMBINED)))

    sent = [*topic.of(RecordType.COMBINED), *later.of(RecordType.COMBINED)]
    assert {each.record_id for each in sent} == {sent[0].record_id}
    assert [each.payload.pop("log", None) for each in sent] == [None, _LOG]
    assert sent[0] == sent[1], "what is sent again says the same"


def test_a_log_that_does_not_fit_goes_in_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        worker_reports, "InlineLogs", lambda folder: InlineLogs(folder, record_bytes=100)
    )
    topic = _Topic()
    with _reporting(tmp_path, topic, _ended()):
        wait_until(lambda: topic.log_of("task-1") == _LOG)
        wait_until(lambda: bool(topic.of(RecordType.COMBINED)))

    [record] = topic.of(RecordType.COMBINED)
    assert "log" not in record.payload


def test_a_log_counts_as_stored_once_its_record_is_acknowledged(tmp_path: Path) -> None:
    """Goal: a log makes room when the store has it, and not before."""
    topic = _Topic()
    topic.is_away = True
    tail = LogTail(tmp_path / "task-logs", lambda _: False)
    with _reporting(tmp_path, topic, _ended()):
        wait_until(lambda: topic.tries >= 1)
        assert not tail.is_whole("task-1")
        topic.is_away = False
        wait_until(lambda: tail.is_whole("task-1"))


def test_of_a_task_that_is_not_wanted_there_is_a_completion(tmp_path: Path) -> None:
    topic = _Topic()
    failed = _ended("task-2", TaskPhase.FAILED)
    with _reporting(tmp_path, topic, _ended(), failed, level="failures"):
        wait_until(
            lambda: len(topic.of(RecordType.COMBINED) + topic.of(RecordType.COMPLETION)) == 2
        )

    assert [each.subject for each in topic.of(RecordType.COMPLETION)] == ["task-1"]
    assert [each.subject for each in topic.of(RecordType.COMBINED)] == ["task-2"]
    assert topic.log_of("task-1") == ""


def test_a_record_that_is_sent_again_takes_its_log_from_the_file(tmp_path: Path) -> None:
    first, second = _Topic(), _Topic()
    with _reporting(tmp_path, first, _ended()):
        wait_until(lambda: bool(first.of(RecordType.COMBINED)))
    other = replace(_ended(), started_at=datetime(2026, 3, 2, tzinfo=UTC))
    with _reporting(tmp_path, second, other):
        wait_until(lambda: bool(second.of(RecordType.COMBINED)))

    assert first.of(RecordType.COMBINED) == second.of(RecordType.COMBINED)
