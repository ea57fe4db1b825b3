"""What one benchmark says: a figure with its unit, what it is compared with, and how it was got."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Budget:
    """A bound for a figure's value or, with `of_ratio`, for its ratio to the baseline."""

    limit: float
    at_least: bool = False
    """The figure must not be below the limit; otherwise not above."""
    of_ratio: bool = False


@dataclass(frozen=True)
class Result:
    """One figure; nothing is asserted by it, a reader judges."""

    name: str
    value: float
    unit: str
    how: str
    """How it was measured, in a sentence or two; from what to what, over how many."""
    baseline: float | None = None
    """The same quantity, same unit, of what it is compared with, in the same run."""
    budget: Budget | None = None
    notes: tuple[str, ...] = ()
    """Spread, counts and what the figure does not say."""

    @property
    def ratio(self) -> float | None:
        """Value by baseline; None without a baseline."""
        return self.value / self.baseline if self.baseline else None

    @property
    def within(self) -> bool | None:
        """Whether the budget is met; None without a budget, or without what it bounds."""
        found = self.ratio if self.budget and self.budget.of_ratio else self.value
        if self.budget is None or found is None or math.isnan(found):
            return None
        limit = self.budget.limit
        return found >= limit if self.budget.at_least else found <= limit


@dataclass(frozen=True)
class Spread:
    """Several measurements of one quantity."""

    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median; NaN of nothing."""
        return median(self.values) if self.values else math.nan

    def percentile(self, share: float) -> float:
        """Return the smallest value that `share` (0 to 1) of them do not exceed; NaN of none."""
        if not self.values:
            return math.nan
        rank = max(1, math.ceil(share * len(self.values)))
        return sorted(self.values)[rank - 1]

    def told(self, unit: str, digits: int = 2) -> str:
        """Write number, bounds and median, for a note."""
        if not self.values:
            return "nothing measured"
        low, high = min(self.values), max(self.values)
        return (
            f"{len(self.values)} values, {low:.{digits}f} to {high:.{digits}f} {unit}, "
            f"median {self.middle:.{digits}f}, p95 {self.percentile(0.95):.{digits}f}"
        )


def spread(values: Sequence[float]) -> Spread:
    """Return the measurements as a `Spread`."""
    return Spread(tuple(values))
