"""F2: a slow database answers late, now and then later than the lease and every timeout allow."""

from supervisor.core.values.errors import MetadataUnavailable
from tests.simulation.world.kernel import Kernel, Process

OFTEN_S = (0.1, 3.0)
TOO_LATE, TOO_LATE_TTLS = 0.1, (1.1, 1.6)
"""A share of the answers takes longer than a lease lasts: an overlord is deposed meanwhile."""


class SlowDatabase:
    """Lets the callers of one run's database wait."""

    def __init__(self, kernel: Kernel, lease_ttl_s: float) -> None:
        self._kernel = kernel
        self._lease_ttl_s = lease_ttl_s
        self._random = kernel.random("slow database")
        self._until = -1.0

    def begin(self, seconds: float) -> None:
        """Be slow for a while."""
        self._until = self._kernel.now + seconds

    def end(self) -> None:
        """Be as fast as ever."""
        self._until = -1.0

    def answer(self, process: Process, *, done: bool) -> None:
        """Let a call wait for its answer; one thread stands, its process and the world go on.

        `done`: it has been carried out, only its answer is on the way.

        Raises:
            MetadataUnavailable: all connections wait already; nothing was done.
            Crash: the process died meanwhile.
        """
        if self._kernel.now >= self._until:
            return
        if self._kernel.may_hold:
            self._kernel.hold(process, self._seconds(), frozen=False)
        elif not done:
            raise MetadataUnavailable("every connection waits for a slow database")

    def _seconds(self) -> float:
        if self._random.random() < TOO_LATE:
            return self._lease_ttl_s * self._random.uniform(*TOO_LATE_TTLS)
        return self._random.uniform(*OFTEN_S)
