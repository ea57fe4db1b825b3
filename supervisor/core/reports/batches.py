"""Which records one try to store them takes, from those that wait."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["BatchBounds"]


@dataclass(frozen=True)
class BatchBounds:
    """The most that one try stores."""

    records: int = 500
    size_bytes: int = 2 * 1024 * 1024

    def within_rate(self, capacity: float | None) -> "BatchBounds":
        """Return bounds of which a bucket of `capacity` records can hold a batch."""
        if capacity is None:
            return self
        return BatchBounds(max(min(self.records, int(capacity)), 1), self.size_bytes)

    def length_of(self, sizes: Iterable[int]) -> int:
        """Return how many of the waiting records a batch takes: at least one, if one waits.

        `sizes`: of the waiting records, in their order, in bytes.
        """
        number = total = 0
        for size in sizes:
            total += size
            if number == self.records or (number and total > self.size_bytes):
                break
            number += 1
        return number
