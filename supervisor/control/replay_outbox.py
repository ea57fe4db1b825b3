"""The outbox of replays: an operation and the event that has the leader carry it out.

    operation stored ─► same transaction: an event in supervisor:<id>/replays

This module is below both the verb that adds events and the handler.
"""

from datetime import datetime, timedelta

from supervisor.core.history.operations import Operation
from supervisor.core.queue.events import (
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueName,
    container_of,
)
from supervisor.ports.store import Transaction

REPLAYS = "replays"
"""The queue in each supervisor's container."""
KIND = "replay"
"""The kind of event; key: the operation's id; body: its number."""
NUMBER = "operation"
CONFIG = QueueConfig(
    max_items_at_once=1, backoff_cap=timedelta(seconds=30), handler_timeout=timedelta(minutes=15)
)


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
