"""One task on its thread, with an engine that the test holds and releases."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from tasks.contract.messages import FailureCode, Lack, PublishOutcome, TaskPhase, TaskReport
from tasks.machine.pacing import Limits
from tasks.machine.state import TaskState
from tasks.ports import (
    Fenced,
    JournalEntry,
    MergeJob,
    OverlordRefused,
    OverlordUnavailable,
    SchemasUnavailable,
    StreamTimeout,
    TaskError,
)
from tasks.worker.alarm import Alarm
from tasks.worker.finishing_slots import FinishingSlots
from tasks.worker.journal import journals_below
from tasks.worker.options import WorkerOptions
from tasks.worker.roster import Roster
from tasks.worker.runner import TaskRunner, World
from tests.tasks.memory import (
    DEADLINE_S,
    MemoryEngine,
    MemoryLog,
    MemoryOverlord,
    at,
    desired,
    order,
    pause,
)
from tests.tasks.worker.plain_site import copied_journal
from tests.waiting import wait_until

QUICK = Limits(poll_s=0.01, retry_first_s=0.01, retry_max_s=0.05, turn_s=0.05, cancel_again_s=0.05)


@dataclass
class Site:
    """Everything a task needs, and its alarm."""

    folder: Path
    engine: MemoryEngine = field(default_factory=MemoryEngine)
    log: MemoryLog = field(default_factory=lambda: MemoryLog(at(0), at(5)))
    overlord: MemoryOverlord = field(default_factory=MemoryOverlord)
    limits: Limits = QUICK
    finishing: int = 4
    fenced: threading.Event = field(default_factory=threading.Event)
    alive: bool = True
    overlord_answers: bool = True

    def __post_init__(self) -> None:
        self.world = World(
            self.engine,
            self.log,
            self.overlord,
            FinishingSlots(self.finishing),
            changed=self._changed,
            fenced=self.fenced.set,
            engine_alive=lambda: self.alive,
            engine_doubt_s=0.01,
            overlord_answers=lambda: self.overlord_answers,
        )
        options = WorkerOptions("w", self.folder, "warehouse", ("http://o",), limits=self.limits)
        self.roster = Roster(options, self.world, journals_below(self.folder), incarnation=7)
        self.alarm = Alarm(lambda: self.roster.runners, self.world.monotonic)
        self.thread = threading.Thread(target=self.alarm.run, name="alarm of a test")
        self.thread.start()

    def _changed(self) -> None:
        self.alarm.wake()

    def close(self) -> None:
        self.engine.release()
        self.roster.close(0)
        for runner in self.roster.runners:
            assert runner.join(DEADLINE_S)
        self.alarm.close()
        self.thread.join(DEADLINE_S)

    def run(self, *task_ids: str) -> list[TaskRunner]:
        self.roster.apply([desired(task_id) for task_id in task_ids])
        found = [self.roster.find(task_id) for task_id in task_ids]
        return [runner for runner in found if runner is not None]

    def journal_of(self, task_id: str) -> list[tuple[int, int]]:
        journal = copied_journal(self.folder, desired(task_id))
        return [(e.start[p], e.end[p]) for e in journal.held.entries for p in e.start]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.close()


def reaches(runner: TaskRunner, phase: TaskPhase) -> TaskReport:
    assert runner.wait_until(lambda s: s.phase is phase, DEADLINE_S), runner.report()
    return runner.report()


def position_is(*offsets: int) -> "Claim":
    return Claim(at(*offsets))


@dataclass(frozen=True)
class Claim:
    position: object

    def __call__(self, state: TaskState) -> bool:
        return state.position == self.position


def test_a_task_reads_what_there_is_and_journals_it(site: Site) -> None:
    [runner] = site.run("task-1")

    assert runner.wait_until(position_is(5), DEADLINE_S)
    assert site.journal_of("task-1") == [(0, 5)]
    assert runner.report().counters.processed == 5


def test_a_task_reads_merges_and_publishes_up_to_its_end(site: Site) -> None:
    [runner] = site.run("task-1")
    runner.deliver_order(order(2, end=at(4)))

    assert reaches(runner, TaskPhase.SUCCESS).position == at(4)
    [published] = site.overlord.published
    assert (published.start, published.end) == (at(0), at(4))
    assert {segment.path for segment in published.segments} <= site.engine.files
    assert runner.join(DEADLINE_S), "its thread has nothing more to do"


def test_a_pause_cancels_a_batch_that_outlasts_the_target(tmp_path: Path) -> None:
    site = Site(tmp_path, limits=replace(QUICK, pause_target_s=0.05))
    site.engine.hold()
    [runner] = site.run("task-1")
    site.engine.wait_running("task-1")

    runner.deliver_order(pause(2))

    reported = reaches(runner, TaskPhase.PAUSED)
    assert (reported.position, reported.counters.cancelled_rows) == (at(0), 5)
    assert site.engine.files == set()
    site.close()


def test_a_pause_waits_for_a_batch_that_ends_in_time(site: Site) -> None:
    site.engine.hold()
    [runner] = site.run("task-1")
    site.engine.wait_running("task-1")

    runner.deliver_order(pause(2))
    site.engine.release()

    assert reaches(runner, TaskPhase.PAUSED).position == at(5)


def test_a_lease_that_runs_out_lets_the_task_read_on(site: Site) -> None:
    [runner] = site.run("task-1")
    runner.deliver_order(pause(2, lease_s=0.2))
    reaches(runner, TaskPhase.PAUSED)
    site.log.stable = at(9)

    assert runner.wait_until(position_is(9), DEADLINE_S)
    assert "0.2 s" in runner.report().detail


def test_a_task_beyond_its_end_drops_the_files_it_may_not_publish(site: Site) -> None:
    """Source: protocol rule P14."""
    [runner] = site.run("task-1")
    assert runner.wait_until(position_is(5), DEADLINE_S)
    before = set(site.engine.files)
    site.log.stable = at(9)
    assert runner.wait_until(position_is(9), DEADLINE_S)
    [tail] = site.engine.files - before

    runner.deliver_order(order(2, end=at(7)))

    reaches(runner, TaskPhase.SUCCESS)
    assert site.journal_of("task-1") == [(0, 5), (5, 7)]
    assert tail not in site.engine.files


def test_a_task_that_waits_for_its_predecessor_holds_no_finishing_slot(tmp_path: Path) -> None:
    """Source: protocol rule P18."""
    site = Site(tmp_path, finishing=1, limits=replace(QUICK, turn_s=1_000))
    site.overlord.outcome = PublishOutcome.WAIT_FOR_PREDECESSOR
    first, second = site.run("task-1", "task-2")
    first.deliver_order(order(2, end=at(5)))
    reaches(first, TaskPhase.WAITING)
    site.overlord.outcome = PublishOutcome.COMMITTED

    second.deliver_order(order(2, end=at(5)))
    reaches(second, TaskPhase.SUCCESS)
    site.roster.apply([desired("task-1", turn=True), desired("task-2")])

    reaches(first, TaskPhase.SUCCESS)
    site.close()


def test_no_more_tasks_finish_at_once_than_there_are_slots(tmp_path: Path) -> None:
    site = Site(tmp_path, finishing=1)
    runners = site.run("task-1", "task-2", "task-3")
    for runner in runners:
        assert runner.wait_until(position_is(5), DEADLINE_S)
    site.engine.running_most = 0
    site.engine.hold()
    for runner in runners:
        runner.deliver_order(order(2, end=at(5)))
    assert isinstance(site.engine.wait_any(), MergeJob)

    site.engine.release()

    for runner in runners:
        reaches(runner, TaskPhase.SUCCESS)
    assert site.engine.running_most == 1
    site.close()


def test_a_task_that_waits_for_a_finishing_slot_can_be_stopped(tmp_path: Path) -> None:
    site = Site(tmp_path, finishing=1)
    first, second = site.run("task-1", "task-2")
    for runner in (first, second):
        assert runner.wait_until(position_is(5), DEADLINE_S)
    site.engine.hold(deaf=True)
    first.deliver_order(order(2, end=at(5)))
    site.engine.wait_running("task-1")
    second.deliver_order(order(2, end=at(5)))

    second.stop(0)

    assert second.join(DEADLINE_S)
    assert not first.ended
    site.close()


def test_an_overlord_away_is_asked_again_until_it_answers(site: Site) -> None:
    """Source: faults F1."""
    site.overlord.fail(OverlordUnavailable("nobody leads"))
    [runner] = site.run("task-1")
    runner.deliver_order(order(2, end=at(5)))
    assert runner.wait_until(lambda s: s.tries > 3, DEADLINE_S)
    reported = runner.report()
    assert reported.phase is TaskPhase.PUBLISHING
    assert "nobody leads" in reported.detail

    site.overlord.fail(None)

    reaches(runner, TaskPhase.SUCCESS)


def test_a_publish_that_is_refused_for_good_fails_its_task(site: Site) -> None:
    """Goal: the range is read anew, and people see why; nothing is asked again for ever."""
    site.overlord.fail(OverlordRefused("413 at most 16777216 bytes are taken"))
    [runner] = site.run("task-1")
    runner.deliver_order(order(2, end=at(5)))

    reported = reaches(runner, TaskPhase.FAILED)
    assert reported.failure is FailureCode.REFUSED
    assert "413 at most" in reported.detail


@pytest.mark.parametrize("heard", [True, False])
def test_an_unanswered_publish_is_a_stall_only_while_the_overlord_answers_otherwise(
    site: Site, *, heard: bool
) -> None:
    site.overlord_answers = heard
    site.overlord.fail(OverlordUnavailable("500 a bug"))
    [runner] = site.run("task-1")
    runner.deliver_order(order(2, end=at(5)))

    assert runner.wait_until(lambda s: s.tries > 3, DEADLINE_S)

    assert (runner.report().stalled_for > timedelta(0)) is heard


def test_a_publish_of_a_fenced_worker_is_told_to_the_worker(site: Site) -> None:
    site.overlord.fail(Fenced("a newer one"))
    [runner] = site.run("task-1")
    runner.deliver_order(order(2, end=at(5)))

    assert site.fenced.wait(DEADLINE_S)
    assert site.overlord.published == []


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (TaskError(FailureCode.READ_FAILED, "gone"), FailureCode.READ_FAILED),
        (OSError(28, "no space left"), FailureCode.WRITE_FAILED),
        (KeyError("a bug"), FailureCode.INTERNAL),
    ],
)
def test_what_the_engine_raises_fails_its_task_alone(
    site: Site, failure: Exception, code: FailureCode
) -> None:
    site.engine.failure = failure
    [runner] = site.run("task-1")
    assert reaches(runner, TaskPhase.FAILED).failure is code
    site.engine.failure = None

    [_, other] = site.run("task-1", "task-2")

    assert other.wait_until(position_is(5), DEADLINE_S)


def test_a_job_that_fails_because_the_engine_died_does_not_fail_its_task(site: Site) -> None:
    """Goal: the restarted worker goes on from the journal; nothing is read twice for a dead JVM."""
    site.alive = False
    site.engine.failure = ConnectionError("answer from Java side is empty")
    [runner] = site.run("task-1")

    assert runner.wait_until(lambda s: "process has ended" in s.note, DEADLINE_S)
    assert runner.report().failure is None


def test_kafka_lost_in_the_middle_of_a_batch_is_tried_again(site: Site) -> None:
    site.engine.failure = StreamTimeout("no broker")
    [runner] = site.run("task-1")
    assert runner.wait_until(lambda s: s.tries > 2, DEADLINE_S)
    assert "no broker" in runner.report().detail
    site.engine.failure = None

    assert runner.wait_until(position_is(5), DEADLINE_S)


def test_a_task_waits_for_its_schemas_and_says_so(site: Site) -> None:
    """Goal: a silent registry fails no task; its name for it crosses the seam as a code."""
    site.engine.failure = SchemasUnavailable("the schema registry does not answer: 503")
    [runner] = site.run("task-1")
    assert runner.wait_until(lambda s: s.tries > 2, DEADLINE_S)
    reported = runner.report()
    assert (reported.lacks, reported.failure, reported.position) == (
        Lack.SCHEMA_REGISTRY,
        None,
        at(0),
    )
    assert "503" in reported.detail
    site.engine.failure = None

    assert runner.wait_until(position_is(5), DEADLINE_S)
    assert runner.report().lacks is None


def test_a_stopped_task_keeps_its_journal_and_leaves_no_thread(site: Site) -> None:
    [runner] = site.run("task-1")
    assert runner.wait_until(position_is(5), DEADLINE_S)

    runner.stop(0)

    assert runner.join(DEADLINE_S)
    assert site.journal_of("task-1") == [(0, 5)]


def test_a_journal_that_cannot_be_written_fails_the_task(site: Site) -> None:
    site.engine.hold()
    [runner] = site.run("task-1")
    site.engine.wait_running("task-1")
    with suppress(FileNotFoundError):
        path = site.folder / "journal" / "task-1.jsonl"
        path.unlink()
        path.mkdir()
    site.engine.release()

    reported = reaches(runner, TaskPhase.FAILED)
    assert (reported.failure, reported.position) == (FailureCode.WRITE_FAILED, at(0))


def test_the_journal_is_cut_before_the_files_of_its_tail_go(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a crash between the two leaves files that nothing names, never names without files."""
    site.log.stable = at(5)
    [runner] = site.run("task-1")
    wait_until(lambda: site.journal_of("task-1") == [(0, 5)])
    journals: list[list[tuple[int, int]]] = []
    drop = site.engine.drop

    def dropping(task_id: str, entries: Sequence[JournalEntry]) -> None:
        journals.append(site.journal_of(task_id))
        drop(task_id, entries)

    monkeypatch.setattr(site.engine, "drop", dropping)
    runner.deliver_order(order(2, end=at(3)))

    wait_until(lambda: bool(journals))
    assert journals[0] == []
