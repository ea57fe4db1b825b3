"""The clock of one simulated process: skewed by its own offset, drifting at its own rate."""

from datetime import UTC, datetime, timedelta

from tests.simulation.world.kernel import Kernel

SLOWEST, FASTEST = 0.98, 1.02
"""Seconds that a process counts in a second."""
EPOCH = datetime(2026, 1, 5, 12, tzinfo=UTC)


class ProcessClock:
    """Implements `ports.Clock`: wall time at the start plus monotonic time since."""

    def __init__(self, kernel: Kernel, *, skew_s: float, rate: float, boot_s: float) -> None:
        self._kernel = kernel
        self._rate = rate
        self._born = kernel.now
        self._boot_s = boot_s
        self._wall = EPOCH + timedelta(seconds=kernel.now + skew_s)

    def monotonic(self) -> float:
        """Seconds since this machine's own fixed point."""
        return self._boot_s + (self._kernel.now - self._born) * self._rate

    def now(self) -> datetime:
        """Wall time as this process believes it is."""
        return self._wall + timedelta(seconds=self.monotonic() - self._boot_s)
