"""Watchdog of the engine's jobs: a thread that checks their progress and cancels them.

    orders, alarm ──cancel──► queue ──► this thread ──► engine      every moment, in order
                                           └──► progress of each running job, every period

The watchdog has a thread of its own, because an engine that hangs does not answer.  The threads of
the orders and of the alarm must go on, and must see that no job moves any more.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Condition

import structlog

from tasks.machine.log_lines import about
from tasks.worker.runner import Progress, TaskRunner


@dataclass(frozen=True)
class EndedJobs:
    """Finds threads of the engine that no cancel ends: only the end of its process does."""

    unended: Callable[[], Mapping[str, float]]
    """Task or sample -> seconds for which the engine has worked on after its job was over."""
    stuck: Callable[[str], None]
    """Called with the reason, which names the task or the sample."""
    after_s: float

    def look(self) -> None:
        """Report each task and sample whose ended job has kept threads for too long."""
        for name, seconds in self.unended().items():
            if seconds > self.after_s:
                self.stuck(f"{name}: the engine works on for it, {seconds:.0f} s after its job")


class Watch:
    """Cancels jobs and watches their progress; `run` is called once."""

    def __init__(
        self,
        runners: Callable[[], Sequence[TaskRunner]],
        *,
        cancel: Callable[[str], None],
        progress: Progress,
        period_s: float,
        ended: EndedJobs,
    ) -> None:
        self._runners = runners
        self._cancel_in_engine = cancel
        self._progress = progress
        self._period_s = period_s
        self._ended = ended
        self._changed = Condition()
        self._requested: deque[str] = deque()
        self._closed = False

    def cancel(self, task_id: str) -> None:
        """Queue the job of a task for cancelling; returns at once."""
        with self._changed:
            if task_id not in self._requested:
                self._requested.append(task_id)
                self._changed.notify_all()

    def close(self) -> None:
        """Let `run` return."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def run(self) -> None:
        """Work until closed."""
        while not self._closed:
            with self._changed:
                self._changed.wait_for(lambda: self._requested or self._closed, self._period_s)
                task_id = self._requested.popleft() if self._requested else None
            if task_id is not None:
                self._ask(task_id, partial(self._cancel_in_engine, task_id))
            else:
                for runner in self._runners():
                    self._ask(runner.desired.task_id, partial(runner.watch, self._progress))
                self._ask("", self._ended.look)

    def _ask(self, task_id: str, question: Callable[[], None]) -> None:
        try:
            question()
        except Exception as error:  # noqa: BLE001 -- one failure must not end the watch
            tasks = (runner.desired for runner in self._runners())
            facts = next((about(t) for t in tasks if t.task_id == task_id), {"task": task_id})
            structlog.get_logger().warning("the engine fails", **facts, why=str(error))
