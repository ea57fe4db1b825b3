"""Looks after calls of other processes that are held in partitions of this one."""

from dataclasses import dataclass
from typing import Protocol

import structlog

from supervisor.core.executions.entities import Runner
from supervisor.executions.executor.registration import Registration
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["HoldingEngine", "LossWatch"]

log = structlog.get_logger()


class HoldingEngine(Protocol):
    """Knows who holds calls; see `PartitionedEngine`."""

    def holders(self) -> set[Runner]:
        """Return the runners that hold calls here."""
        ...

    def lose(self, runner: Runner) -> int:
        """Let every call be lost that a runner held here."""
        ...


@dataclass
class LossWatch:
    """The duty of each second."""

    engine: HoldingEngine
    registration: Registration
    lost: int = 0
    """Calls of runners that were gone, since this process began."""

    def run_once(self) -> None:
        """Lose what runners hold that are gone."""
        others = self.engine.holders() - {self.registration.runner}
        try:
            gone = self.registration.gone(others)
        except (StoreAway, StoreRefuses):
            return  # nobody is gone while nobody can say so; the renewal says why
        for runner in sorted(gone, key=lambda one: (one.name, one.incarnation)):
            try:
                lost = self.engine.lose(runner)
            except Exception as error:  # noqa: BLE001 -- the next second tries again
                log.warning("calls cannot be lost yet", runner=runner.name, why=str(error))
                continue
            self.lost += lost
            log.warning("calls of a runner are lost", runner=runner.name, calls=lost)
