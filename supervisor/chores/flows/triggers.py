"""The duty that fires schedules, and the handler of the queue `flow-publishes`.

    events of a batch ─► executions and firings, one commit ─► the queue's position, one commit
                                                    └ crash: the batch comes again, finds the
                                                      firings, and starts nothing

The executions lie in a database of their own, so the two commits are two.  Between them the
firings are what a repeat goes by.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from supervisor.chores.duty import Duty, QueueHandler, Wiring
from supervisor.control.publishing.publish_outbox import CONFIG, PUBLISHES, publish_of, watch_of
from supervisor.core.executions.records import NewerRecord, UnreadableRecord
from supervisor.core.flows.stored_triggers import PublishSeen
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import ExecutionStoreUnavailable
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling
from supervisor.executions.triggers import TriggerEngine, WatchBegins
from supervisor.ports.store_problems import StoreAway, StoreRefuses

log = structlog.get_logger()

PERIOD = timedelta(seconds=1)
"""The longest time by which a schedule is late."""


@dataclass
class TriggerTimes:
    """The duty; without an engine it has nothing to do."""

    engine: TriggerEngine | None
    _trouble: str = ""

    def run_once(self) -> None:
        """Fire what is due, and what has waited.

        Raises:
            LeaseLost: another overlord leads.
        """
        if self.engine is None:
            return
        try:
            while self.engine.run_due():
                pass
        except (StoreAway, StoreRefuses, UnreadableRecord, NewerRecord) as error:
            if str(error) != self._trouble:
                log.warning("triggers wait", why=str(error))
            self._trouble = str(error)
        else:
            self._trouble = ""


@dataclass(frozen=True)
class PublishWatching:
    """The handler of publishes; without state, and safe to run twice at once."""

    engine: TriggerEngine
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def __call__(self, events: Sequence[QueuedEvent], _: Context) -> Handled:
        """Fire for the publishes of a batch.

        Raises:
            LeaseLost: another overlord leads.
            ExecutionStoreUnavailable: the batch is repeated.
        """
        taken: list[PublishSeen | WatchBegins] = []
        answers: list[Handling] = []
        for event in events:
            watch = watch_of(event)
            read = publish_of(event) if watch is None else WatchBegins(*watch)
            answers.append(Fail("it is no publish") if read is None else EventDone())
            if read is not None:
                taken.append(read)
        try:
            self.engine.take_events(taken)
        except (StoreAway, StoreRefuses, UnreadableRecord, NewerRecord) as error:
            raise ExecutionStoreUnavailable(str(error)) from error
        self.failpoint("trigger:stored")
        return Handled(answers)


def _watching(wiring: Wiring) -> PublishWatching | None:
    if wiring.triggers is None:
        return None
    return PublishWatching(wiring.triggers, wiring.reach)


DUTY = Duty("triggers", lambda w: TriggerTimes(w.triggers), lambda _: PERIOD, at_once=True)
HANDLER = QueueHandler(PUBLISHES.name, _watching, lambda _: CONFIG, container=PUBLISHES.container)
