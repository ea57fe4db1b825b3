"""When something counts as failing: so many bad ones in a row begin it, as many good ones end it.

Source: Druid's SupervisorStateManager, unhealthinessThreshold and healthinessThreshold.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hysteresis:
    """How the last outcomes went, and whether they add up to a failure that lasts."""

    bad: int = 0
    """In a row, up to now."""
    good: int = 0
    """In a row, up to now."""
    failing: bool = False

    def then(self, threshold: int, *, good: bool) -> "Hysteresis":
        """Return what it is after one more outcome."""
        if good:
            return Hysteresis(0, self.good + 1, self.failing and self.good + 1 < threshold)
        return Hysteresis(self.bad + 1, 0, self.failing or self.bad + 1 >= threshold)


def streak_of(outcomes: Iterable[bool], threshold: int) -> Hysteresis:
    """Return where outcomes have led to, the oldest first; True is a good one."""
    streak = Hysteresis()
    for good in outcomes:
        streak = streak.then(threshold, good=good)
    return streak
