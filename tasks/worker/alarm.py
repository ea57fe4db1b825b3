"""Timer thread for all tasks of a worker, which ticks each task when its `wake_at` is reached."""

from collections.abc import Callable, Sequence
from threading import Condition

import structlog

from tasks.machine.log_lines import about
from tasks.worker.runner import TaskRunner

_LONGEST_S = 1.0


class Alarm:
    """Ticks each task when its `wake_at` is reached."""

    def __init__(
        self, runners: Callable[[], Sequence[TaskRunner]], monotonic: Callable[[], float]
    ) -> None:
        self._runners = runners
        self._monotonic = monotonic
        self._changed = Condition()
        self._news = False
        self._closed = False

    def wake(self) -> None:
        """Compute anew when the next tick is due; returns at once."""
        with self._changed:
            self._news = True
            self._changed.notify_all()

    def close(self) -> None:
        """Let `run` return."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def run(self) -> None:
        """Tick until closed."""
        while not self._closed:
            pauses_s = [self._tick(runner) for runner in self._runners()]
            with self._changed:
                self._changed.wait_for(
                    lambda: self._news or self._closed, min(pauses_s, default=_LONGEST_S)
                )
                self._news = False

    def _tick(self, runner: TaskRunner) -> float:
        """Tick one task; return the seconds until it is due again."""
        try:
            runner.tick()
            wake_at = runner.state.wake_at
        except Exception as error:  # noqa: BLE001 -- an error in one task must not stop the timer
            structlog.get_logger().error("a timer failed", **about(runner.desired), exc_info=error)
            return _LONGEST_S
        if wake_at is None:
            return _LONGEST_S
        return min(_LONGEST_S, max(0.0, wake_at - self._monotonic()))
