"""The duty that wakes all supervisors, to make up for lost wake-ups."""

from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.duty import Duty
from supervisor.control.loop import Loop, wake_all
from supervisor.ports.store import Store

PERIOD = timedelta(seconds=30)
"""The longest time until a lost wake-up is made up for."""


@dataclass(frozen=True)
class WakeSupervisors:
    """The duty that wakes supervisors."""

    store: Store
    loop: Loop

    def run_once(self) -> None:
        """Wake every supervisor that may have work."""
        wake_all(self.store, self.loop)


DUTY = Duty("wake", lambda w: WakeSupervisors(w.store, w.loop), lambda _: PERIOD)
