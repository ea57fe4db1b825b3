"""Kills that come thick for a while."""

from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.world.kernel import Process

KILLS_S = 4.0
RECOVERIES_S = 240.0
"""Longer than ten leases take to run out, each after a leader that lived for seconds."""
_RECOVERED_S = 6.0
_IN_A_ROW = 10
_KILL, _RECOVERY = 0.05, 0.1
"""The probability with which a process dies at a point."""


class Storm:
    """Of kills of every process; or of leaders that have only begun to lead (row A14)."""

    def __init__(self) -> None:
        self._kills_until = self._recoveries_until = -1.0
        self._row = 0

    def of_kills(self, now: float) -> None:
        """Let every process die soon, for some seconds."""
        self._kills_until = now + KILLS_S

    def of_recoveries(self, now: float) -> None:
        """Let every leader die soon, until ten in a row have died while they recovered."""
        self._recoveries_until = now + RECOVERIES_S

    def rate(self, now: float, process: Process) -> float:
        """Return the probability with which a process dies at a point because of it."""
        if now < self._kills_until:
            return _KILL
        return _RECOVERY if self.of_leaders(now) and _led_for_s(process) is not None else 0.0

    def of_leaders(self, now: float) -> bool:
        """Tell whether leaders still die as soon as they lead."""
        return now < self._recoveries_until

    def died(self, process: Process) -> bool:
        """Count a crash; tell whether it is that of the tenth leader in a row that recovered."""
        led_s = _led_for_s(process)
        if led_s is None:
            return False
        self._row = self._row + 1 if led_s < _RECOVERED_S else 0
        if self._row < _IN_A_ROW:
            return False
        self._row, self._recoveries_until = 0, -1.0
        return True


def _led_for_s(process: Process) -> float | None:
    """Return for how long it has led without a lapse; None: it does not lead."""
    if not isinstance(process, OverlordProcess) or not process.leadership.leads():
        return None
    return process.clock.monotonic() - process.leadership.led_since()
