"""How much may be under way: which partitions pause, and when they go on.

At the bound the partitions with the most bytes under way pause, one after the other, until those
that go on have less than half of the bound.  Polling goes on all the time, so that no partition is
lost for it.  Once half of the bound is free again, all go on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["FlowBounds", "InFlight", "to_pause"]

P = TypeVar("P")
_RESUMED_BELOW = 0.5
"""How full it may be for all partitions to be read."""


@dataclass(frozen=True)
class FlowBounds:
    """The most that may be under way in one persister, from being polled to being done."""

    records: int = 5_000
    size_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True)
class InFlight:
    """What is under way in a partition, or in all."""

    records: int = 0
    size_bytes: int = 0

    def __add__(self, other: "InFlight") -> "InFlight":
        return InFlight(self.records + other.records, self.size_bytes + other.size_bytes)

    def share_of(self, bounds: FlowBounds) -> float:
        """Return how full it is: 1.0 is a bound that is reached, of records or of bytes."""
        return max(self.records / bounds.records, self.size_bytes / bounds.size_bytes)


def to_pause(
    under_way: Mapping[P, InFlight], paused: frozenset[P], bounds: FlowBounds
) -> frozenset[P]:
    """Return which partitions are to be paused now; those that are and are not among them go on."""
    full = sum(under_way.values(), InFlight()).share_of(bounds)
    if full < _RESUMED_BELOW:
        return frozenset()
    known = paused & under_way.keys()
    if full < 1.0:
        return known
    going = {p: each for p, each in under_way.items() if p not in known}
    while going and sum(going.values(), InFlight()).share_of(bounds) >= _RESUMED_BELOW:
        del going[max(going, key=lambda p: going[p].share_of(bounds))]
    return frozenset(under_way.keys() - going.keys())
