"""An engine that hangs: its job is cancelled and repeated, or the worker gives it up and ends."""

import threading
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from tasks.contract.messages import TaskPhase
from tasks.ports import MergeJob
from tasks.worker.options import WorkerOptions, limits_within
from tasks.worker.worker import WorkerPorts
from tests.tasks.memory import DEADLINE_S, MemoryEngine, at, desired, order, pause
from tests.tasks.worker.test_runner import QUICK
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until

IMPATIENT = replace(QUICK, progress_s=0.3, give_up_s=0.3)


class HangingEngine(MemoryEngine):
    """From `hang` on it answers nothing any more, until it is killed."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs = False
        self.cancels = 0
        self.killed = threading.Event()

    def hang(self) -> None:
        self.hangs = True
        self.hold(deaf=True)

    def cancel(self, task_id: str) -> None:
        self.cancels += 1
        if self.hangs:
            self.killed.wait(DEADLINE_S)
        super().cancel(task_id)

    def kill(self) -> None:
        self.killed.set()
        self.release()


@dataclass
class HangingSite(Site):
    """A worker whose engine may hang."""

    hanging: HangingEngine = field(default_factory=HangingEngine)
    unended: dict[str, float] = field(default_factory=dict)
    moves: bool = False
    _steps: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.engine = self.hanging

    def outside(self) -> WorkerPorts:
        return replace(
            super().outside(),
            kill_engine=self.hanging.kill,
            progress=lambda _: self._progress(),
            unended=lambda: self.unended,
        )

    def _progress(self) -> Hashable:
        return next(self._steps) if self.moves else None


@pytest.fixture
def site(tmp_path: Path) -> Iterator[HangingSite]:
    before = set(threading.enumerate())
    new_site = HangingSite(tmp_path, limits=IMPATIENT)
    yield new_site
    new_site.hanging.kill()
    new_site.overlord.fail(None)
    new_site.end()
    wait_until(lambda: not [t.name for t in threading.enumerate() if t not in before])


def test_a_job_that_hangs_is_cancelled_and_read_again(site: HangingSite) -> None:
    site.engine.hold()
    site.overlord.list(desired("task-1"))
    site.start()
    site.engine.wait_running("task-1")

    site.overlord.wait_report("task-1", lambda r: "showed no progress" in r.detail)
    site.engine.release()

    reported = site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    assert reported.failure is None
    assert site.code is None, "the worker runs on"


def test_an_engine_that_hangs_ends_the_worker_and_the_next_one_goes_on(site: HangingSite) -> None:
    """Goal: it answers not even the cancelling; the journal stays and nothing is read twice."""
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.hanging.hang()
    site.log.stable = at(9)

    site.thread.join(DEADLINE_S)
    assert site.code == 1
    assert site.hanging.killed.is_set()
    assert all(report.failure is None for report in site.overlord.reports())
    assert site.journals() == {"task-1"}

    site.engine = site.hanging = HangingEngine()
    site.overlord.list(desired("task-1", taken_up=True))
    site.start()
    reported = site.overlord.wait_report("task-1", lambda r: r.position == at(9))
    assert reported.counters.processed == 9


def test_a_thread_that_no_cancel_ends_ends_the_worker_which_names_its_sample(
    site: HangingSite,
) -> None:
    """Goal: the job has returned, so no runner misses it, and a thread of the engine is lost."""
    site.unended = {"sample-7": IMPATIENT.unended_s + 1}
    site.start()

    site.thread.join(DEADLINE_S)
    assert site.code == 1
    assert site.hanging.killed.is_set()
    ended = (site.folder / "last-end").read_text()
    assert ended.startswith("engine stuck: sample-7: the engine works on for it")


def test_a_thread_that_has_a_while_left_to_end_is_waited_for(site: HangingSite) -> None:
    site.unended = {"sample-7": IMPATIENT.unended_s - 0.01}
    site.overlord.list(desired("task-1"))
    site.start()

    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    heard = len(site.overlord.requests)
    site.overlord.wait_for(lambda o: len(o.requests) > heard + 3)
    assert site.code is None


def test_orders_are_taken_while_the_engine_hangs(site: HangingSite) -> None:
    """Goal: what an order has cancelled is asked of the engine by a thread of its own."""
    site.limits = replace(IMPATIENT, progress_s=DEADLINE_S, give_up_s=DEADLINE_S, pause_target_s=0)
    site.overlord.list(desired("task-1"))
    site.hanging.hang()
    site.start()
    site.engine.wait_running("task-1")

    site.overlord.send("task-1", pause(2))
    site.overlord.wait_report("task-1", lambda r: r.order_sequence == 2)
    wait_until(lambda: site.hanging.cancels > 0)
    site.overlord.send("task-1", order(3))

    site.overlord.wait_report("task-1", lambda r: r.order_sequence == 3)


def test_who_waits_for_others_to_finish_is_not_stuck(site: HangingSite) -> None:
    """Goal: one long merge, which moves, does not have the one behind it cancelled or blamed."""
    site.moves, site.slots = True, 1
    tasks = [desired("task-1"), desired("task-2")]
    site.overlord.list(*tasks)
    site.start()
    for task in tasks:
        site.overlord.wait_report(task.task_id, lambda r: r.position == at(5))
    site.engine.hold()
    ending = order(2, end=at(5))
    site.overlord.list(*(task.model_copy(update={"order": ending}) for task in tasks))
    assert isinstance(site.engine.wait_any(), MergeJob)

    long = 4 * IMPATIENT.progress_s
    finishing = {"task-1": 0.0, "task-2": 0.0}

    def both_waited() -> bool:
        for report in site.overlord.reports():
            assert report.stalled_for < timedelta(seconds=IMPATIENT.progress_s + 0.5)
            if report.phase is TaskPhase.FINISHING:
                finishing[report.task_id] = report.running_for.total_seconds()
        return min(finishing.values()) > long

    wait_until(both_waited)
    assert (site.hanging.cancels, site.code) == (0, None)
    site.engine.release()

    for task in tasks:
        site.overlord.wait_report(task.task_id, lambda r: r.phase is TaskPhase.SUCCESS)


def test_a_silent_broker_is_over_before_a_job_counts_as_stuck() -> None:
    """Source: protocol rule P21; a read asks a broker a few times in a row."""
    for seconds in (20, 60, 300, 3_600):
        overlords = timedelta(seconds=seconds)
        limits = limits_within(overlords)
        options = WorkerOptions("w", Path(), "warehouse", (), limits=limits)

        assert options.poll_timeout * 4 < timedelta(seconds=limits.progress_s)
        assert limits.progress_s + limits.give_up_s < seconds
