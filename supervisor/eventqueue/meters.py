"""What a process has counted of its queues since it started: counters, a histogram, latencies.

Nothing here is truth: positions and failures are rows.  What is counted is of this process alone,
and a queue is known from its first use on.
"""

import math
import threading
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from supervisor.core.queue.events import QueueName

BATCH_BOUNDS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0)
"""Upper bounds, inclusive, of the buckets of batch times; a last bucket takes the rest."""
LATENCIES_KEPT = 1_000
"""Newest handled events per queue, of which average and p99 are told."""


@dataclass(frozen=True)
class Latency:
    """From `add` to done, of the newest handled events; `count` says of how many."""

    average_s: float
    p99_s: float
    """99 of 100 were not slower."""
    count: int


@dataclass(frozen=True)
class BatchTimes:
    """How long batches took, as a histogram."""

    buckets: tuple[int, ...] = (0,) * (len(BATCH_BOUNDS_S) + 1)
    """Batches per bucket, not added up; the last one is of those above every bound."""
    seconds: float = 0.0
    """Of all of them together."""

    @property
    def count(self) -> int:
        """How many batches there were."""
        return sum(self.buckets)


@dataclass(frozen=True)
class Meter:
    """What was counted of one queue."""

    handled: int = 0
    """Events that got their answer."""
    failed_iterations: int = 0
    """Batches that raised or timed out."""
    failed_events: int = 0
    """Events that were set aside."""
    truncations: int = 0
    refused: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Reason -> events that `add` refused."""
    batches: BatchTimes = BatchTimes()
    latency: Latency | None = None
    """None before the first event was handled."""


class Meters:
    """Counts for all queues of a process; safe to call from many threads at once."""

    def __init__(self) -> None:
        """Start at zero."""
        self._lock = threading.Lock()
        self._tallies: dict[QueueName, _Tally] = {}

    def handled(self, queue: QueueName, latencies_s: Sequence[float]) -> None:
        """Count events that were handled; one latency for each, in seconds since its `add`."""
        with self._lock:
            tally = self._tally(queue)
            tally.handled += len(latencies_s)
            tally.latencies_s.extend(latencies_s)

    def batch(self, queue: QueueName, seconds: float) -> None:
        """Count a batch that was handed to its handler, whatever became of it."""
        with self._lock:
            tally = self._tally(queue)
            tally.buckets[bisect_left(BATCH_BOUNDS_S, seconds)] += 1
            tally.batch_seconds += seconds

    def failed_iteration(self, queue: QueueName) -> None:
        """Count a batch that raised or timed out."""
        with self._lock:
            self._tally(queue).failed_iterations += 1

    def failed_events(self, queue: QueueName, n: int) -> None:
        """Count events that were set aside."""
        with self._lock:
            self._tally(queue).failed_events += n

    def truncated(self, queue: QueueName) -> None:
        """Count a truncation."""
        with self._lock:
            self._tally(queue).truncations += 1

    def refused(self, queue: QueueName, reason: str) -> None:
        """Count an event that `add` did not take; `reason` is one of a few fixed words."""
        with self._lock:
            self._tally(queue).refused[reason] += 1

    def of(self, queue: QueueName) -> Meter:
        """Return what was counted of one queue; zeros if it was not used."""
        with self._lock:
            tally = self._tallies.get(queue)
            return Meter() if tally is None else tally.snapshot()

    def all(self) -> dict[QueueName, Meter]:
        """Return every queue that was used, by name."""
        with self._lock:
            return {queue: self._tallies[queue].snapshot() for queue in sorted(self._tallies)}

    def _tally(self, queue: QueueName) -> "_Tally":
        """Only with the lock held."""
        return self._tallies.setdefault(queue, _Tally())


class _Tally:
    """The counters of one queue, under the lock of `Meters`."""

    def __init__(self) -> None:
        self.handled = 0
        self.failed_iterations = 0
        self.failed_events = 0
        self.truncations = 0
        self.refused: Counter[str] = Counter()
        self.buckets = [0] * (len(BATCH_BOUNDS_S) + 1)
        self.batch_seconds = 0.0
        self.latencies_s: deque[float] = deque(maxlen=LATENCIES_KEPT)

    def snapshot(self) -> Meter:
        return Meter(
            handled=self.handled,
            failed_iterations=self.failed_iterations,
            failed_events=self.failed_events,
            truncations=self.truncations,
            refused=MappingProxyType(dict(self.refused)),
            batches=BatchTimes(tuple(self.buckets), self.batch_seconds),
            latency=_latency(self.latencies_s),
        )


def _latency(seconds: Sequence[float]) -> Latency | None:
    if not seconds:
        return None
    ordered = sorted(seconds)
    rank = math.ceil(len(ordered) * 99 / 100) - 1
    return Latency(math.fsum(ordered) / len(ordered), ordered[rank], len(ordered))
