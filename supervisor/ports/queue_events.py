"""The repository port of event queues; `Transaction` has it as `events`.

    add ─► kept until the transaction commits ─► numbered and written last, queue by queue

So locks on a queue are short and never deadlock, in whatever order the caller acts.  An event
exists if and only if the work that caused the event was committed.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.attention.queues import FailedEvents
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
"""A listener, called after a commit with queue -> when its first new event is due."""


class Events(Protocol):
    """Rows of the queues.  Each change of a position is guarded by the expected position."""

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
        """Queue an event with this transaction; return the outstanding bytes, its own included.

        The event is due at the later of `now + config.delay` and `not_before`; later events of the
        queue wait for it.  An `exempt` event settles existing work, so a full queue never refuses
        it.  A refusal is decided by reading, so the transaction stays usable.

        Raises:
            EmptyEvent, EventTooLarge: such an event is never stored.
            TooManyOutstandingBytes: the queue is above its limit already.
            QueueDead: the queue accepts nothing until it is repaired.
        """
        ...

    def find(self, queue: QueueName) -> QueueRow | None:
        """Return a queue with its position; None before the first event was added to the queue."""
        ...

    def all(self) -> list[QueueRow]:
        """Return every queue, by name."""
        ...

    def dead(self) -> list[QueueRow]:
        """Return the DEAD queues, by name."""
        ...

    def waiting(self) -> list[WaitingQueue]:
        """Return the live queues with outstanding events, by name."""
        ...

    def heads(self, queue_ids: Sequence[int]) -> dict[int, StoredEvent]:
        """Return queue id -> its first waiting event; a queue without one is absent."""
        ...

    def read(self, queue_id: int, after_seq: int, limit: int) -> list[StoredEvent]:
        """Return events with numbers above `after_seq`, ascending, due or not."""
        ...

    def outstanding_keys(self, queue: QueueName) -> frozenset[str]:
        """Return the keys of events that wait, or were set aside and not yet dropped."""
        ...

    def advance(self, row: QueueRow, processed_seq: int, processed_bytes: int) -> None:
        """Move the position from `row.processed_seq` to these totals; the failure count restarts.

        Raises:
            StateMoved: the position is another one, or the queue is DEAD.
        """
        ...

    def record_failure(self, row: QueueRow, error: str) -> None:
        """Count one more failed iteration at this position.

        Raises:
            StateMoved: the position moved.
        """
        ...

    def set_aside(self, failed: FailedEvent) -> None:
        """Add an event to the failed queue; the caller advances past the event."""
        ...

    def truncate(self, row: QueueRow, up_to_seq: int) -> None:
        """Delete processed rows up to `up_to_seq`; count the deleted rows and bytes."""
        ...

    def declare_dead(self, row: QueueRow, seq: int, why: str) -> None:
        """Mark a queue DEAD, which stops it; a queue that is DEAD keeps its first reason."""
        ...

    def rebuild(self, queue: QueueName) -> list[StoredEvent]:
        """Make a DEAD queue LIVE and empty, with sound counters; return the rows that waited.

        The caller adds the sound events again, in order, and sets the damaged events aside.

        Raises:
            StateMoved: the queue is not DEAD.
        """
        ...

    def failed(
        self, queue: QueueName | None, limit: int, behind: FailedPlace | None = None
    ) -> list[FailedEvent]:
        """Return events that were set aside, of one queue or of all, by queue id and number.

        `behind` is a queue's id and an event number: only events after this place are returned.
        """
        ...

    def failed_counts(self) -> dict[QueueName, int]:
        """Return how many events of each queue are set aside; queues without any are left out."""
        ...

    def failed_since(self) -> dict[QueueName, FailedEvents]:
        """Return the same with the time of the oldest one."""
        ...

    def failed_event(self, queue: QueueName, seq: int) -> FailedEvent | None:
        """Return one event of the failed queue."""
        ...

    def drop_failed(self, queue: QueueName, seq: int) -> bool:
        """Delete one event from the failed queue; False: the event is not there."""
        ...

    def segments_left(self) -> dict[QueueName, int]:
        """Return queue -> the number of segments of its stored rows; without rows: absent."""
        ...
