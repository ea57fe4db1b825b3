"""A worker's reports as a whole: when they begin, and what an earlier life has left to them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from tasks.contract.messages import TaskPhase, TaskReport
from tasks.reporting.levels import read_levels
from tasks.reporting.record import RecordType, ReportRecord
from tasks.sending.doors import Doors
from tasks.sending.transport import Outgoing
from tasks.worker.options import WorkerOptions
from tasks.worker.reporting.reporter import ReportedTask
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.roster import Roster
from tests.tasks.memory import MemoryOverlord, at, desired
from tests.tasks.worker.plain_site import PlainSite
from tests.waiting import wait_until

ADDRESS = "http://persister:8092"


class _Store:
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

    def log_of(self, task: str) -> str:
        """Return what has come of a log."""
        with self._lock:
            chunks = [each for each in self._kept if each.type is RecordType.LOG_CHUNK]
        return "".join(str(each.payload["text"]) for each in chunks if each.subject == task)

    def results(self) -> list[ReportRecord]:
        """Return the results that have come, repeats too."""
        with self._lock:
            return [each for each in self._kept if each.type is RecordType.TASK_RESULT]

    def types(self) -> set[RecordType]:
        with self._lock:
            return {each.type for each in self._kept}


def _ended() -> ReportedTask:
    report = TaskReport(
        task_id="task-1",
        phase=TaskPhase.SUCCESS,
        order_term=1,
        order_sequence=1,
        position=at(5),
    )
    return ReportedTask(desired(), report, datetime(2026, 3, 1, tzinfo=UTC))


def test_reports_begin_when_an_overlord_names_a_persister(tmp_path: Path) -> None:
    store, doors = _Store(), Doors()
    reports = WorkerReports(tmp_path, "w1", store, when_known=doors.when_known)
    reports.start(lambda: [_ended()], lambda _: False)
    assert reports.status() is None
    assert not (tmp_path / "reports").exists(), "nothing is kept for nobody"

    doors.hear([ADDRESS])
    wait_until(lambda: store.types() == {RecordType.TASK_RESULT, RecordType.TASK_REPORT})
    reports.stop()


def test_reports_that_wait_when_the_worker_ends_never_begin(tmp_path: Path) -> None:
    doors = Doors()
    reports = WorkerReports(tmp_path, "w1", _Store(), when_known=doors.when_known)
    reports.start(lambda: [_ended()], lambda _: False)
    reports.stop()
    doors.hear([ADDRESS])

    assert reports.status() is None


def test_a_log_whose_task_ended_with_its_worker_is_sent_at_the_level_of_failures(
    tmp_path: Path,
) -> None:
    folder, store = tmp_path / "task-logs", _Store()
    folder.mkdir()
    earlier = WorkerReports(tmp_path, "w1", _Store(), levels=read_levels("failures"))
    for name in ("task-1", "task-2", "task-3"):
        earlier.begun(desired(name))
        (folder / f"{name}.log").write_text(f"a line of {name}\n")
    earlier.stop()

    reports = WorkerReports(tmp_path, "w1", store, levels=read_levels("failures"))
    reports.start(lambda: [_ended()], lambda name: name == "task-3")
    wait_until(lambda: store.log_of("task-2") == "a line of task-2\n")
    wait_until(lambda: RecordType.COMPLETION in store.types())
    reports.stop()

    assert store.log_of("task-1") == ""
    assert store.log_of("task-3") == "", "lines may still come, as before the first listing"


def test_a_task_that_ended_just_before_its_worker_was_killed_has_a_result(tmp_path: Path) -> None:
    (tmp_path / "task-logs").mkdir()
    killed = WorkerReports(tmp_path, "w1", _Store())
    for name in ("task-1", "task-2"):
        killed.begun(desired(name).model_copy(update={"attempt": 3}))
    killed.stop()
    seen = []
    for _ in range(2):
        store = _Store()
        reports = WorkerReports(tmp_path, "w1", store)
        reports.left_over("task-1")
        reports.start(list, lambda _: False)
        reports.left_over("task-0")
        wait_until(lambda store=store: len(store.results()) == 1)  # type: ignore[misc]  # bound
        reports.stop()

        [result] = store.results()
        seen.append(result)
        assert (result.subject, result.attempt, result.supervisor) == ("task-1", 3, "clicks")
        assert (result.status, result.final) == (None, True)
        assert "its worker ended before" in str(result.payload["detail"])
    assert seen[0] == seen[1], "a repeat says the same"


def test_a_roster_notes_the_tasks_of_an_earlier_life_that_are_wanted_no_more(
    tmp_path: Path,
) -> None:
    folder, store = tmp_path / "w1", _Store()
    killed = WorkerReports(folder, "w1", _Store())
    killed.begun(desired())
    killed.stop()
    site = PlainSite(folder, tmp_path / "warehouse", overlord=MemoryOverlord())
    site.roster.close(0)
    assert site.journals.task_ids() == {"task-1"}

    reports = WorkerReports(folder, "w1", store)
    options = WorkerOptions("w1", folder, str(tmp_path / "warehouse"), ())
    Roster(options, site.world, site.journals, 8, reports=reports).apply([])
    reports.start(list, lambda _: False)
    wait_until(lambda: [each.subject for each in store.results()] == ["task-1"])
    reports.stop()
