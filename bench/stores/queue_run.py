"""Event queues alone: what an event adds to a publish, what idle ones cost, closing many."""

import resource
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench.control_run import open_store
from bench.result import Spread, spread
from bench.stores.publish_run import History
from supervisor.adapters.clock import SystemClock
from supervisor.control.end_task import TaskEnder
from supervisor.core.model.rows import Task, TaskStatus, TaskTotals
from supervisor.core.queue.events import QueueConfig, QueuedEvent
from supervisor.eventqueue.handling import Context, EventDone, Handled
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.queues import EventQueues
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction

_WARM_UP = 40
_CLOSERS = 64
_REST_S, _REST_CPU_S = 0.5, 0.02


@dataclass(frozen=True)
class AddCost:
    """Milliseconds of publish transactions, with the cleanup event and without."""

    with_event: Spread
    without: Spread


@dataclass(frozen=True)
class Crowd:
    """Many queues of one process."""

    queues: int
    idle_cpu_s: float
    """Per minute, above that of the same process without queues."""
    threads: int
    """More than before, while all are open."""
    close_s: float


class _Silent(TaskEnder):
    """Ends tasks as before there were queues."""

    def end(
        self,
        tx: Transaction,
        task: Task,
        status: TaskStatus,
        reason: str,
        now: datetime,
        *,
        keep_files: bool = False,  # noqa: ARG002 -- it always keeps them
        lost: bool = False,
        totals: TaskTotals | None = None,
    ) -> bool:
        return tx.tasks.end(task.id, status, reason, now, lost=lost, totals=totals)


def measure_add(url: str, times: int) -> AddCost:
    """Publish by turns with and without the event, in one database."""
    with open_store(url) as (store, leadership):
        history = History(store, leadership)
        ways = (TaskEnder(QueueConfig()), _Silent(QueueConfig()))
        took: tuple[list[float], list[float]] = ([], [])
        for number in range(_WARM_UP + 2 * times):
            took[number % 2].append(history.publish(number, ways[number % 2]))
    drop = _WARM_UP // 2
    return AddCost(spread(took[0][drop:]), spread(took[1][drop:]))


def measure_crowd(folder: Path, queues: int, watch_s: float) -> Crowd:
    """Open queues that have been used once, let them rest, then close all of them at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with open_store(f"sqlite:///{folder}/queues-{queues}.db") as (store, leadership):
        before, bare_cpu = threading.active_count(), _cpu_over(watch_s)
        made = EventQueues(store, SystemClock(), leadership.term, Meters())
        made.start()
        opened = [made.for_consumer(f"supervisor:{n}", "work", _done) for n in range(queues)]
        with store.leading(leadership.term()) as tx:
            for each in opened:
                each.add(QueuedEvent("bench", "one"), tx=tx)
        while _waits(store) or _cpu_over(_REST_S) > _REST_CPU_S:
            pass
        cpu = _cpu_over(watch_s)
        threads = threading.active_count() - before
        began = time.perf_counter()
        with ThreadPoolExecutor(_CLOSERS) as pool:
            assert all(pool.map(lambda each: each.close(), opened))
        close_s = time.perf_counter() - began
        made.stop()
    return Crowd(queues, (cpu - bare_cpu) / watch_s * 60, threads, close_s)


def _done(events: Sequence[QueuedEvent], _: Context) -> Handled:
    return Handled([EventDone()] * len(events))


def _waits(store: SqlStore) -> bool:
    with store.reading() as tx:
        return bool(tx.events.waiting())


def _cpu_over(seconds: float) -> float:
    began = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(seconds)
    ended = resource.getrusage(resource.RUSAGE_SELF)
    return (ended.ru_utime + ended.ru_stime) - (began.ru_utime + began.ru_stime)
