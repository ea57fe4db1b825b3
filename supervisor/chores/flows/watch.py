"""The duty that looks whether flows go on; `executions/flow_watch.py` keeps what it sees."""

from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.duty import Duty
from supervisor.executions.flow_watch import FlowWatch

_PERIOD = timedelta(seconds=5)


@dataclass(frozen=True)
class _FlowLook:
    watch: FlowWatch | None

    def run_once(self) -> None:
        """Look once; without a database of executions there is nothing to look at."""
        if self.watch is not None:
            self.watch.run_once()


DUTY = Duty(
    "watch-flows", lambda wiring: _FlowLook(wiring.flow_watch), lambda _: _PERIOD, at_once=True
)
