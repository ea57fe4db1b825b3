"""What the stories of event queues are made of."""

from collections.abc import Iterable

from supervisor.core.queue.events import (
    CLUSTER,
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueName,
    QueueRow,
    StoredEvent,
    container_of,
    decode,
    encode,
)
from tests.conformance.stories import CLICKS, NOON, Leader

QUEUE = QueueName(container_of(CLICKS), "task-output")
OTHER = QueueName(CLUSTER, "task-output")
CONFIG = QueueConfig()
SIZE = len(encode(QueuedEvent("kind", "0")))
"""Bytes of an event whose key has one character."""


def event(key: object) -> QueuedEvent:
    """An event that is about `key`."""
    return QueuedEvent("kind", str(key))


def add(
    leader: Leader,
    *keys: object,
    queue: QueueName = QUEUE,
    config: QueueConfig = CONFIG,
) -> QueueRow:
    """Add events in one transaction, and return the queue as it is then."""
    with leader.writes() as tx:
        for key in keys:
            tx.events.add(queue, event(key), config, NOON, exempt=True)
    return row(leader, queue)


def row(leader: Leader, queue: QueueName = QUEUE) -> QueueRow:
    """Read a queue that exists."""
    with leader.reads() as tx:
        found = tx.events.find(queue)
    assert found is not None
    return found


def stored(leader: Leader, queue: QueueName = QUEUE) -> list[StoredEvent]:
    """Read every row of a queue that is left, also those behind its position."""
    with leader.reads() as tx:
        found = tx.events.find(queue)
        return [] if found is None else tx.events.read(found.id, -(2**40), 10_000)


def keys(events: Iterable[StoredEvent]) -> list[str]:
    """Say what each event is about."""
    return [decode(each.payload).key for each in events]


def numbers(events: Iterable[StoredEvent]) -> list[int]:
    """Say where each event stands."""
    return [each.seq for each in events]


def process(leader: Leader, count: int, queue: QueueName = QUEUE) -> QueueRow:
    """Advance past so many events, and return the queue as it is then."""
    at = row(leader, queue)
    with leader.writes() as tx:
        done = tx.events.read(at.id, at.processed_seq, count)
        size = sum(each.size_bytes for each in done)
        tx.events.advance(at, done[-1].seq, at.processed_bytes + size)
    return row(leader, queue)


def aside(seq: int, queue: QueueName = QUEUE, reason: str = "why") -> FailedEvent:
    """An event that was given up."""
    key = str(seq)
    return FailedEvent(queue, seq, key, encode(event(key)), reason, NOON, NOON, attempts=3)
