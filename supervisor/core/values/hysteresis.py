"""Hysteresis of failures: so many bad outcomes in a row begin one, as many good outcomes end it.

Source: Druid's SupervisorStateManager, unhealthinessThreshold and healthinessThreshold.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hysteresis:
    """The last outcomes, and whether they add up to a lasting failure."""

    bad: int = 0
    """Bad outcomes in a row, up to now."""
    good: int = 0
    """Good outcomes in a row, up to now."""
    failing: bool = False

    def then(self, threshold: int, *, good: bool) -> "Hysteresis":
        """Return the streak after one more outcome."""
        if good:
            return Hysteresis(0, self.good + 1, self.failing and self.good + 1 < threshold)
        return Hysteresis(self.bad + 1, 0, self.failing or self.bad + 1 >= threshold)


def streak_of(outcomes: Iterable[bool], threshold: int) -> Hysteresis:
    """Return the streak after these outcomes, the oldest first; True is a good outcome."""
    streak = Hysteresis()
    for good in outcomes:
        streak = streak.then(threshold, good=good)
    return streak
