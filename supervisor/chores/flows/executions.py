"""The duty that lets times of executions come, and calls of runners that are gone be lost."""

from dataclasses import dataclass
from datetime import timedelta

import structlog

from supervisor.chores.duty import Duty, Wiring
from supervisor.core.executions.entities import Runner
from supervisor.executions.engine import TICKED_AT_ONCE, StoredEngine
from supervisor.ports.store_problems import StoreAway, StoreRefuses

log = structlog.get_logger()

PERIOD = timedelta(seconds=1)
"""The longest time by which a sleep, a retry or a timeout is late."""


@dataclass
class ExecutionTimes:
    """The duty; without an engine it has nothing to do."""

    engine: StoredEngine | None
    own: Runner | None
    _trouble: str = ""

    def run_once(self) -> None:
        """Work in what is due, and lose what no living runner holds.

        Raises:
            LeaseLost: another overlord leads.
        """
        if self.engine is None:
            return
        try:
            for runner in self.engine.holders():
                # Only the leader's own runner is served, so that every other one is of a leader
                # that was; what it still reports comes too late, and is dropped.
                if runner != self.own:
                    lost = self.engine.lose(runner)
                    log.info("calls of a runner are lost", runner=runner.name, calls=lost)
            while self.engine.tick() == TICKED_AT_ONCE:
                pass
        except (StoreAway, StoreRefuses) as error:
            if str(error) != self._trouble:
                log.warning("executions wait", why=str(error))
            self._trouble = str(error)
        else:
            self._trouble = ""


def _build(wiring: Wiring) -> ExecutionTimes:
    return ExecutionTimes(wiring.engine, wiring.step_runner)


DUTY = Duty("executions", _build, lambda _: PERIOD, at_once=True)
