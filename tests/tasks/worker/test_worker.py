"""A whole worker: real folder, real port, real threads; engine, log and overlord in memory.

Slow: a whole worker starts in most of its tests, and ends by deadlines.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tasks.contract.ids import is_safe_name
from tasks.contract.messages import FailureCode, TaskPhase
from tasks.ports import Fenced
from tasks.worker.worker import DataFolderBusy, locked_folder
from tests.tasks.memory import (
    DEADLINE_S,
    DOWN,
    at,
    desired,
    order,
    pause,
)
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    before = set(threading.enumerate())
    folder = tmp_path / "worker"  # a name that leads out of it leads to where only this test writes
    folder.mkdir()
    new_site = Site(folder)
    yield new_site
    new_site.engine.release()
    new_site.overlord.fail(None)
    new_site.end()
    # Its own threads only: other tests of the session may have servers of theirs.
    wait_until(lambda: not [t.name for t in threading.enumerate() if t not in before])


def test_a_worker_runs_what_is_listed_and_reports_it(site: Site) -> None:
    site.overlord.list(desired("task-1"))
    site.start()

    reported = site.overlord.wait_report("task-1", lambda r: r.position == at(5))

    assert (reported.phase, reported.counters.processed) == (TaskPhase.READING, 5)


def test_a_whole_handoff_goes_by_syncs_alone(site: Site) -> None:
    """Source: protocol rule P5: every handoff succeeds without the control API."""
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.send("task-1", pause(2))
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.PAUSED)
    site.log.stable = at(99)

    site.overlord.send("task-1", order(3, end=at(5)))

    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.SUCCESS)
    assert site.overlord.published[0].end == at(5)
    site.overlord.wait_for(lambda o: len(o.reports()) == 1)
    site.overlord.list()
    site.overlord.wait_for(lambda o: not o.reports())
    assert site.journals() == set()


def test_a_task_that_is_listed_no_more_is_reported_until_its_thread_has_ended(
    site: Site,
) -> None:
    site.engine.hold(deaf=True)
    site.overlord.list(desired("task-1"))
    site.start()
    site.engine.wait_running("task-1")

    site.overlord.list()
    heard = len(site.overlord.requests)
    site.overlord.wait_for(lambda o: len(o.requests) > heard + 3)
    assert [report.task_id for report in site.overlord.reports()] == ["task-1"]
    assert site.journals() == {"task-1"}

    site.engine.release()
    site.overlord.wait_for(lambda o: not o.reports())
    assert site.journals() == set()


def test_a_task_listed_again_after_it_was_stopped_is_lost(site: Site) -> None:
    """Goal: this incarnation never gives a file name twice."""
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.overlord.list()
    site.overlord.wait_for(lambda o: not o.reports())

    site.overlord.list(desired("task-1"))

    reported = site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.FAILED)
    assert reported.failure is FailureCode.JOURNAL_LOST


def test_tasks_read_on_while_no_overlord_answers(site: Site) -> None:
    """Source: protocol rule P6, faults F1."""
    site.overlord.list(desired("task-1"))
    worker = site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.overlord.fail(DOWN)
    site.log.stable = at(50)

    headers = {"Authorization": "Bearer token of task-1"}
    current = f"{worker.url}/druid/worker/v1/chat/task-1/offsets/current"
    wait_until(lambda: httpx.get(current, headers=headers).json() == {"0": 50})

    site.overlord.fail(None)
    site.overlord.wait_report("task-1", lambda r: r.position == at(50))


def test_a_stopped_worker_leaves_its_journals_and_the_next_one_goes_on(site: Site) -> None:
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))

    assert site.end() == 0
    last = site.overlord.requests[-1]
    assert (last.stopping, [r.position for r in last.tasks]) == (True, [at(5)])

    site.log.stable = at(8)
    site.overlord.list(desired("task-1", taken_up=True))
    site.start()
    reported = site.overlord.wait_report("task-1", lambda r: r.position == at(8))
    assert reported.counters.processed == 8
    assert site.overlord.requests[-1].incarnation > last.incarnation


def test_a_stop_cancels_a_batch_that_would_hold_it_up(site: Site) -> None:
    site.engine.hold()
    site.overlord.list(desired("task-1"))
    site.start()
    site.engine.wait_running("task-1")

    assert site.end() == 0
    assert site.engine.files == set()


def test_a_stop_does_not_wait_for_ever(site: Site) -> None:
    """Source: faults B15."""
    site.engine.hold(deaf=True)
    site.overlord.list(desired("task-1"))
    site.start()
    site.engine.wait_running("task-1")

    assert site.end() == 0


def test_journals_of_tasks_that_are_listed_no_more_are_deleted_at_the_start(site: Site) -> None:
    site.overlord.list(desired("task-1"), desired("task-2"))
    site.start()
    for task_id in ("task-1", "task-2"):
        site.overlord.wait_report(task_id, lambda r: r.position == at(5))
    site.end()
    assert site.journals() == {"task-1", "task-2"}

    site.overlord.list(desired("task-2", taken_up=True))
    site.start()

    site.overlord.wait_report("task-2", lambda r: r.position == at(5))
    wait_until(lambda: site.journals() == {"task-2"})


def test_no_journal_is_deleted_before_an_overlord_has_answered(site: Site) -> None:
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.end()
    heard = len(site.overlord.requests)
    site.overlord.fail(DOWN)

    site.start()
    site.overlord.wait_for(lambda o: len(o.requests) > heard + 3)

    assert site.journals() == {"task-1"}


@pytest.mark.parametrize("damage", ["missing", "damaged", "other start"])
def test_a_task_taken_up_without_its_journal_is_lost(site: Site, damage: str) -> None:
    """Source: protocol rules P7, P20."""
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.end()
    path = site.folder / "journal" / "task-1.jsonl"
    if damage == "missing":
        path.unlink()
    elif damage == "damaged":
        path.write_bytes(b"x" + path.read_bytes())
    start = at(1) if damage == "other start" else at(0)

    site.overlord.list(desired("task-1", taken_up=True, start=start))
    site.start()

    reported = site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.FAILED)
    assert reported.failure is FailureCode.JOURNAL_LOST


def test_a_fenced_worker_stops_everything_at_once(site: Site) -> None:
    """Source: protocol rule P7, faults B9."""
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.engine.hold()
    site.log.stable = at(9)
    site.engine.wait_running("task-1")
    before = set(site.engine.files)

    site.overlord.fail(Fenced("incarnation 2 registered"))

    site.thread.join(DEADLINE_S)
    assert site.code == 1
    assert site.engine.files == before
    assert site.journals() == {"task-1"}


def test_a_dead_engine_ends_the_worker_and_fails_no_task(site: Site) -> None:
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))

    site.alive = False

    site.thread.join(DEADLINE_S)
    assert site.code == 1
    assert all(report.failure is None for report in site.overlord.reports())
    assert site.journals() == {"task-1"}


def test_a_worker_tells_how_it_ended_before(site: Site) -> None:
    """Source: faults.md B12."""

    def previous_end(incarnation: int) -> str:
        site.start()
        requests = site.overlord.requests
        site.overlord.wait_for(lambda _: any(r.incarnation == incarnation for r in requests))
        return requests[-1].previous_end

    first = previous_end(1)
    site.end()
    second = previous_end(2)
    site.alive = False
    site.thread.join(DEADLINE_S)
    site.alive = True
    third = previous_end(3)

    assert [first, second, third] == ["", "stopped", "engine died: with code 137"]


@pytest.mark.parametrize(
    "name", ["../up", "a/b", "", ".hidden", "a..b", "trailing.", "x" * 201, "a b", "a\0", "ä"]
)
@pytest.mark.parametrize("which", ["task", "data source"])
def test_a_name_that_leads_out_of_its_folder_is_refused(site: Site, name: str, which: str) -> None:
    task = desired(name) if which == "task" else desired("task-1", data_source=name)
    before = sorted(site.folder.parent.rglob("*"))
    site.overlord.list(task)
    site.start()

    reported = site.overlord.wait_report(task.task_id, lambda r: r.phase is TaskPhase.FAILED)
    assert reported.failure is FailureCode.REFUSED
    site.overlord.list()
    site.overlord.wait_for(lambda o: not o.reports())

    created = set(site.folder.parent.rglob("*")) - set(before)
    logs = {"task-logs", "task-1.key"}
    assert {p.name for p in created} <= {"journal", "incarnation", "last-end"} | logs
    assert site.engine.files == set()


def test_usual_names_are_safe() -> None:
    names = ["clicks", "index_kafka_clicks_0123456789abcde_abcdefgh", "a.b-c_D", "0"]
    assert all(is_safe_name(name) for name in names)


def test_two_workers_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        locked_folder(tmp_path),
        pytest.raises(DataFolderBusy, match=str(tmp_path)),
        locked_folder(tmp_path),
    ):
        pass
    with locked_folder(tmp_path):
        pass


PROGRAM = """
import sys
from pathlib import Path
from tasks.worker.options import WorkerOptions
from tasks.worker.worker import WorkerPorts, run_worker
from tests.tasks.memory import MemoryEngine, MemoryLog, MemoryOverlord, at, desired

