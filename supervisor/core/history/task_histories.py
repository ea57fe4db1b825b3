"""Samples of the counters of tasks, and rows per second of supervisors.

    syncs   ──► samples of each task that a worker reports ──┐
    passes  ──► which task reads which range ────────────────┴──► rows per second

What a worker reports no more counts for a minute still, so its samples stay for `KEPT_S`, and of at
most `MOST_ENDED` tasks.
"""

from collections.abc import Iterable, Mapping, Sequence

from supervisor.core.history.rates import (
    WINDOWS_S,
    RangeReader,
    SampleSeries,
    extended,
    row_rate,
    sample_of,
    trimmed,
)
from supervisor.core.model.rows import Task
from tasks.contract.messages import TaskReport

KEPT_S = 2 * WINDOWS_S["1m"]
"""Twice the window: the task that follows has samples of a whole window by then, after a gap too.
"""
MOST_ENDED = 20_000
Readers = Sequence[tuple[RangeReader, SampleSeries]]
"""The tasks of a supervisor with their samples; none: unheard of."""


class TaskHistories:
    """Keeps the samples of tasks; not safe from many threads by itself."""

    def __init__(self) -> None:
        self._series: dict[str, SampleSeries] = {}
        self._ended: dict[str, float] = {}
        """Task -> when its worker ceased to report it, in monotonic seconds, oldest first."""
        self._readers: dict[str, dict[str, RangeReader]] = {}
        """Supervisor -> its tasks that are active, or have samples still."""
        self._supervisor_of: dict[str, str] = {}

    def clear(self) -> None:
        """Forget all of it: a term begins."""
        for kept in (self._series, self._ended, self._readers, self._supervisor_of):
            kept.clear()

    def record(self, reports: Mapping[str, TaskReport], at_s: float) -> None:
        """Add a sample of each task that a worker reports."""
        for task_id, report in reports.items():
            self._ended.pop(task_id, None)
            sample = sample_of(report.counters, at_s)
            self._series[task_id] = extended(self._series.get(task_id, ()), sample)
        self._drop_old(at_s)

    def end(self, task_ids: Iterable[str], at_s: float) -> None:
        """Record that a worker reports tasks no more."""
        for task_id in task_ids:
            if task_id in self._series and task_id not in self._ended:
                self._series[task_id] = trimmed(self._series[task_id])
                self._ended[task_id] = at_s
        self._drop_old(at_s)

    def reads(self, supervisor_id: str, tasks: Sequence[Task]) -> None:
        """Record the active tasks of a supervisor."""
        before = self._readers.get(supervisor_id, {})
        after = {task_id: each for task_id, each in before.items() if task_id in self._series}
        for task in tasks:
            known = before.get(task.id)
            after[task.id] = known or RangeReader(task.generation_id, is_new=bool(before))
            self._supervisor_of[task.id] = supervisor_id
        for task_id in before.keys() - after.keys():
            self._supervisor_of.pop(task_id, None)
        self._readers.pop(supervisor_id, None)
        if after:
            self._readers[supervisor_id] = after

    def series(self, task_id: str) -> SampleSeries:
        """Return the samples of a task; none: it is unheard of."""
        return self._series.get(task_id, ())

    def readers(self) -> dict[str, Readers]:
        """Return supervisor -> its tasks with their samples; those without tasks are left out."""
        return {
            supervisor_id: [(each, self.series(task_id)) for task_id, each in tasks.items()]
            for supervisor_id, tasks in self._readers.items()
        }

    def _drop_old(self, now_s: float) -> None:
        while self._ended:
            task_id, at_s = next(iter(self._ended.items()))
            if now_s - at_s <= KEPT_S and len(self._ended) <= MOST_ENDED:
                return
            del self._ended[task_id], self._series[task_id]
            supervisor_id = self._supervisor_of.pop(task_id, "")
            tasks = self._readers.get(supervisor_id, {})
            tasks.pop(task_id, None)
            if not tasks:
                self._readers.pop(supervisor_id, None)


def rows_per_second(readers: Mapping[str, Readers], now_s: float) -> dict[str, float | None]:
    """Return supervisor -> rows per second over the last minute; None: not known."""
    return {supervisor_id: row_rate(of_it, now_s) for supervisor_id, of_it in readers.items()}
