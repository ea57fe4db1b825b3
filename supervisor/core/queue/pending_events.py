"""Pending events of a transaction: admitted and encoded, but numbered only before the commit.

    drafted ─► admitted ─► kept by the repository ─► numbered just before the commit

Numbers are given last, so that the row of the counter is locked only for a moment (P24).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from supervisor.core.queue.events import (
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueMode,
    QueueName,
    QueueRow,
    StoredEvent,
    checksum,
    encode,
)
from supervisor.core.values.errors import EventTooLarge, QueueDead, TooManyOutstandingBytes


@dataclass(frozen=True)
class Draft:
    """An event that will be added when its transaction commits."""

    config: QueueConfig
    key: str
    payload: bytes
    due_at: datetime
    enqueued_at: datetime

    @property
    def size_bytes(self) -> int:
        """The bytes that the event adds to its queue."""
        return len(self.payload)


@dataclass
class Drafts:
    """The events that one transaction adds to one queue."""

    row: QueueRow | None
    """The queue when the first draft was added; None: the queue does not exist yet."""
    drafts: list[Draft] = field(default_factory=list)
    size_bytes: int = 0

    def append(self, draft: Draft) -> None:
        """Append an admitted draft."""
        self.drafts.append(draft)
        self.size_bytes += draft.size_bytes

    @property
    def config(self) -> QueueConfig:
        """The configuration of the newest draft."""
        return self.drafts[-1].config


def drafted(
    event: QueuedEvent, config: QueueConfig, now: datetime, not_before: datetime | None = None
) -> Draft:
    """Encode an event that is due at the later of `now + config.delay` and `not_before`.

    Raises:
        EmptyEvent: the event has no kind or no key.
    """
    due_at = now + config.delay
    if not_before is not None:
        due_at = max(due_at, not_before)
    return Draft(config, event.key, encode(event), due_at, now)


def admit(
    queue: QueueName,
    before: Drafts,
    draft: Draft,
    *,
    exempt: bool,
) -> int:
    """Admit a draft to its queue; return the outstanding bytes of the queue with it.

    `before` has the transaction's earlier drafts for the queue.

    Raises:
        EventTooLarge: the draft has `max_event_bytes` or more.
        QueueDead: the queue is dead.
        TooManyOutstandingBytes: the queue is above its limit, and the draft is not exempt.
    """
    config = draft.config
    if draft.size_bytes >= config.max_event_bytes:
        raise EventTooLarge(queue.container, queue.name, draft.size_bytes, config.max_event_bytes)
    row = before.row
    if row is not None and row.state is QueueHealth.DEAD:
        raise QueueDead(queue.container, queue.name, row.dead_seq, row.dead_why)
    waiting = before.size_bytes + (0 if row is None else row.outstanding_bytes)
    bounded = config.mode is QueueMode.CONSUMER and not exempt
    if bounded and waiting > config.max_outstanding_bytes:
        raise TooManyOutstandingBytes(
            queue.container, queue.name, waiting, config.max_outstanding_bytes
        )
    return waiting + draft.size_bytes


def first_due(drafts: Sequence[Draft]) -> datetime:
    """Return the earliest due time of drafts, of which there is at least one."""
    return min(draft.due_at for draft in drafts)


def numbered(drafts: Sequence[Draft], first_seq: int, segment_no: int) -> list[StoredEvent]:
    """Return the rows to insert, numbered from `first_seq` in the order of adding."""
    return [
        StoredEvent(
            seq=seq,
            segment_no=segment_no,
            size_bytes=draft.size_bytes,
            checksum=checksum(seq, draft.payload),
            key=draft.key,
            payload=draft.payload,
            due_at=draft.due_at,
            enqueued_at=draft.enqueued_at,
        )
        for seq, draft in enumerate(drafts, start=first_seq)
    ]


def rebuilt(
    row: QueueRow, *, lowest_seq: int | None, highest_seq: int, stored_bytes: int
) -> QueueRow:
    """Return a damaged queue as LIVE and empty, with counters that fit the stored rows.

    `lowest_seq` and `stored_bytes` count the rows that truncation has not deleted yet.
    `highest_seq` also counts the failed events, so that no number is given twice.
    """
    next_seq = max(row.next_seq, row.processed_seq + 1, highest_seq + 1)
    total = max(row.enqueued_bytes, row.processed_bytes, stored_bytes)
    return replace(
        row,
        next_seq=next_seq,
        enqueued_bytes=total,
        processed_seq=next_seq - 1,
        processed_bytes=total,
        truncated_seq=next_seq - 1 if lowest_seq is None else lowest_seq - 1,
        truncated_bytes=total - stored_bytes,
        failed_iterations=0,
        last_error="",
        state=QueueHealth.LIVE,
        dead_seq=None,
        dead_why="",
    )
