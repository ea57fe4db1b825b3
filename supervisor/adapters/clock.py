"""The system clock: wall time that follows the monotonic clock."""

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Wall time at process start plus monotonic time since, so no jumps of the wall clock."""

    def __init__(self) -> None:
        """Read both clocks once."""
        self._wall = datetime.now(UTC)
        self._start = time.monotonic()

    def now(self) -> datetime:
        """Return the present time, aware, UTC."""
        return self._wall + timedelta(seconds=time.monotonic() - self._start)

    def monotonic(self) -> float:
        """Return seconds since some fixed point."""
        return time.monotonic()
