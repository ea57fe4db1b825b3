"""The worker process: locks its data folder, registers, runs tasks, ends in order.

    lock folder ─► new incarnation ─► control API ─► sync ─► tasks ... ─┬─ SIGTERM ──► exit 0
                                                                       ├─ fenced ───► exit 1
                                                                       └─ JVM died, or stuck: 1
The journals always stay, and the next incarnation goes on from them.
"""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread, current_thread, main_thread
from types import FrameType

import structlog

from tasks.durable_files import make_folder
from tasks.ports import Engine, OverlordClient, Sampler, Stream
from tasks.worker.alarm import Alarm
from tasks.worker.batches.notes import BatchNotes
from tasks.worker.compaction import Compactor
from tasks.worker.engine_watch import EndedJobs, Watch
from tasks.worker.finishing_slots import FinishingSlots
from tasks.worker.graceful_end import GracefulEnd
from tasks.worker.http.metrics import EngineProcess, WorkerCollector
from tasks.worker.http.server import ControlServer
from tasks.worker.incarnations import Incarnation, begin_life
from tasks.worker.journal import journals_below
from tasks.worker.options import WorkerOptions
from tasks.worker.reporting.compaction_notes import CompactionNotes
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.roster import Roster, reported
from tasks.worker.runner import Progress, StartThread, World, start_thread
from tasks.worker.sampler import WorkerSamples
from tasks.worker.sync import Sync

_AT_ONCE_S = 3.0
"""How long the worker waits for tasks that must stop at once."""


class DataFolderBusy(Exception):
    """Another worker process uses this data folder."""


class Reason(StrEnum):
    """Why a worker ends."""

    STOPPED = "stopped"
    FENCED = "fenced"
    ENGINE_DIED = "engine died"
    ENGINE_STUCK = "engine stuck"
    THREAD_ENDED = "thread ended"
    """A thread that the worker needs has ended; the process would only seem to live."""


@dataclass(frozen=True)
class WorkerPorts:
    """The outside dependencies of a worker."""

    engine: Engine
    stream: Stream
    overlord: OverlordClient
    sampler: Sampler | None = None
    """None: this worker takes no samples."""
    engine_alive: Callable[[], bool] = lambda: True
    """Whether the engine's process still runs."""
    engine_end: Callable[[], str] = lambda: ""
    """How the engine's process ended, in words."""
    engine_pid: Callable[[], int | None] = lambda: None
    """Process id of the engine; None: it has no process."""
    kill_engine: Callable[[], None] = lambda: None
    """Kill the engine's process, which no longer responds."""
    progress: Progress = lambda _: None
    """Progress of the running job of a task."""
    unended: Callable[[], Mapping[str, float]] = dict
    """Task or sample -> seconds for which the engine has worked on after its job was over."""
    start_thread: StartThread = start_thread
    """Spark needs threads of its own class for its job groups."""
    failpoint: Callable[[str], None] = lambda _: None
    """See `tasks/runtime/failpoints.py`."""
    logs: TaskLogs | None = None
    """The task logs that structlog fills; None: it fills none."""
    reports: WorkerReports | None = None
    """What outlives the worker; None: nothing is sent."""


