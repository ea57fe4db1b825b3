"""The product's dispatcher of event queues without its threads: due queues run as events."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from supervisor.core.queue.events import QueueName
from supervisor.eventqueue.dispatcher import Dispatcher, _Entry
from supervisor.ports.clock import Clock

THREADS = 4
SWITCH_S = 0.05
"""Until a thread takes up what is due."""


class SimDispatcher(Dispatcher):
    """Runs what is due; a queue whose handler waits is not run beside it, others are."""

    def __init__(
        self,
        clock: Clock,
        later: Callable[[float, Callable[[], None]], None],
        running: Callable[[QueueName], AbstractContextManager[None]],
    ) -> None:
        super().__init__(clock, threads=THREADS)
        self._later = later
        self._running_queue = running

    def _schedule(self, entry: _Entry, at: float) -> None:
        super()._schedule(entry, at)
        wait_s = max(0.0, at - self._clock.monotonic())
        self._later(1.03 * wait_s + SWITCH_S, self._run_due)

    def _run_due(self) -> None:
        while (entry := self._next()) is not None:
            entry.due, entry.since = None, self._clock.monotonic()
            self._run(entry)

    def _run(self, entry: _Entry) -> None:
        with self._running_queue(entry.processor.queue):
            super()._run(entry)
