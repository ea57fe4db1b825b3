"""The exchange with the overlord when answers overtake each other."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Event

import pytest
from structlog.testing import capture_logs

from supervisor.api.http.edge import INTERNAL_SIZE_BYTES_MAX
from tasks.contract.messages import (
    CompactedFile,
    CompactionReport,
    DesiredCompaction,
    DesiredTask,
    PublishAnswer,
    PublishRequest,
    RejectSample,
    SyncRequest,
    SyncResponse,
    TaskPhase,
    TaskReport,
)
from tasks.contract.sample import DesiredSample, SampleAnswer
from tasks.worker.compaction import Compactor
from tasks.worker.incarnations import Incarnation
from tasks.worker.journal import journals_below
from tasks.worker.options import WorkerOptions
from tasks.worker.roster import Roster
from tasks.worker.sampler import WorkerSamples
from tasks.worker.sync import Sync
from tests.tasks.memory import DEADLINE_S, at, desired, order
from tests.tasks.orders import compaction
from tests.tasks.worker.test_runner import QUICK, Site
from tests.waiting import wait_until


@dataclass
class HandOverlord:
    """Answers a request when the test says so, with what the test says."""

    waiting: dict[int, SyncRequest] = field(default_factory=dict)
    answers: dict[int, SyncResponse] = field(default_factory=dict)
    closed: bool = False
    changed: Condition = field(default_factory=Condition)

    def sync(self, request: SyncRequest) -> SyncResponse:
        with self.changed:
            self.waiting[request.sequence] = request
            self.changed.notify_all()
            number = request.sequence
            done = self.changed.wait_for(lambda: number in self.answers or self.closed, DEADLINE_S)
            assert done, "the test forgot a request"
            del self.waiting[number]
            self.changed.notify_all()
            return self.answers.get(number) or SyncResponse(term=0, revision="", tasks=())

    def publish(self, task: DesiredTask, request: PublishRequest) -> PublishAnswer:
        raise AssertionError(f"{task.task_id} asked to publish {request.end}")

    def publish_compaction(self, order: DesiredCompaction, file: CompactedFile) -> PublishAnswer:
        raise AssertionError(f"{order.compaction_id} asked to publish {file.file.path}")

    def answer_sample(self, order: DesiredSample, answer: SampleAnswer) -> None:
        raise AssertionError(f"{order.sample_id} was answered: {answer}")

    def next_request(self, *, long: bool) -> SyncRequest:
        """Return the request of the long poll, or of the reporter, that waits for its answer."""

        def found() -> list[SyncRequest]:
            return [r for r in self.waiting.values() if bool(r.wait) == long]

        with self.changed:
            assert self.changed.wait_for(found, DEADLINE_S)
            return found()[0]

    def answer(self, request: SyncRequest, term: int, revision: str, *tasks: DesiredTask) -> None:
        self.send(request, SyncResponse(term=term, revision=revision, tasks=tasks))

    def send(self, request: SyncRequest, response: SyncResponse) -> None:
        with self.changed:
            self.answers[request.sequence] = response
            self.changed.notify_all()
            gone = self.changed.wait_for(lambda: request.sequence not in self.waiting, DEADLINE_S)
            assert gone

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()


@dataclass
class Desk:
    site: Site
    hand: HandOverlord
    compactor: Compactor
    sync: Sync
    fenced: Event

    def task_ids(self) -> set[str]:
        return {runner.desired.task_id for runner in self.site.roster.runners}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    site, hand, fenced = Site(tmp_path), HandOverlord(), Event()
    options = WorkerOptions("w", tmp_path, "warehouse", ("http://o",), limits=QUICK)
    compactor = Compactor(site.world, QUICK, 7)
    sync = Sync(
        options,
        hand,
        site.roster,
        compactor=compactor,
        sampling=WorkerSamples(site.world, None, options),
        url="http://w",
        life=Incarnation(tmp_path, 7),
        fenced=fenced.set,
        monotonic=site.world.monotonic,
    )
    threads = sync.start()
    yield Desk(site, hand, compactor, sync, fenced)
    sync.close()
    hand.close()
    for thread in threads:
        thread.join(DEADLINE_S)
        assert not thread.is_alive()
    compactor.close()
    assert compactor.join(DEADLINE_S)
    site.close()


def test_an_overtaken_answer_brings_its_orders_but_not_its_list(desk: Desk) -> None:
    long = desk.hand.next_request(long=True)
    short = desk.hand.next_request(long=False)
    older, newer = sorted([long, short], key=lambda r: r.sequence)
    desk.hand.answer(newer, 1, "b", desired("task-1"), desired("task-2"))
    wait_until(lambda: desk.task_ids() == {"task-1", "task-2"})

    desk.hand.answer(older, 1, "a", desired("task-1", first=order(5)), desired("task-3"))

    wait_until(lambda: desk.site.roster.runners[0].state.order.sequence == 5)
    assert desk.task_ids() == {"task-1", "task-2"}


def test_an_overtaken_answer_with_news_makes_the_reporter_ask_again(desk: Desk) -> None:
    long, short = desk.hand.next_request(long=True), desk.hand.next_request(long=False)
    older, newer = sorted([long, short], key=lambda r: r.sequence)
    desk.hand.answer(newer, 1, "b")
    desk.hand.answer(older, 1, "c", desired("task-1"))
    again = desk.hand.next_request(long=False)
    assert again.known == "b"

    desk.hand.answer(again, 1, "c", desired("task-1"))

    wait_until(lambda: desk.task_ids() == {"task-1"})


def test_an_answer_to_a_request_under_way_takes_no_task_back(desk: Desk) -> None:
    """Found by simulation, seeds 18 and 135: a task that had just been started was stopped.

    The long poll was answered first, with a new task; the report, sent later, had been answered
    before that task was there, and its answer came late.
    """
    long, short = desk.hand.next_request(long=True), desk.hand.next_request(long=False)
    older, newer = sorted([long, short], key=lambda r: r.sequence)
    desk.hand.answer(older, 1, "b", desired("task-1"))
    wait_until(lambda: desk.task_ids() == {"task-1"})

    desk.hand.answer(newer, 1, "a", desired("task-2"))
    probe = desk.hand.next_request(long=False)

    assert probe.known == "b"
    assert desk.task_ids() == {"task-1"}


def test_an_answer_of_a_lower_term_counts_for_nothing(desk: Desk) -> None:
    """Source: faults D2: a former leader speaks on."""
    first = desk.hand.next_request(long=False)
    desk.hand.answer(first, 2, "2-a", desired("task-1"))
    wait_until(lambda: desk.task_ids() == {"task-1"})
    wait_until(lambda: desk.hand.next_request(long=False).sequence > first.sequence)

    late = desired("task-1", first=order(99, term=3))
    desk.hand.answer(desk.hand.next_request(long=False), 1, "1-z", late, desired("task-9"))
    probe = desk.hand.next_request(long=False)

    assert desk.task_ids() == {"task-1"}
    assert desk.site.roster.runners[0].state.order.sequence == 1
    assert probe.known == "2-a"


def test_answers_of_an_earlier_term_are_told_of_once(desk: Desk) -> None:
    """Goal: after a restore of the database nobody wonders why a worker follows no order."""
    desk.hand.answer(desk.hand.next_request(long=False), 6, "6-a")
    with capture_logs() as lines:
        for _ in range(3):
            desk.hand.answer(desk.hand.next_request(long=False), 4, "4-a")
        desk.hand.next_request(long=False)

    notices = [line for line in lines if "not followed" in line["event"]]
    assert [(line["term"], line["follows"]) for line in notices] == [(4, 6)]


def test_a_higher_term_counts_even_for_an_older_request(desk: Desk) -> None:
    long, short = desk.hand.next_request(long=True), desk.hand.next_request(long=False)
    older, newer = sorted([long, short], key=lambda r: r.sequence)
    desk.hand.answer(newer, 1, "1-a", desired("task-1"))
    wait_until(lambda: desk.task_ids() == {"task-1"})

    desk.hand.answer(older, 2, "2-a", desired("task-2"))

    wait_until(lambda: desk.task_ids() == {"task-2"})


def answer_of(term: int, revision: str, *compaction_ids: str) -> SyncResponse:
    orders = tuple(compaction(compaction_id) for compaction_id in compaction_ids)
    return SyncResponse(term=term, revision=revision, tasks=(), compactions=orders)


def test_compactions_are_taken_from_the_answer_that_counts_alone(desk: Desk) -> None:
    """Goal: neither is one begun that was taken back, nor one cancelled that was just given."""
    desk.site.engine.hold()
    long, short = desk.hand.next_request(long=True), desk.hand.next_request(long=False)
    older, newer = sorted([long, short], key=lambda r: r.sequence)
    desk.hand.send(newer, answer_of(1, "b", "c-1"))
    desk.site.engine.wait_running("c-1")

    desk.hand.send(older, answer_of(1, "a", "c-2"))
    probe = desk.hand.next_request(long=False)

    assert probe.known == "b"
    assert probe.compactions == (CompactionReport(compaction_id="c-1"),)
    desk.hand.send(probe, answer_of(2, "2-a"))
    wait_until(lambda: not desk.compactor.reports())


def test_an_answer_of_a_lower_term_brings_no_compaction(desk: Desk) -> None:
    desk.site.engine.hold()
    long, short = desk.hand.next_request(long=True), desk.hand.next_request(long=False)
    desk.hand.send(long, answer_of(2, "2-a", "c-1"))
    desk.site.engine.wait_running("c-1")

    desk.hand.send(short, answer_of(1, "1-z", "c-1", "c-2"))
    desk.hand.send(desk.hand.next_request(long=False), answer_of(1, "1-y"))
    probe = desk.hand.next_request(long=False)

    assert [report.compaction_id for report in probe.compactions] == ["c-1"]


class Full(Roster):
    """Four tasks, each with as many rejected records as a spec may save, as long as they may be."""

    def reports(self) -> tuple[TaskReport, ...]:
        return tuple(self._full(f"task-{number}") for number in range(4))

    def _full(self, task_id: str) -> TaskReport:
        samples = tuple(
            RejectSample(
                topic="clicks",
                partition=0,
                offset=offset,
                reason="not-json",
                input="\x00" * 2_000,
                detail="x" * 2_000,
            )
            for offset in range(1_000)
        )
        return TaskReport(
            task_id=task_id,
            phase=TaskPhase.READING,
            order_term=1,
            order_sequence=1,
            position=at(1_000),
            samples=samples,
        )


def test_a_report_with_very_many_rejected_records_is_not_too_large_to_be_taken(
    desk: Desk, tmp_path: Path
) -> None:
    """Goal: a worker whose every report is refused would be lost, with all its tasks."""
    options = WorkerOptions("w", tmp_path, "warehouse", ("http://o",), limits=QUICK)
    full = Full(options, desk.site.world, journals_below(tmp_path), incarnation=7)
    last = LastWords()
    sync = Sync(
        options,
        last,
        full,
        compactor=desk.compactor,
        sampling=WorkerSamples(desk.site.world, None, options),
        url="http://w",
        life=Incarnation(tmp_path, 7),
        fenced=desk.fenced.set,
        monotonic=desk.site.world.monotonic,
    )

    sync.send_last_report()

    [request] = last.heard
    assert len(request.to_json().encode()) < INTERNAL_SIZE_BYTES_MAX
    for task in request.tasks:
        assert len(task.samples) > 50
        assert task.samples[-1].offset == 999, "the newest ones are kept"


@dataclass
class LastWords(HandOverlord):
    """Answers at once, and keeps what it heard."""

    heard: list[SyncRequest] = field(default_factory=list)

    def sync(self, request: SyncRequest) -> SyncResponse:
        self.heard.append(request)
        return SyncResponse(term=1, revision="a", tasks=())


def test_reports_that_cannot_be_gathered_for_a_while_end_no_loop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a worker whose reporter has ended would carry up no news for the rest of its life."""
    sound, failed = desk.site.roster.reports, Event()

    def fail() -> tuple[TaskReport, ...]:
        failed.set()
        raise KeyError("nobody foresaw it")

    short = desk.hand.next_request(long=False)
    monkeypatch.setattr(desk.site.roster, "reports", fail)
    desk.hand.answer(short, 1, "a")
    assert failed.wait(DEADLINE_S)
    monkeypatch.setattr(desk.site.roster, "reports", sound)

    assert desk.hand.next_request(long=False).sequence > short.sequence
