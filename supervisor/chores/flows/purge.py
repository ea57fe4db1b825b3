"""The duty that deletes executions which ended long ago, or are too many of their flow."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from supervisor.chores.duty import Duty, Wiring
from supervisor.core.history.expiry import HistoryAges
from supervisor.executions.engine import PURGED_AT_ONCE
from supervisor.executions.flow_engine import FlowEngine
from supervisor.ports.store_problems import StoreAway, StoreRefuses

log = structlog.get_logger()

PERIOD = timedelta(minutes=1)
PURGES_PER_RUN = 20
"""Transactions of one run, so that a large purge lets steps go on between."""


@dataclass
class PurgeDuty:
    """The duty; without an engine it has nothing to do."""

    engine: FlowEngine | None
    now: Callable[[], datetime]
    ages: HistoryAges

    def run_once(self) -> None:
        """Delete some; what is left has its turn with the next run.

        Raises:
            LeaseLost: another overlord leads.
        """
        if self.engine is None:
            return
        before, gone = self.now() - self.ages.executions, 0
        try:
            for _ in range(PURGES_PER_RUN):
                purged = self.engine.purge(before, self.ages.executions_of_each)
                gone += purged
                if purged < PURGED_AT_ONCE:
                    break
        except (StoreAway, StoreRefuses) as error:
            log.warning("executions are not purged", why=str(error))
        if gone:
            log.info("executions are purged", executions=gone)


def _build(wiring: Wiring) -> PurgeDuty:
    return PurgeDuty(wiring.engine, wiring.clock.now, wiring.history_ages)


DUTY = Duty("purge-executions", _build, lambda _: PERIOD)