class Told(MemoryOverlord):
    def sync(self, request):
        for task in request.tasks:
            if task.position == at(5):
                sys.stderr.write(f"read {request.incarnation} {request.stopping}\\n")
        return super().sync(request)

overlord = Told()
overlord.list(desired("task-1", taken_up=sys.argv[2] == "again"))
options = WorkerOptions("w", Path(sys.argv[1]), "warehouse", ("http://o",), port=0)
outside = WorkerPorts(MemoryEngine(), MemoryLog(at(0), at(5)), overlord)
sys.exit(run_worker(options, outside))
"""


@pytest.mark.chaos
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_real_process_that_ends_is_gone_on_from(tmp_path: Path, number: int) -> None:
    incarnations = []
    for turn in ("first", "again"):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path), turn],
            stdout=subprocess.DEVNULL,  # the log
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
            env=dict(os.environ),
        )
        assert process.stderr is not None
        line = next(iter(line for line in process.stderr if line.startswith("read")))
        incarnations.append(int(line.split()[1]))
        process.send_signal(number)
        rest = process.communicate(timeout=DEADLINE_S)[1]
        graceful = number == signal.SIGTERM
        assert process.returncode == (0 if graceful else -number)
        assert (f"read {incarnations[-1]} True" in rest) == graceful
    assert incarnations[0] < incarnations[1]


@pytest.mark.parametrize("ended", ["_alarm", "_watch", "_sync", "_server"])
def test_a_worker_ends_with_a_thread_that_it_cannot_do_without(site: Site, ended: str) -> None:
    """Goal: a process that only looks alive is nobody's to restart; the journals stay."""
    site.overlord.list(desired("task-1"))
    worker = site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))

    getattr(worker, ended).close()  # its thread ends, and nobody asked the worker to

    wait_until(lambda: site.code == 1)
    assert site.journals() == {"task-1"}
