"""How long the stages of a task took that are no batch: pauses, merge, publish.

    each step of the machine ─► clocks ─► `timings` of the task's records

A stage is counted when it begins.  The times are those of this life of the worker: a task that goes
on from its journal begins anew.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tasks.contract.messages import TaskPhase
from tasks.machine.state import Merging, TaskState
from tasks.reporting.timings import MergeTiming, PauseTiming, PublishTiming, TaskTimings

__all__ = ["StageClock", "StageClocks"]


@dataclass(frozen=True)
class StageClock:
    """How often a stage was entered, and for how long; seconds of a monotonic clock."""

    count: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0
    since: float | None = None
    """Since when it goes on; None: it does not."""

    def moved(self, now: float, *, inside: bool) -> "StageClock":
        """Return the clock after a step that ended inside the stage, or outside."""
        if inside == (self.since is not None):
            return self
        if inside:
            return replace(self, count=self.count + 1, since=now)
        return replace(self.read(now), since=None)

    def read(self, now: float) -> "StageClock":
        """Return the clock with the time of a stage that goes on."""
        if self.since is None:
            return self
        took = max(0.0, now - self.since)
        longest = max(self.longest_s, took)
        return replace(self, total_s=self.total_s + took, longest_s=longest)


class StageClocks:
    """The clocks of one task; `step` is called under the task's lock."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._pauses = self._merges = self._publishing = StageClock()

    def step(self, state: TaskState, now: float) -> None:
        """Take note of a step of the machine that led to `state`."""
        going = not state.over
        paused = going and state.phase is TaskPhase.PAUSED
        self._pauses = self._pauses.moved(now, inside=paused)
        self._merges = self._merges.moved(now, inside=going and isinstance(state.busy, Merging))
        merged = going and state.merged is not None
        self._publishing = self._publishing.moved(now, inside=merged)

    def timings(self) -> TaskTimings:
        """Return them as they are reported; a stage that goes on counts up to now."""
        now = self._monotonic()
        pauses, merges = self._pauses.read(now), self._merges.read(now)
        return TaskTimings(
            pauses=PauseTiming(
                count=pauses.count, ms=_ms(pauses.total_s), longest_ms=_ms(pauses.longest_s)
            ),
            merge=MergeTiming(count=merges.count, ms=_ms(merges.total_s)),
            publish=PublishTiming(ms=_ms(self._publishing.read(now).total_s)),
        )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
