"""The port to time."""

from datetime import datetime
from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Wall time for records, monotonic time for waits."""

    def now(self) -> datetime:
        """Return the wall time at process start plus the monotonic time since; aware, UTC (P3)."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some fixed point; only differences have a meaning."""
        ...
