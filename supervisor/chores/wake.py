"""Periodic wake-ups of all supervisors: they make up for one that got lost."""

from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.duty import Duty
from supervisor.control.loop import Loop, wake_all
from supervisor.ports.store import Store

PERIOD = timedelta(seconds=30)
"""How soon a lost wake-up is made up for."""


@dataclass(frozen=True)
class WakeSupervisors:
    """One chore."""

    store: Store
    loop: Loop

    def run_once(self) -> None:
        """Wake every supervisor that may have work."""
        wake_all(self.store, self.loop)


DUTY = Duty("wake", lambda w: WakeSupervisors(w.store, w.loop), lambda _: PERIOD)
