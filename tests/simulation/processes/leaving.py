"""Graceful ends: the product's steps, and the simulated time that passes between them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from supervisor.core.values.errors import SupervisorError
from tasks.worker.graceful_end import GracefulEnd

if TYPE_CHECKING:
    from tests.simulation.processes.overlord import OverlordProcess
    from tests.simulation.processes.worker import WorkerProcess

LOOK_S = 0.1
LINGERS_S = 0.5
"""So long a process may still be there when it has done everything."""


class Departure:
    """One worker that was asked to end."""

    def __init__(
        self,
        worker: "WorkerProcess",
        steps: GracefulEnd,
        timeout_s: float,
        left: Callable[[], None],
    ) -> None:
        self._worker = worker
        self._steps = steps
        self._until = worker.monotonic() + timeout_s
        self._left = left
        self.at_rest = False
        """Every task came to rest in time."""

    def begin(self) -> None:
        """Take the first steps; the last ones follow when the tasks are at rest."""
        self._steps.begin()
        self._worker.reach("worker:leaving:begun")
        self._look()

    def _look(self) -> None:
        self.at_rest = all(runner.ended for runner in self._steps.roster.runners)
        if self.at_rest or self._worker.monotonic() >= self._until:
            self._steps.finish()
            self._worker.reach("worker:leaving:finished")
            self._worker.later(self._worker.random.uniform(0.0, LINGERS_S), self._left)
        else:
            self._worker.later(LOOK_S, self._look)


def leave_in_order(overlord: "OverlordProcess", holder_left: Callable[[bool], None]) -> None:
    """End an overlord's work as at SIGTERM: running passes end, then the lease is released.

    `holder_left` hears whether it knew that it led, and the database answered; the process is
    still there then.
    """
    if any(entry.running for entry in overlord.loop._entries.values()):
        overlord.loop._stopping = True  # `Loop.stop` waits for the thread of each pass
        overlord.later(LOOK_S, lambda: leave_in_order(overlord, holder_left))
        return
    overlord.loop.stop()
    overlord.leadership.step = lambda: None  # type: ignore[method-assign]  # its thread has ended
    reached, answered = overlord.store._reached, overlord.leadership._term is not None

    def noting(point: str) -> None:
        nonlocal answered
        try:
            reached(point)
        except SupervisorError:
            answered = False
            raise

    overlord.store._reached = noting
    with overlord.store.at("release"):
        overlord.leadership.stop()
    overlord.store._reached = reached
    holder_left(answered)
