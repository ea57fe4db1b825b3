"""Samples of each supervisor's lag, from which its history is made."""

from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.duty import Duty
from supervisor.control.state_recorder import StateRecorder

PERIOD = timedelta(minutes=1)


@dataclass(frozen=True)
class SampleLag:
    """One chore."""

    watching: StateRecorder

    def run_once(self) -> None:
        """Write the lag of every supervisor as its last pass found it."""
        self.watching.sample()


DUTY = Duty("sample-lag", lambda w: SampleLag(w.watching), lambda _: PERIOD)
