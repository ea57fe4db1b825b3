"""Spark jobs of many tasks in one application: running, pools and cancelling.

Each run has a job group of its own.  Cancelling a group also refuses its later jobs, so a cancel
before a job, or between two jobs, counts as well.
"""

import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import Observation

from tasks.contract.messages import FailureCode
from tasks.ports import BatchCancelled, TaskError
from tasks.spark.session import SparkRuntime

_SETTLE_TIMEOUT_S = 2.0
_SETTLE_POLL_S = 0.02
_TASK_RUNNER = "org.apache.spark.executor.Executor$TaskRunner"

_OF_A_RUN = (
    "spark.jobGroup.id",
    "spark.job.description",
    "spark.job.interruptOnCancel",
    "spark.scheduler.pool",
)

_numbers = count(1)
"""Of all runs of this process: Spark refuses jobs of a cancelled group while the application lives,
so no other run may ever have its name."""


class Run:
    """One batch or merge of one task, while it runs."""

    def __init__(self, group: str) -> None:
        """`group`: the job group of the run."""
        self.group = group
        self.steps = 0
        """Steps of work outside Spark jobs: files described, copied, read for a digest."""
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Return whether the run was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Record that the run was cancelled."""
        self._cancelled.set()

    def check(self) -> None:
        """Return unless the run was cancelled.

        Raises:
            BatchCancelled: it was.
        """
        if self.cancelled:
            raise BatchCancelled(self.group)

    def step(self) -> None:
        """Count a step of work outside Spark jobs; return unless the run was cancelled.

        Raises:
            BatchCancelled: it was.
        """
        self.steps += 1  # only the run's own thread counts
        self.check()


@dataclass(frozen=True)
class _Ended:
    """A run that was cancelled, or failed, at a monotonic time."""

    task_id: str
    pool: str
    at: float


class Jobs:
    """The runs of one application."""

    def __init__(self, runtime: SparkRuntime) -> None:
        self._context = runtime.context
        self._parser_memory = runtime.parser_memory
        self._runs: dict[str, Run] = {}
        self._ended: dict[str, _Ended] = {}
        """Job group -> its run, while Spark may still work for it."""
        self._lock = threading.Lock()

    @contextmanager
    def run(self, task_id: str, pool: str) -> Iterator[Run]:
        """Make every job of the body, in this thread, part of one run of `task_id`.

        Afterwards the thread is free: its later jobs are not part of the run, cancelled or not.
        """
        run = Run(f"{task_id}/{next(_numbers)}")
        with self._lock:
            assert task_id not in self._runs, f"{task_id} runs already"
            self._runs[task_id] = run
        is_done = False
        try:
            self._context.setLocalProperty("spark.scheduler.pool", pool)
            self._context.setJobGroup(run.group, task_id, interruptOnCancel=True)
            yield run
            is_done = not run.cancelled
        finally:
            with self._lock:
                del self._runs[task_id]
                if not is_done:
                    self._ended[run.group] = _Ended(task_id, pool, time.monotonic())
            self._leave()

    def _leave(self) -> None:
        with suppress(Py4JError):  # the JVM is gone, and the thread's properties with it
            for name in _OF_A_RUN:
                self._context.setLocalProperty(name, None)  # type: ignore[arg-type]  # as documented
            self._parser_memory.bound()

    def cancel(self, task_id: str) -> None:
        """Cancel the present run of `task_id`; returns at once, also if there is none."""
        with self._lock:
            run = self._runs.get(task_id)
        if run is not None:
            run.cancel()
            self._context._jsc.sc().cancelJobGroupAndFutureJobs(run.group)  # noqa: SLF001

    def unended(self, pool: str | None = None) -> dict[str, float]:
        """Return task or sample -> seconds for which Spark has worked on after its run was over.

        A cancelled job returns at once, but a thread of Spark ends only when what it does looks for
        the cancel.  None: the runs of all pools.
        """
        with self._lock:
            ended = dict(self._ended)
        working: dict[str, float] = {}
        for group, run in ended.items():
            if not self._has_thread(self._active_stages(group)):
                with self._lock:
                    self._ended.pop(group, None)
            elif pool in {None, run.pool}:
                seconds = time.monotonic() - run.at
                working[run.task_id] = max(seconds, working.get(run.task_id, 0.0))
        return working

    def _active_stages(self, group: str) -> list[int]:
        tracker = self._context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        stages = [stage for job in jobs if job is not None for stage in job.stageIds]
        infos = [(stage, tracker.getStageInfo(stage)) for stage in stages]
        return [stage for stage, info in infos if info is not None and info.numActiveTasks]

    def _has_thread(self, stages: Sequence[int]) -> bool:
        """Return whether a thread works for one of the stages.

        Spark's count of active tasks stays too high if its listeners dropped an event.  So the
        threads themselves are looked at, unless they are those of another machine.
        """
        jvm, master = self._context._jvm, self._context.master  # noqa: SLF001 -- no public way
        assert jvm is not None
        assert master is not None
        if not stages or not master.startswith("local"):
            return bool(stages)
        names = tuple(f" in stage {stage}." for stage in stages)
        for thread, stack in jvm.java.lang.Thread.getAllStackTraces().items():
            # A thread without work keeps the name of the last task.
            if any(name in thread.getName() for name in names) and any(
                frame.getClassName() == _TASK_RUNNER for frame in stack
            ):
                return True
        return False

    def progress(self, task_id: str) -> Hashable:
        """Return a value that changes while the run of `task_id` moves; None if there is no run.

        It has jobs, tasks, rows, and the steps outside Spark jobs.  Rows of a running Spark task
        come with the executor's heartbeat, every ten seconds.
        """
        with self._lock:
            run = self._runs.get(task_id)
        if run is None:
            return None
        tracker = self._context.statusTracker()
        jobs = sorted(tracker.getJobIdsForGroup(run.group))
        infos = [tracker.getJobInfo(job) for job in jobs]
        stages = [stage for info in infos if info is not None for stage in info.stageIds]
        return (run.group, run.steps, *jobs, *(self._moved(stage) for stage in stages))

    def _moved(self, stage: int) -> Hashable:
        try:
            data = self._context._jsc.sc().statusStore().lastStageAttempt(stage)  # noqa: SLF001
        except Py4JJavaError:  # not begun, or forgotten
            return None
        return (
            data.numCompleteTasks(),
            data.numActiveTasks(),
            data.inputRecords(),
            data.memoryBytesSpilled(),
            data.outputRecords(),
        )

    def settle(self, run: Run) -> None:
        """Wait, within a bound, until no Spark task of a failed or cancelled run works any more.

        A cancelled job returns before its tasks have stopped, and a task that still writes may
        create its folder again after we have removed it.  A task inside a fetch stops only after
        the fetch, so the wait is bounded: a late task cannot commit, and leaves at most a
        `_temporary` folder, which the next try removes.
        """
        deadline = time.monotonic() + _SETTLE_TIMEOUT_S
        while time.monotonic() < deadline and self._active_stages(run.group):
            time.sleep(_SETTLE_POLL_S)


_METRIC_TIMEOUT_S = 60.0


def await_metric(observation: Observation, metric: str) -> str:
    """Return a metric of a job that has ended.

    It arrives by Spark's listeners, milliseconds later.  `Observation.get` would wait for ever
    if they dropped it; `getOrEmpty` waits a tenth of a second.
    """
    deadline = time.monotonic() + _METRIC_TIMEOUT_S
    while (metrics := observation._jo.getOrEmpty()).isEmpty():  # type: ignore[union-attr]  # noqa: SLF001 -- set by observe()
        if time.monotonic() > deadline:
            raise TaskError(FailureCode.INTERNAL, "Spark did not tell what the batch observed")
    return str(metrics.apply(metric))
