"""Counters of a persister since its start; for metrics, not for the truth."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from supervisor.core.reports.status import StoreOutcome

__all__ = ["BATCH_BOUNDS_S", "PersisterCounts", "PersisterMeters"]

BATCH_BOUNDS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
"""Inclusive upper bounds of the buckets of batch times, in seconds; one more has the rest."""


@dataclass(frozen=True)
class PersisterCounts:
    """A copy of all counters."""

    outcomes: Mapping[StoreOutcome, int] = field(default_factory=lambda: MappingProxyType({}))
    size_bytes: int = 0
    """Of records that are done."""
    batches: Sequence[int] = (0,) * (len(BATCH_BOUNDS_S) + 1)
    """Per bucket of time, not cumulative."""
    batch_records: int = 0
    batch_s: float = 0.0
    rate_wait_s: float = 0.0
    """Waits for the pace, of all writers."""
    failed_tries: int = 0
    """Tries that the store did not answer, or refused whole."""


class PersisterMeters:
    """Counts; thread-safe."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._lock = threading.Lock()
        self._outcomes: Counter[StoreOutcome] = Counter()
        self._size_bytes = self._records = self._failed = 0
        self._batches = [0] * (len(BATCH_BOUNDS_S) + 1)
        self._batch_s = self._rate_wait_s = 0.0

    def done(self, outcome: StoreOutcome, size: int) -> None:
        """Count a record of `size` bytes that is done."""
        with self._lock:
            self._outcomes[outcome] += 1
            self._size_bytes += size

    def batch(self, records: int, seconds: float) -> None:
        """Count a batch that was tried, and how long it took."""
        with self._lock:
            self._batches[bisect_left(BATCH_BOUNDS_S, seconds)] += 1
            self._records += records
            self._batch_s += seconds

    def waited(self, seconds: float) -> None:
        """Count a wait for the pace."""
        with self._lock:
            self._rate_wait_s += seconds

    def failed(self) -> None:
        """Count a try that failed as a whole."""
        with self._lock:
            self._failed += 1

    def counts(self) -> PersisterCounts:
        """Return all counters as they are now."""
        with self._lock:
            return PersisterCounts(
                dict(self._outcomes),
                self._size_bytes,
                tuple(self._batches),
                self._records,
                self._batch_s,
                self._rate_wait_s,
                self._failed,
            )
