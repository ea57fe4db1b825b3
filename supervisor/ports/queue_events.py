"""What event queues need of the metadata database; `ports.Transaction` carries it as `events`.

    add ─► kept until the transaction commits ─► numbered and written last, queue by queue

So locks on a queue are short and never cross, whatever the caller does in which order; and an
event exists if and only if the work exists that made it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

from supervisor.core.queue.events import (
    FailedEvent,
    FailedPlace,
    QueueConfig,
    QueuedEvent,
    QueueName,
    QueueRow,
    StoredEvent,
    WaitingQueue,
)

Heard = Callable[[Mapping[QueueName, datetime]], None]
"""Told after a commit: queue -> when the first of its new events is due."""


class Events(Protocol):
    """Rows of the queues.  Changes of a position are guarded by the position they expect."""

    def add(
        self,
        queue: QueueName,
        event: QueuedEvent,
        config: QueueConfig,
        now: datetime,
        *,
        not_before: datetime | None = None,
        exempt: bool = False,
    ) -> int:
        """Queue an event with this transaction; return the outstanding bytes, it included.

        It is due at the later of `now + config.delay` and `not_before`; what stands behind it
        waits for it.  `exempt`: it settles work that exists, and is never refused for fullness.
        A refusal is decided by reading: the transaction stays usable.

        Raises:
            EmptyEvent, EventTooLarge: never stored.
            TooManyOutstandingBytes: the queue already stands above its limit.
            QueueDead: it takes nothing until it is repaired.
        """
        ...

    def find(self, queue: QueueName) -> QueueRow | None:
        """Return a queue with its position; None before anything was added to it."""
        ...

    def all(self) -> list[QueueRow]:
        """Return every queue, by name."""
        ...

    def dead(self) -> list[QueueRow]:
        """Return the DEAD ones, by name."""
        ...

    def waiting(self) -> list[WaitingQueue]:
        """Return the live queues with outstanding events, by name."""
        ...

    def read(self, queue_id: int, after_seq: int, limit: int) -> list[StoredEvent]:
        """Return rows with a higher number, ascending, due or not."""
        ...

    def outstanding_keys(self, queue: QueueName) -> frozenset[str]:
        """Return the keys of events that wait, or were set aside and not yet dropped."""
        ...

    def advance(self, row: QueueRow, processed_seq: int, processed_bytes: int) -> None:
        """Move the position from `row.processed_seq` to these totals; failures count anew.

        Raises:
            StateMoved: it stands elsewhere, or the queue is DEAD.
        """
        ...

    def record_failure(self, row: QueueRow, error: str) -> None:
        """Count one more failed iteration at this position.

        Raises:
            StateMoved: the position moved.
        """
        ...

    def set_aside(self, failed: FailedEvent) -> None:
        """Move an event to the failed queue; the caller advances past it."""
        ...

    def truncate(self, row: QueueRow, up_to_seq: int) -> None:
        """Delete rows up to `up_to_seq`, which have been processed; count what is deleted."""
        ...

    def declare_dead(self, row: QueueRow, seq: int, why: str) -> None:
        """Stop a queue at once and for good; again, or later, it keeps the first reason."""
        ...

    def rebuild(self, queue: QueueName) -> list[StoredEvent]:
        """Make a DEAD queue LIVE and empty, its counters sound; return the rows that waited.

        The caller adds the sound ones again, in order, and sets the damaged aside.

        Raises:
            StateMoved: it is not DEAD.
        """
        ...

    def failed(
        self, queue: QueueName | None, limit: int, behind: FailedPlace | None = None
    ) -> list[FailedEvent]:
        """Return what was set aside, of one queue or of all, by queue id and number.

        `behind`: a queue's id and a number of it; what comes behind these.
        """
        ...

    def failed_counts(self) -> dict[QueueName, int]:
        """Return how many events of each queue are set aside; queues without any are left out."""
        ...

    def failed_event(self, queue: QueueName, seq: int) -> FailedEvent | None:
        """Return one."""
        ...

    def drop_failed(self, queue: QueueName, seq: int) -> bool:
        """Delete one from the failed queue.  False: it is not there."""
        ...

    def segments_left(self) -> dict[QueueName, int]:
        """Return over how many segments a queue's stored rows are spread; left out: none stored."""
        ...
