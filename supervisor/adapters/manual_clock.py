"""A clock that stands until it is moved: for simulation and tests."""

import threading
from datetime import datetime, timedelta


class ManualClock:
    """Implements `ports.Clock`; safe to read from many threads while one moves it."""

    def __init__(self, start: datetime) -> None:
        """Stand at `start`, aware."""
        self._start = start
        self._lock = threading.Lock()
        self._moved = timedelta(0)

    def now(self) -> datetime:
        """Return the time it stands at."""
        with self._lock:
            return self._start + self._moved

    def monotonic(self) -> float:
        """Return seconds since some fixed point: never 0, as of a machine that has run a while."""
        with self._lock:
            return 1_000.0 + self._moved.total_seconds()

    def advance(self, by: timedelta) -> datetime:
        """Move forward and return the new time."""
        if by < timedelta(0):
            raise ValueError("a clock does not go back")
        with self._lock:
            self._moved += by
            return self._start + self._moved
