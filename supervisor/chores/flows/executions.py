"""The duty that lets times of executions come, and calls of runners that are gone be lost."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import structlog

from supervisor.chores.duty import Duty, Wiring
from supervisor.core.executions.entities import Runner
from supervisor.core.values.idempotency import KEPT
from supervisor.executions.engine import TICKED_AT_ONCE, StoredEngine
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway, StoreRefuses

log = structlog.get_logger()

PERIOD = timedelta(seconds=1)
"""The longest time by which a sleep, a retry or a timeout is late."""
KEYS_PERIOD = timedelta(minutes=1)
KEYS_OF_AT_ONCE = 100
"""Executions whose old keys are looked at, per run."""


@dataclass
class ExecutionTimes:
    """The duty; it has nothing to do where executors do this, or nothing runs flows."""

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


class Living(Protocol):
    """Knows which executions live."""

    def alive(self, execution_ids: Iterable[str]) -> set[str]:
        """Return which of these have not ended."""
        ...


@dataclass
class StepKeys:
    """The duty that deletes the keys of steps whose execution has ended, a day later.

    Each run goes on behind the executions of the run before.
    """

    store: Store
    clock: Clock
    term: Callable[[], int]
    engine: Living | None
    _after: str = ""

    def run_once(self) -> int:
        """Look at some executions that have old keys; return of how many the keys were deleted.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        if self.engine is None:
            return 0
        before = self.clock.now() - KEPT
        with self.store.reading() as tx:
            some = tx.keys.executions(before, self._after, KEYS_OF_AT_ONCE)
        try:
            over = sorted(set(some) - self.engine.alive(some))
        except (StoreAway, StoreRefuses) as error:
            log.info("keys of executions are kept", why=str(error))
            return 0
        if over:
            with self.store.leading(self.term()) as tx:
                for execution in over:
                    tx.keys.forget(execution)
        self._after = some[-1] if len(some) == KEYS_OF_AT_ONCE else ""
        return len(over)


def _build(wiring: Wiring) -> ExecutionTimes:
    engine = wiring.engine if isinstance(wiring.engine, StoredEngine) else None
    return ExecutionTimes(engine, wiring.step_runner)


DUTY = Duty("executions", _build, lambda _: PERIOD, at_once=True)


def _build_keys(wiring: Wiring) -> StepKeys:
    return StepKeys(wiring.store, wiring.clock, wiring.term, wiring.engine)


KEYS_DUTY = Duty("step-keys", _build_keys, lambda _: KEYS_PERIOD)
