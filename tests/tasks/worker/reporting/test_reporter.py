"""The reporter: each end is reported once, as a result and as a report; what runs, as progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, current_thread

import pytest

from tasks.contract.messages import Counters, FailureCode, RejectSample, TaskPhase, TaskReport
from tasks.reporting.levels import read_levels
from tasks.reporting.record import RecordType, ReportRecord, read_record
from tasks.reporting.timings import PauseTiming, TaskTimings
from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogPiece
from tasks.worker.reporting import reporter as reporting
from tasks.worker.reporting.ends import KeptEnds
from tasks.worker.reporting.reporter import LogAbout, ReportedTask, TaskReporter, log_record
from tests.tasks.memory import at, desired
from tests.waiting import wait_until

_STARTED = datetime(2026, 11, 28, 10, tzinfo=UTC)
_SAMPLE = RejectSample(topic="clicks", partition=0, offset=3, reason="not-json", input="{")


class _Offered:
    """What was offered, readable as any store would read it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._records: list[ReportRecord] = []

    def __call__(self, record: ReportRecord, size: int) -> bool:
        assert size == len(record.to_json())
        with self._lock:
            self._records.append(read_record(record.to_json().encode()))
        return True

    def of(self, kind: RecordType) -> list[ReportRecord]:
        with self._lock:
            return [each for each in self._records if each.type is kind]


def _task(phase: TaskPhase, task_id: str = "task-1") -> ReportedTask:
    failed = phase is TaskPhase.FAILED
    report = TaskReport(
        task_id=task_id,
        phase=phase,
        order_term=1,
        order_sequence=1,
        position=at(5),
        counters=Counters(processed=4, unparseable=1),
        samples=(_SAMPLE,),
        failure=FailureCode.READ_FAILED if failed else None,
        detail="Kafka has deleted it" if failed else "",
        running_for=timedelta(seconds=30),
    )
    timings = TaskTimings(pauses=PauseTiming(count=2, ms=30, longest_ms=20))
    return ReportedTask(desired(task_id), report, _STARTED, timings)


@contextmanager
def _running(
    tasks: Callable[[], list[ReportedTask]],
    offered: Callable[[ReportRecord, int], bool],
    folder: Path | None = None,
    level: str = "always",
) -> Iterator[TaskReporter]:
    with TemporaryDirectory() as new:
        kept = folder or Path(new)
        reporter = TaskReporter(
            tasks,
            offered,
            "w1",
            KeptEnds(kept),
            levels=read_levels(level),
            held=HeldLogs(kept),
            may_write=lambda name: name == "task-1",
        )
        reporter.start()
        try:
            yield reporter
        finally:
            reporter.close(30.0)


def test_an_end_is_reported_once_as_result_and_as_report() -> None:
    offered, looks = _Offered(), []

    def tasks() -> list[ReportedTask]:
        looks.append(1)
        return [_task(TaskPhase.SUCCESS), _task(TaskPhase.FAILED, "task-2")]

    with _running(tasks, offered):
        wait_until(lambda: len(looks) >= 3)

    assert sorted(each.subject for each in offered.of(RecordType.TASK_RESULT)) == [
        "task-1",
        "task-2",
    ]
    results = {each.subject: each for each in offered.of(RecordType.TASK_RESULT)}
    assert results["task-1"].status == "SUCCESS"
    failed = results["task-2"]
    assert (failed.status, failed.final, failed.worker) == ("FAILED", True, "w1")
    assert (failed.supervisor, failed.data_source) == ("clicks", "clicks")
    assert failed.payload["failure"] == "READ_FAILED"
    assert failed.payload["detail"] == "Kafka has deleted it"
    assert "samples" not in failed.payload
    assert failed.payload["timings"] == {
        "pauses": {"count": 2, "ms": 30, "longestMs": 20},
        "merge": {"count": 0, "ms": 0},
        "publish": {"ms": 0},
    }
    [report] = [each for each in offered.of(RecordType.TASK_REPORT) if each.subject == "task-1"]
    assert report.payload["startedAt"] == _STARTED.isoformat()
    assert report.payload["counters"]["processed"] == 4  # type: ignore[index,call-overload]
    assert report.payload["timings"] == results["task-1"].payload["timings"]
    assert report.payload["samples"][0]["reason"] == "not-json"  # type: ignore[index,call-overload]
    assert offered.of(RecordType.PROGRESS) == []


