"""In-process metrics of event queues since the start: counters, a histogram and latencies.

These numbers are not the truth: positions and failures are database rows.  The numbers count only
this process, and a queue appears with its first use.
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
"""Inclusive upper bounds, in seconds, of the batch time buckets; one more bucket has the rest."""
LATENCIES_KEPT = 1_000
"""The number of newest handled events per queue, for the average and p99 of latencies."""


@dataclass(frozen=True)
class Latency:
    """Latency from `add` to done over the newest handled events; `count` is their number."""

    average_s: float
    p99_s: float
    """99 of 100 events were not slower."""
    count: int


@dataclass(frozen=True)
class BatchTimes:
    """A histogram of batch durations."""

    buckets: tuple[int, ...] = (0,) * (len(BATCH_BOUNDS_S) + 1)
    """Batches per bucket, not cumulative; the last bucket has the batches above every bound."""
    seconds: float = 0.0
    """The total duration of all batches."""

    @property
    def count(self) -> int:
        """The number of batches."""
        return sum(self.buckets)


@dataclass(frozen=True)
class Meter:
    """The metrics of one queue."""

    handled: int = 0
    """Events that a handler has answered."""
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
    """The metrics of all queues of a process; safe to call from many threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: dict[QueueName, _Tally] = {}

    def handled(self, queue: QueueName, latencies_s: Sequence[float]) -> None:
        """Count events that were handled; one latency for each, in seconds since its `add`."""
        with self._lock:
            tally = self._tally(queue)
            tally.handled += len(latencies_s)
            tally.latencies_s.extend(latencies_s)

    def batch(self, queue: QueueName, seconds: float) -> None:
        """Count a batch that was handed to its handler, whatever its outcome."""
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
        """Count an event that `add` refused; `reason` is one of a few fixed words."""
        with self._lock:
            self._tally(queue).refused[reason] += 1

    def of(self, queue: QueueName) -> Meter:
        """Return the metrics of one queue; zeros if the queue was not used."""
        with self._lock:
            tally = self._tallies.get(queue)
            return Meter() if tally is None else tally.snapshot()

    def all(self) -> dict[QueueName, Meter]:
        """Return the metrics of every used queue, by name."""
        with self._lock:
            return {queue: self._tallies[queue].snapshot() for queue in sorted(self._tallies)}

    def _tally(self, queue: QueueName) -> "_Tally":
        """Return the counters of a queue; call it only with the lock held."""
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
