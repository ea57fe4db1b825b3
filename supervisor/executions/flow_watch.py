"""Looks at the database of executions from time to time, for what somebody should know."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from supervisor.core.attention.flows import STILL_AFTER, FlowsStanding, TopicsStanding
from supervisor.core.executions.records import NewerRecord, UnreadableRecord
from supervisor.core.executions.states import ExecutionState
from supervisor.ports.clock import Clock
from supervisor.ports.flows.execution_log import LogAway, LogRefuses
from supervisor.ports.flows.executions import ExecutionQuery, ExecutionReads, ExecutionStore
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["FlowWatch"]

log = structlog.get_logger()

_FAILED_MAX = 100
_DAY = timedelta(days=1)
_CREATED = frozenset({ExecutionState.CREATED})
_FAILED = frozenset({ExecutionState.FAILED})
_TROUBLES = (StoreAway, StoreRefuses, UnreadableRecord, NewerRecord)


@dataclass
class FlowWatch:
    """Keeps the last look; safe to use from many threads."""

    store: ExecutionStore
    clock: Clock
    check: Callable[[], None] = lambda: None
    """Raises `EngineRefused` while executions live on the engine that is not set here."""
    relay_trouble: Callable[[], str] | None = None
    """Says why nothing gets to the topics, or nothing; None: there are no topics."""
    dead_inputs: Callable[[], int] | None = None
    """Counts what executors could not work in, and nobody has handled; None: there are no topics.
    """
    _last: FlowsStanding | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run_once(self) -> None:
        """Look; what cannot be read is kept with the time since when."""
        now = self.clock.now()
        wanted = ExecutionQuery(states=_FAILED, since=now - _DAY)
        try:
            self.check()
            with self.store.reading() as rows:
                due, page = rows.next_due(), rows.page(wanted, _FAILED_MAX)
                topics = self._topics(rows)
        except _TROUBLES as error:
            with self._lock:
                before = self._last
                since = before.since if before is not None and before.trouble else now
                self._last = FlowsStanding(str(error), since)
            return
        failed = [
            (each.id, each.failures[0].error.message if each.failures else "", each.ended_at or now)
            for each in page
        ]
        with self._lock:
            self._last = FlowsStanding(due=due, topics=topics, failed=failed)

    def _topics(self, rows: ExecutionReads) -> TopicsStanding | None:
        if self.relay_trouble is None:
            return None
        until = self.clock.now() - STILL_AFTER
        waiting = rows.page(ExecutionQuery(states=_CREATED, until=until), 1)
        unsent_since = rows.unsent_since()
        unbegun = [each for each in waiting if rows.unsent_since(each.id) is None]
        began = unbegun[0].created_at if unbegun else None
        trouble = self.relay_trouble()
        dead = 0 if trouble else self._dead()
        return TopicsStanding(unsent_since, trouble, began, dead)

    def _dead(self) -> int:
        try:
            return 0 if self.dead_inputs is None else self.dead_inputs()
        except (LogAway, LogRefuses, *_TROUBLES) as error:
            log.warning("dead inputs cannot be counted", why=str(error))
            return 0

    def last(self) -> FlowsStanding | None:
        """Return the last look; None: there was none in this term."""
        with self._lock:
            return self._last

    def forget(self) -> None:
        """Drop what was seen, at the end of a term."""
        with self._lock:
            self._last = None
