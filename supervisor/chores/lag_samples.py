"""The duty that stores a sample of each supervisor's lag, for the lag history."""

from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.duty import Duty
from supervisor.control.state_recorder import StateRecorder

PERIOD = timedelta(minutes=1)


@dataclass(frozen=True)
class SampleLag:
    """The duty that samples lag."""

    watching: StateRecorder

    def run_once(self) -> None:
        """Write the lag of every supervisor as its last pass found it."""
        self.watching.sample()


DUTY = Duty("sample-lag", lambda w: SampleLag(w.watching), lambda _: PERIOD)
