"""Who calls the sender holds nothing: no lock, no job of the engine; a whole worker, watched.

So nothing that reads, pauses, publishes or stops a task can wait for a report.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tasks.contract.messages import TaskPhase
from tasks.reporting.record import RecordType, ReportRecord
from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogTail
from tasks.sending.sender import Sender
from tasks.sending.spool import Spool
from tasks.sending.transport import Outgoing
from tasks.worker.reporting import reporter as reporting
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.worker import WorkerPorts
from tests.environment.burdens import Burdens
from tests.tasks.memory import MemoryEngine, at, desired, order, pause
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until

_CALLS = {"Sender.offer", "Spool.append", "Spool.next", "Spool.sent", "_Topic.send"}
_CALLS |= {"LogTail.begin", "HeldLogs.send"}
_THREADS = {"report-tasks", "report-writer", "report-shipper", "report-notes"}


class _Topic:
    """A transport that keeps the kinds of what it is given."""

    refused_total = 0

    def __init__(self) -> None:
        self.kinds: list[RecordType] = []

    def send(self, batch: Sequence[Outgoing]) -> None:
        self.kinds += [ReportRecord.from_json(each.body).type for each in batch]

    def close(self) -> None:
        """Hold nothing."""


@dataclass
class _ReportingSite(Site):
    """A machine whose worker reports."""

    topic: _Topic = field(default_factory=_Topic)

    def outside(self) -> WorkerPorts:
        reports = WorkerReports(self.folder, "w-1", self.topic)
        return WorkerPorts(self.engine, self.log, self.overlord, reports=reports)


@pytest.fixture
def burdens(monkeypatch: pytest.MonkeyPatch) -> Burdens:
    """What threads hold, and the calls of the sender that are noted with it."""
    burdens = Burdens()
    burdens.watch_locks(monkeypatch)
    burdens.during(monkeypatch, MemoryEngine, "read_batch", "merge", "drop")
    for owner, name in ((Sender, "offer"), (_Topic, "send")):
        burdens.before(monkeypatch, owner, name)
    for name in ("append", "next", "sent"):
        burdens.before(monkeypatch, Spool, name)
    burdens.before(monkeypatch, LogTail, "begin")
    burdens.before(monkeypatch, HeldLogs, "send")
    monkeypatch.setattr(reporting, "PROGRESS_S", 0.01)
    return burdens


@pytest.fixture
def site(tmp_path: Path, burdens: Burdens) -> Iterator[_ReportingSite]:
    """A machine whose worker is made while locks are watched."""
    del burdens
    site = _ReportingSite(tmp_path)
    yield site
    site.engine.release()
    site.end()


def test_no_call_of_the_sender_comes_from_a_thread_that_holds_anything(
    burdens: Burdens, site: _ReportingSite
) -> None:
    """Goal: one task succeeds, one is taken away while it reads, all with progress."""
    site.overlord.list(desired("task-1"), desired("task-2"))
    site.start()
    for task in ("task-1", "task-2"):
        site.overlord.wait_report(task, lambda r: r.position == at(5))
    wait_until(lambda: RecordType.PROGRESS in site.topic.kinds)
    site.overlord.send("task-1", pause(2))
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.PAUSED)
    site.log.stable = at(99)
    site.overlord.send("task-1", order(3, end=at(5)))
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.SUCCESS)
    site.overlord.list()
    site.overlord.wait_for(lambda o: not o.reports())
    wait_until(lambda: RecordType.TASK_REPORT in site.topic.kinds)
    site.end()

    assert burdens.burdened() == []
    assert {call for call, _, _ in burdens.calls} == _CALLS
    assert {thread for _, thread, _ in burdens.calls} == _THREADS


def test_a_call_with_a_burden_is_seen(
    burdens: Burdens, site: _ReportingSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is planted: the roster and the engine report by themselves."""
    worker = site.start()
    spool = Spool(site.folder / "another")
    engine, roster = site.engine, worker._roster
    monkeypatch.setattr(engine, "drop", lambda *_: None)
    with roster._lock:
        spool.append([b"{}"])
    with burdens.held("MemoryEngine.read_batch"):
        spool.append([b"{}"])

    assert [held for call, _, held in burdens.burdened()] == [
        ["a lock of tasks.worker.roster"],
        ["MemoryEngine.read_batch"],
    ]
