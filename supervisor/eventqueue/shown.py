"""The health view of event queues, for people and scrapers: row, oldest event and trouble."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.queue.events import (
    QueueConfig,
    QueueHealth,
    QueueMode,
    QueueName,
    QueueRow,
    StoredEvent,
    decode,
)
from supervisor.core.values.counts import counted, grouped
from supervisor.core.values.errors import UndecodableEvent, repair_command
from supervisor.eventqueue.meters import Meter
from supervisor.ports.store import Transaction


@dataclass(frozen=True)
class OldestEvent:
    """The first event that waits; all later events of the queue wait for it."""

    seq: int
    kind: str
    """The kind of the event; empty if the event cannot be decoded."""
    key: str
    enqueued_at: datetime
    due_at: datetime
    age: timedelta
    """The time since the event was added; never negative."""


@dataclass(frozen=True)
class QueueView:
    """The present state of one queue."""

    row: QueueRow
    max_outstanding_bytes: int
    oldest: OldestEvent | None
    """None: no event waits, or its row is missing."""
    failed_events: int
    """Events that are set aside, and neither replayed nor dropped yet."""
    segments: int
    """The number of segments of the queue's stored rows."""
    meter: Meter
    """The metrics of this process."""
    why: str
    """The trouble of the queue in one sentence; empty if the queue is healthy."""

    @property
    def healthy(self) -> bool:
        """The queue has no trouble."""
        return not self.why


@dataclass(frozen=True)
class Totals:
    """Facts that are queried for all shown queues at once, so that a view of many is cheap."""

    failed: Mapping[QueueName, int]
    segments: Mapping[QueueName, int]
    heads: Mapping[int, StoredEvent]
    """Queue id -> its first waiting event."""

    @classmethod
    def of(cls, tx: Transaction, rows: Sequence[QueueRow]) -> "Totals":
        """Query the facts of some queues."""
        waiting = [row.id for row in rows if row.outstanding_events > 0]
        return cls(tx.events.failed_counts(), tx.events.segments_left(), tx.events.heads(waiting))


def look(
    row: QueueRow, totals: Totals, *, config: QueueConfig, meter: Meter, now: datetime
) -> QueueView:
    """Return the state of a queue; no queue costs a query of its own."""
    head = totals.heads.get(row.id)
    oldest = None if head is None else _oldest(head, now)
    return QueueView(
        row=row,
        max_outstanding_bytes=config.max_outstanding_bytes,
        oldest=oldest,
        failed_events=totals.failed.get(row.queue, 0),
        segments=totals.segments.get(row.queue, 0),
        meter=meter,
        why=trouble_of(row, config, oldest),
    )


def trouble_of(row: QueueRow, config: QueueConfig, oldest: OldestEvent | None) -> str:
    """Describe the trouble of a queue; empty if the queue is healthy.

    Source: protocol rule P24: above the byte limit a queue is unhealthy and shows its oldest event.
    """
    if row.state is QueueHealth.DEAD:
        repair = repair_command(row.queue.container, row.queue.name)
        return f"dead at {row.dead_seq}: {row.dead_why}. After a look at it: {repair}"
    problems = []
    if row.mode is QueueMode.CONSUMER and row.outstanding_bytes > config.max_outstanding_bytes:
        waits, most = grouped(row.outstanding_bytes), grouped(config.max_outstanding_bytes)
        text = f"{waits} bytes wait, the limit is {most}"
        problems.append(text if oldest is None else f"{text}; the oldest is {_named(oldest)}")
    if row.failed_iterations:
        problems.append(
            f"its handler failed {counted(row.failed_iterations, 'time')} in a row at event "
            f"{row.processed_seq + 1}: {row.last_error}"
        )
    return "; ".join(problems)


def _oldest(event: StoredEvent, now: datetime) -> OldestEvent:
    return OldestEvent(
        seq=event.seq,
        kind=_kind(event),
        key=event.key,
        enqueued_at=event.enqueued_at,
        due_at=event.due_at,
        # Clocks of two overlords differ, so the age could be negative.
        age=max(timedelta(0), now - event.enqueued_at),
    )


def _kind(event: StoredEvent) -> str:
    try:
        return decode(event.payload).kind
    except UndecodableEvent:
        return ""


def _named(oldest: OldestEvent) -> str:
    kind = oldest.kind or "not decodable"
    return f"event {oldest.seq} ({kind}, {oldest.key}), added {oldest.enqueued_at.isoformat()}"