def test_an_end_that_is_reported_again_after_a_restart_says_the_same(tmp_path: Path) -> None:
    """Goal: for the store it is a conflict, not a mismatch."""
    first, second, third = _Offered(), _Offered(), _Offered()
    with _running(lambda: [_task(TaskPhase.SUCCESS)], first, tmp_path):
        wait_until(lambda: len(first.of(RecordType.TASK_REPORT)) == 1)
    later = _task(TaskPhase.SUCCESS)
    longer = later.report.model_copy(update={"running_for": timedelta(0), "samples": ()})
    with _running(lambda: [replace(later, report=longer)], second, tmp_path):
        wait_until(lambda: len(second.of(RecordType.TASK_REPORT)) == 1)
    (tmp_path / "task-1.ended").write_text("damaged")
    with _running(lambda: [replace(later, report=longer)], third, tmp_path):
        wait_until(lambda: len(third.of(RecordType.TASK_REPORT)) == 1)

    for kind in (RecordType.TASK_RESULT, RecordType.TASK_REPORT):
        assert second.of(kind) == first.of(kind)
        assert third.of(kind) != first.of(kind)


def test_a_report_has_the_warnings_and_errors_of_the_log(tmp_path: Path) -> None:
    offered = _Offered()
    lines = "2026-11-28T10:00:00Z INFO    it reads\n2026-11-28T10:00:01Z ERROR   it fails task=x\n"
    (tmp_path / "task-1.log").write_text(lines)
    with _running(lambda: [_task(TaskPhase.FAILED)], offered, tmp_path):
        wait_until(lambda: len(offered.of(RecordType.TASK_REPORT)) == 1)

    [report] = offered.of(RecordType.TASK_REPORT)
    line = {"at": "2026-11-28T10:00:01Z", "level": "ERROR", "text": "it fails task=x"}
    assert report.payload["logged"] == {"count": 1, "first": [line], "last": []}