@contextmanager
def locked_folder(data_dir: Path) -> Iterator[None]:
    """Lock `data_dir` for this process, until the body or the process ends.

    Raises:
        DataFolderBusy: another process holds the lock.
    """
    make_folder(data_dir)
    descriptor = os.open(data_dir / "worker.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            text = f"another worker uses the data folder {data_dir}: give each one its own"
            raise DataFolderBusy(text) from error
        yield
    finally:
        os.close(descriptor)


_END_MESSAGES = {
    Reason.FENCED: "fenced: a newer incarnation of this worker exists; stopping",
    Reason.ENGINE_DIED: "the engine's process died; stopping, the journals stay",
    Reason.ENGINE_STUCK: "engine stuck: it does not end a cancelled job; stopping, it is killed",
    Reason.THREAD_ENDED: "a thread of the worker ended by itself; stopping, the journals stay",
}


class Worker:
    """One incarnation, from registration to its end; `run` is called once."""

    def __init__(self, options: WorkerOptions, outside: WorkerPorts, life: Incarnation) -> None:
        self._options = options
        self._life = life
        self._outside = outside
        self._ends: SimpleQueue[Reason] = SimpleQueue()  # its `put` is safe in a signal handler
        self._stuck_at = ""
        self._gate = FinishingSlots(options.finishing)
        self._watch = Watch(
            lambda: self._roster.runners,
            cancel=outside.engine.cancel,
            progress=outside.progress,
            period_s=options.limits.look_s,
            ended=EndedJobs(outside.unended, self._stuck, options.limits.unended_s),
        )
        self._world = World(
            engine=outside.engine,
            stream=outside.stream,
            overlord=outside.overlord,
            gate=self._gate,
            changed=self._changed,
            fenced=lambda: self._ends.put(Reason.FENCED),
            stuck=self._stuck,
            cancel=self._watch.cancel,
            engine_alive=outside.engine_alive,
            overlord_answers=lambda: self._sync.is_answered,
            start_thread=outside.start_thread,
            failpoint=outside.failpoint,
            notes=BatchNotes(options.data_dir),
        )
        logs = outside.logs or TaskLogs(options.data_dir)
        self._roster = self._new_roster(logs)
        notes = CompactionNotes(logs, outside.reports)
        self._compactor = Compactor(self._world, options.limits, life.incarnation, notes)
        self._sampling = WorkerSamples(self._world, outside.sampler, options)
        self._server = ControlServer(options, self._roster, logs, self._collector(logs))
        self._alarm = Alarm(lambda: self._roster.runners, self._world.monotonic)
        self._threads: tuple[Thread, ...] = ()
        self._sync = Sync(
            options,
            outside.overlord,
            self._roster,
            compactor=self._compactor,
            sampling=self._sampling,
            url=self._server.url,
            life=life,
            fenced=self._world.fenced,
            monotonic=self._world.monotonic,
            meters=self._world.meters,
        )

    def _new_roster(self, logs: TaskLogs) -> Roster:
        return Roster(
            self._options,
            self._world,
            journals_below(self._options.data_dir),
            self._life.incarnation,
            logs=logs,
            reports=self._outside.reports,
        )

    def _collector(self, logs: TaskLogs) -> WorkerCollector:
        engine = EngineProcess(self._outside.engine_alive, self._outside.engine_pid)
        reports = self._outside.reports
        return WorkerCollector(
            self._roster,
            self._world.meters,
            slots=self._options.slots,
            life=self._life,
            engine=engine,
            reports=lambda: None if reports is None else reports.status(),
            unsent_logs=lambda: logs.unsent_total,
        )

    @property
    def url(self) -> str:
        """Base address of the control API, which answers once `run` was called."""
        return self._server.url

    def stop(self) -> None:
        """Request a graceful end; may be called from a signal handler."""
        self._ends.put(Reason.STOPPED)

    def run(self) -> int:
        """Work until an event ends the worker; return the exit code of the process."""
        self._outside.failpoint("worker:started")
        self._server.start()
        alarm = Thread(target=self._alarm.run, name="alarm", daemon=True)
        alarm.start()
        watch = self._world.start_thread("watch", self._watch.run)
        self._threads = (alarm, watch, *self._sync.start())
        if self._outside.reports is not None:
            self._outside.reports.start(
                lambda: map(reported, self._roster.runners), self._roster.may_write
            )
        structlog.get_logger().info("worker runs", worker=self._options.worker_id, url=self.url)
        try:
            reason = self._wait()
            code = self._end(reason)
            ended = (reason, self._stuck_at, self._outside.engine_end())
            self._life.end(": ".join(filter(None, ended)))
            return code
        finally:
            self._sync.close()
            self._alarm.close()
            self._watch.close()
            self._server.close()
            if self._outside.reports is not None:
                self._outside.reports.stop()

    def _stuck(self, why: str) -> None:
        structlog.get_logger().error("a cancelled job does not end", why=why)
        self._stuck_at = why
        self._ends.put(Reason.ENGINE_STUCK)

    def _changed(self) -> None:
        self._alarm.wake()
        self._sync.wake()

    def _wait(self) -> Reason:
        period = self._options.alive_period.total_seconds()
        while True:
            try:
                return self._ends.get(timeout=period)
            except Empty:
                if not self._outside.engine_alive():
                    return Reason.ENGINE_DIED
                if not self._serves() and self._ends.empty():  # else that is the reason
                    return Reason.THREAD_ENDED

    def _serves(self) -> bool:
        return self._server.serves and all(thread.is_alive() for thread in self._threads)

    def _end(self, reason: Reason) -> int:
        self._world.notes.close(engine_died=reason is Reason.ENGINE_DIED)
        log = structlog.get_logger().bind(worker=self._options.worker_id)
        if reason is not Reason.STOPPED:
            log.error(_END_MESSAGES[reason], how=self._outside.engine_end())
            if reason is Reason.ENGINE_STUCK:
                self._outside.kill_engine()  # a stuck engine responds to nothing else
            self._sync.close()
            self._roster.close(cancel_after_s=0)
            self._compactor.close()
            self._sampling.close()
            self._join(time.monotonic() + _AT_ONCE_S)
            return 1
        log.info("stopping at the next batch boundary")
        until = time.monotonic() + self._options.stop_timeout.total_seconds()
        leaving = GracefulEnd(
            self._options.stop_grace,
            self._sync,
            self._roster,
            compactor=self._compactor,
            sampling=self._sampling,
        )
        leaving.begin()
        left = self._join(until)
        leaving.finish()
        log.info("stopped", still_running=left)
        return 0

    def _join(self, until: float) -> int:
        """Wait for every thread of a task, compaction or sample; return how many run at `until`."""
        runners = (runner.join for runner in self._roster.runners)
        joins = (self._sampling.join, self._compactor.join, *runners)
        return [join(max(0.0, until - time.monotonic())) for join in joins].count(False)


def run_worker(options: WorkerOptions, outside: WorkerPorts) -> int:
    """Run one worker until SIGTERM or SIGINT, or until it must end; return its exit code.

    0: stopped on request.  1: fenced, the engine died or is stuck, or a thread of the worker
    ended; after a restart the tasks go on.

    Raises:
        DataFolderBusy: another worker uses the data folder.
        OSError: the folder cannot be written, or the port is taken.
    """
    with locked_folder(options.data_dir):
        life = begin_life(options.data_dir, time.time_ns() // 1_000_000)
        worker = Worker(options, outside, life)
        with _stopped_by_signals(worker.stop):
            return worker.run()


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    if current_thread() is not main_thread():  # only the main thread may handle signals
        yield
        return

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop()

    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, on_signal) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
