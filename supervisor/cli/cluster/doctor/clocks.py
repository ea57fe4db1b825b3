"""How far the clock of another process may be from this one."""

from datetime import datetime, timedelta

__all__ = ["CLOCK_FIX", "clock_difference"]

_CLOCKS_APART = timedelta(seconds=5)
"""Beyond it the ages that people see are wrong; records are ordered by their own numbers."""
CLOCK_FIX = "let NTP set both clocks"


def clock_difference(answered: datetime, before: datetime, after: datetime) -> str:
    """Return by how much another clock differs; empty: it agrees.

    `answered` is what it said, between `before` and `after` of this clock.
    """
    apart = max(before - answered, answered - after)
    if apart <= _CLOCKS_APART:
        return ""
    return f"its clock differs from this one by {apart.total_seconds():.0f} s"