def test_no_thread_of_the_worker_offers_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: whoever holds a lock of the worker, or runs a job of Spark, never calls the sender."""
    monkeypatch.setattr(reporting, "PROGRESS_S", 0.01)
    callers: set[str] = set()
    offered = _Offered()

    def offer(record: ReportRecord, size: int) -> bool:
        callers.add(current_thread().name)
        return offered(record, size)

    tasks = [_task(TaskPhase.READING), _task(TaskPhase.SUCCESS, "task-2")]
    with _running(lambda: tasks, offer) as reporter:
        reporter.left(_task(TaskPhase.FAILED, "task-3"))
        wait_until(lambda: len(offered.of(RecordType.TASK_REPORT)) == 2)
        wait_until(lambda: len(offered.of(RecordType.PROGRESS)) > 0)

    assert callers == {"report-tasks"}


def test_no_record_holds_the_token_of_a_task() -> None:
    offered = _Offered()
    task = _task(TaskPhase.FAILED)
    with _running(lambda: [task], offered):
        wait_until(lambda: len(offered.of(RecordType.TASK_REPORT)) == 1)

    everything = offered.of(RecordType.TASK_RESULT) + offered.of(RecordType.TASK_REPORT)
    assert everything
    assert not any(task.desired.token in each.to_json() for each in everything)


def test_a_task_that_the_worker_forgets_is_reported_all_the_same() -> None:
    offered = _Offered()
    with _running(list, offered) as reporter:
        reporter.left(_task(TaskPhase.SUCCESS))
        wait_until(lambda: len(offered.of(RecordType.TASK_RESULT)) == 1)
        reporter.left(_task(TaskPhase.SUCCESS))

    assert len(offered.of(RecordType.TASK_RESULT)) == 1


def test_a_task_that_is_wanted_no_more_says_how_far_it_came_and_no_status() -> None:
    offered = _Offered()
    with _running(list, offered) as reporter:
        reporter.left(_task(TaskPhase.PAUSED))

    [result] = offered.of(RecordType.TASK_RESULT)
    [report] = offered.of(RecordType.TASK_REPORT)
    for record in (result, report):
        assert (record.status, record.final) == (None, True)
        assert record.payload["phase"] == "PAUSED"
        assert record.payload["counters"]["processed"] == 4  # type: ignore[index,call-overload]


def test_what_ends_last_is_reported_before_the_reporter_is_closed() -> None:
    offered = _Offered()
    with _running(list, offered) as reporter:
        reporter.left(_task(TaskPhase.FAILED))

    assert len(offered.of(RecordType.TASK_RESULT)) == 1


def test_a_task_that_runs_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "PROGRESS_S", 0.5)
    offered = _Offered()
    with _running(lambda: [_task(TaskPhase.READING)], offered):
        wait_until(lambda: len(offered.of(RecordType.PROGRESS)) >= 2)

    first, second, *_ = offered.of(RecordType.PROGRESS)
    assert (first.status, first.final) == (None, False)
    assert first.payload["phase"] == "READING"
    assert first.record_id != second.record_id


def test_at_the_level_of_failures_an_end_alone_is_reported_and_decides_on_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reporting, "PROGRESS_S", 0.01)
    offered, held = _Offered(), HeldLogs(tmp_path)
    tasks = [_task(TaskPhase.READING)]
    for name in ("task-1", "task-2", "task-3"):
        held.hold(name)
        (tmp_path / f"{name}.log").write_text("a line\n")
    with _running(lambda: tasks, offered, tmp_path, "failures") as reporter:
        tasks[:] = [_task(TaskPhase.SUCCESS), _task(TaskPhase.FAILED, "task-2")]
        reporter.left(_task(TaskPhase.READING, "task-3"))
        wait_until(lambda: len(offered.of(RecordType.TASK_REPORT)) == 2)
        wait_until(lambda: held.undecided() == [])

    [done] = offered.of(RecordType.COMPLETION)
    assert (done.subject, done.status, done.payload) == ("task-1", "SUCCESS", {})
    results = [each.subject for each in offered.of(RecordType.TASK_RESULT)]
    assert sorted(results) == ["task-2", "task-3"]
    assert offered.of(RecordType.PROGRESS) == []
    assert sorted(path.name for path in tmp_path.glob("*.held")) == ["task-1.held"]


def test_a_task_whose_spec_says_debug_is_reported_whatever_the_level(tmp_path: Path) -> None:
    offered, task = _Offered(), _task(TaskPhase.SUCCESS)
    debug = replace(task, desired=task.desired.model_copy(update={"debug": True}))
    with _running(lambda: [debug], offered, tmp_path, "failures"):
        wait_until(lambda: len(offered.of(RecordType.TASK_REPORT)) == 1)

    [result] = offered.of(RecordType.TASK_RESULT)
    assert result.debug
    assert offered.of(RecordType.COMPLETION) == []


def test_a_fault_in_one_look_does_not_end_the_reports() -> None:
    offered, looks = _Offered(), []

    def tasks() -> list[ReportedTask]:
        looks.append(1)
        if len(looks) == 1:
            raise KeyError("a fault")
        return [_task(TaskPhase.SUCCESS)]

    with _running(tasks, offered):
        wait_until(lambda: len(offered.of(RecordType.TASK_RESULT)) == 1)


def test_a_piece_of_a_log_says_whose_it_is() -> None:
    about = LogAbout.of(desired()).written()
    record = log_record(LogPiece("task-1", about, 7, "a line\n", ends=True), "w1")

    assert (record.subject, record.attempt, record.place) == ("task-1", 0, 7)
    assert (record.supervisor, record.data_source, record.worker) == ("clicks", "clicks", "w1")
    assert (record.final, record.payload) == (True, {"text": "a line\n"})


def test_a_log_whose_note_is_gone_is_stored_without_names() -> None:
    record = log_record(LogPiece("task-1", {}, 0, "a line\n", ends=False), "w1")

    assert (record.supervisor, record.data_source, record.attempt) == (None, None, 0)
