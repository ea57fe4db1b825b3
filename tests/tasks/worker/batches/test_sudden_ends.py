"""A record ends the engine's process each time it is read: it is found, and the others go on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import pytest

from tasks.contract.messages import Counters, DesiredTask
from tasks.ports import BatchJob, Care, JournalEntry
from tasks.worker.batches.notes import BatchNotes
from tasks.worker.journal import journals_below
from tasks.worker.worker import WorkerPorts
from tests.tasks.memory import DEADLINE_S, P0, MemoryEngine, MemoryLog, at, desired
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until

DEADLY = 37
RECORDS = 60


class DeadlyEngine(MemoryEngine):
    """An engine that ends its process when it reads one offset of one task."""

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self.task_id = task_id
        self.site: Site | None = None
        self.cares: list[Care] = []
        self.crowded: list[Care] = []
        """Care of each batch that was to run alone, and did not."""
        self.ends = 0
        self._lock, self._jobs, self._unseen = Lock(), 0, 0

    def lives(self) -> bool:
        """Whether the process runs; a moment after its end it still seems to."""
        assert self.site is not None
        with self._lock:
            self._unseen, seems = max(0, self._unseen - 1), self._unseen > 0
            return seems or self.site.alive

    def read_batch(self, job: BatchJob) -> JournalEntry:
        with self._lock:
            self._jobs += 1
            self.cares.append(job.care)
            if job.care.exclusive and self._jobs > 1:
                self.crowded.append(job.care)
        try:
            return self._read(job)
        finally:
            with self._lock:
                self._jobs -= 1

    def _read(self, job: BatchJob) -> JournalEntry:
        assert self.site is not None
        if not self.site.alive:
            raise RuntimeError("the process has ended")
        if job.care is Care.SKIP:
            rejects = Counters(unparseable=1, rejected={"too-large": 1})
            return super().read_batch(job).model_copy(update={"counters": rejects, "files": ()})
        if job.task_id == self.task_id and job.start[P0] <= DEADLY < job.end[P0]:
            self.site.alive = False
            self.ends += 1
            self._unseen = 1
            raise RuntimeError("the process has ended")
        return super().read_batch(job)


@dataclass
class DeadlySite(Site):
    """A machine whose worker has such an engine."""

    def outside(self) -> WorkerPorts:
        assert isinstance(self.engine, DeadlyEngine)
        return replace(super().outside(), engine_alive=self.engine.lives)


@dataclass
class Machine:
    """A worker that is started again each time it ends."""

    site: Site
    engine: DeadlyEngine
    tasks: tuple[DesiredTask, ...]
    whys: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        """Run until all tasks have read everything."""
        for _ in range(30):
            self.site.alive = True
            self.site.start()
            wait_until(lambda: self.site.code is not None or self._all_read())
            if self.site.code is None:
                return
            assert self.site.code == 1
            self._note()
            taken_up = [t.model_copy(update={"taken_up": True}) for t in self.tasks]
            self.site.overlord.list(*taken_up)
        raise AssertionError(f"it ended {self.engine.ends} times")

    def _note(self) -> None:
        reports = [r for each in self.site.overlord.requests for r in each.tasks]
        self.whys = Counter(f"{r.task_id}: {r.suspect}" for r in reports if r.suspect)

    def _all_read(self) -> bool:
        positions = {r.task_id: r.position for r in self.site.overlord.reports()}
        return positions == {task.task_id: at(RECORDS) for task in self.tasks}

    def journal(self, task: DesiredTask) -> list[JournalEntry]:
        journal = journals_below(self.site.folder).open(task)
        assert journal is not None
        return list(journal.held.entries)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    heavy = desired("task-1")
    other = desired("task-2").model_copy(update={"supervisor_id": "views"})
    engine = DeadlyEngine("task-1")
    site = DeadlySite(tmp_path, engine, MemoryLog(at(0), at(RECORDS)))
    engine.site = site
    site.overlord.list(heavy, other)
    yield Machine(site, engine, (heavy, other))
    site.end()
    site.thread.join(DEADLINE_S)


def offsets(entries: list[JournalEntry]) -> list[int]:
    return [offset for e in entries for offset in range(e.start[P0], e.end[P0])]


def test_one_deadly_record_is_skipped_and_all_others_are_read_once(machine: Machine) -> None:
    """Goal: a worker that would end for ever finds the record; the other table goes on."""
    machine.run()

    heavy, other = (machine.journal(task) for task in machine.tasks)
    assert offsets(heavy) == offsets(other) == list(range(RECORDS))
    assert [offsets([e]) for e in heavy if e.counters.rejected] == [[DEADLY]]
    assert not [e for e in other if e.counters.rejected]
    assert machine.engine.crowded == []
    assert machine.engine.ends <= 12
    assert {Care.ALONE, Care.RECORDS, Care.SKIP} <= set(machine.engine.cares)


def test_the_task_that_is_to_blame_is_named_and_no_other(machine: Machine) -> None:
    machine.run()

    assert machine.whys
    assert all(why.startswith("task-1: the JVM of the worker ended") for why in machine.whys)


def test_a_worker_that_was_stopped_suspects_nothing(tmp_path: Path) -> None:
    """Goal: a SIGTERM is no sign of a heavy record, also in the middle of a batch."""
    site = Site(tmp_path)
    site.engine.hold()
    site.overlord.list(desired("task-1"))
    site.start()
    site.engine.wait_running("task-1")

    site.end()

    assert BatchNotes(tmp_path).suspects_of("clicks") == ()
    assert not list((tmp_path / "running").glob("*"))


def test_a_process_that_was_killed_leaves_its_running_batches_as_suspects(tmp_path: Path) -> None:
    """Goal: the kernel may end worker and JVM together when memory is short."""
    site = Site(tmp_path)
    site.engine.hold()
    site.overlord.list(desired("task-1"))
    site.start()
    site.engine.wait_running("task-1")

    [suspect] = BatchNotes(tmp_path).suspects_of("clicks")

    assert (suspect.start, suspect.end, suspect.ends) == (at(0), at(5), 1)
    site.engine.release()
    site.end()


@pytest.mark.parametrize("content", [b"", b"{", b'{"suspects": [{}]}'])
def test_a_damaged_file_of_suspects_stops_no_worker(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "suspects.json").write_bytes(content)
    (tmp_path / "running").mkdir()
    (tmp_path / "running" / "task-1.json").write_bytes(content)

    assert BatchNotes(tmp_path).suspects_of("clicks") == ()


def test_a_batch_that_fails_while_the_engine_lives_is_no_suspect_later(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.engine.failure = RuntimeError("a bug")
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.failure is not None)

    site.alive = False
    site.thread.join(DEADLINE_S)

    assert site.code == 1
    assert BatchNotes(tmp_path).suspects_of("clicks") == ()
