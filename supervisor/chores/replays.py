"""The replays of bad records: their outbox, and the handler that sends them and stores what it did.

    operation stored, and an event with it ─► files of now ─► one transaction of Kafka ─► outcome
                                                     │ crash: sent records are recognised,
                                                     └ and the repeat reports the same numbers

Kafka and the metadata database commit one after the other.  The mark of a replay, in a header of
each record that it sent, is what a repeat goes by: nothing is sent twice, and no more than the
request says, whatever process carries it out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from supervisor.chores.duty import QueueHandler, Wiring
from supervisor.chores.file_lists import listed
from supervisor.control.declared_types import last_spec
from supervisor.control.warehouse_owner import require_mounted
from supervisor.core.history.operations import Operation
from supervisor.core.history.replays import ReplayOutcome
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.queue.events import (
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueName,
    container_of,
)
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import LeaseLost, Refused, Unavailable
from supervisor.core.values.table_names import is_errors_table
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled
from supervisor.ports.clock import Clock
from supervisor.ports.store import Transaction
from supervisor.ports.tables.replays import ReplaySender
from supervisor.ports.tables.warehouse import Warehouse

log = structlog.get_logger()

REPLAYS = "replays"
"""The queue in each supervisor's container."""
KIND = "replay"
"""The kind of event; key: the operation's id; body: its number."""
NUMBER = "operation"
CONFIG = QueueConfig(
    max_items_at_once=1, backoff_cap=timedelta(seconds=30), handler_timeout=timedelta(minutes=15)
)
GIVEN_UP_AFTER = timedelta(hours=1)
"""The age of a replay at which a failed try is its last: others wait behind it."""


def queue_of(supervisor_id: str) -> QueueName:
    """Return the queue in which a supervisor's replays wait."""
    return QueueName(container_of(supervisor_id), REPLAYS)


def announce_replay(tx: Transaction, operation: Operation, now: datetime) -> None:
    """Have the leader carry out a replay that was stored in the caller's transaction.

    Raises:
        QueueDead: the supervisor's queue is damaged; do not commit.
    """
    event = QueuedEvent(KIND, operation.id, {NUMBER: operation.number})
    tx.events.add(queue_of(operation.supervisor_id), event, CONFIG, now)


def trouble_of(tx: Transaction, supervisor_id: str) -> str:
    """Return why the replay that is first in its queue does not succeed; empty: no reason."""
    row = tx.events.find(queue_of(supervisor_id))
    if row is None:
        return ""
    if row.state is QueueHealth.DEAD:
        return f"its queue is damaged, and needs repair: {row.dead_why}"
    return row.last_error if row.failed_iterations else ""


def errors_of(tx: Transaction, supervisor_id: str) -> list[SegmentKey]:
    """Return the keys of a supervisor's errors files that are part of their table."""
    keys = tx.segments.keys_of_supervisor(supervisor_id)
    return [key for key in keys if key.used and is_errors_table(key.data_source)]


@dataclass(frozen=True)
class _Due:
    """A replay that is not over, and what it needs."""

    operation: Operation
    spec: SupervisorSpec
    keys: Sequence[SegmentKey]


@dataclass(frozen=True)
class Replaying:
    """The handler of replays; without state, and safe to run twice at once."""

    sender: ReplaySender
    warehouse: Warehouse
    clock: Clock
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Carry out one replay, unless it is over.

        Raises:
            LeaseLost: another overlord leads.
            Unavailable: Kafka, a file or the database does not answer; the batch is repeated.
        """
        [event] = events  # as CONFIG says
        number = event.body.get(NUMBER)
        if event.kind != KIND or not isinstance(number, int):
            return Handled([Fail("this is another kind of event, or names no operation")])
        due = self._due(number, context)
        if due is None:
            return Handled([EventDone()])
        require_mounted(self.warehouse, context.store)
        outcome = self._sent(due, context)
        self.failpoint("replay:sent")
        _log(due.operation, outcome)
        now = self.clock.now()
        return Handled([EventDone()], lambda tx: tx.operations.finish(number, outcome, now))

    def _due(self, number: int, context: Context) -> _Due | None:
        with context.store.leading(context.term) as tx:  # a deposed overlord sends nothing
            operation = tx.operations.get(number)
            if operation is None or operation.replay is None or operation.outcome is not None:
                return None  # forgotten with its supervisor, or done before a crash
            supervisor_id = operation.supervisor_id
            return _Due(operation, last_spec(tx, supervisor_id), errors_of(tx, supervisor_id))

    def _sent(self, due: _Due, context: Context) -> ReplayOutcome:
        request, source = due.operation.replay, due.spec.io_config
        assert request is not None

        def stopping() -> bool:  # asked before each record is sent
            self.failpoint("replay:sending")
            return context.stopping()

        try:
            paths = [segment.file.path for segment in listed(context.store, due.keys)]
            return self.sender.send(source.client, request, paths, stopping)
        except LeaseLost:
            raise
        except Refused as error:
            return ReplayOutcome(problem=str(error))
        except Unavailable as error:
            if self.clock.now() - due.operation.at < GIVEN_UP_AFTER:
                raise
            return ReplayOutcome(problem=f"it was tried for an hour; at last: {error}")


def _log(operation: Operation, outcome: ReplayOutcome) -> None:
    log.info(
        "replayed bad records",
        supervisor=operation.supervisor_id,
        operation=operation.id,
        sent=outcome.sent,
        there=outcome.there,
        problem=outcome.problem,
    )


def _replaying(wiring: Wiring) -> Replaying | None:
    if wiring.replays is None:
        return None
    return Replaying(wiring.replays, wiring.warehouse, wiring.clock, wiring.reach)


HANDLER = QueueHandler(REPLAYS, _replaying, lambda _: CONFIG)
