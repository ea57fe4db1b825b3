"""A manual clock, which moves only when it is advanced, for simulation and tests."""

import threading
from datetime import datetime, timedelta


class ManualClock:
    """Implements `ports.store.Clock`; many threads may read the clock while one advances it."""

    def __init__(self, start: datetime) -> None:
        """Set the clock to `start`, an aware time."""
        self._start = start
        self._lock = threading.Lock()
        self._moved = timedelta(0)

    def now(self) -> datetime:
        """Return the time that the clock shows."""
        with self._lock:
            return self._start + self._moved

    def monotonic(self) -> float:
        """Return seconds since some fixed point; never 0, as on a machine that has run a while."""
        with self._lock:
            return 1_000.0 + self._moved.total_seconds()

    def advance(self, by: timedelta) -> datetime:
        """Move the clock forward; return the new time."""
        if by < timedelta(0):
            raise ValueError("a clock does not go back")
        with self._lock:
            self._moved += by
            return self._start + self._moved
