"""Event queues in memory: the same rules as `metadata/events.py`."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from supervisor.adapters.memory_rows import Tables
from supervisor.core.drafts import (
    Drafts,
    admit,
    drafted,
    first_due,
    numbered,
    rebuilt,
)
from supervisor.core.errors import StateMoved
from supervisor.core.events import (
    Event,
    FailedEvent,
    FailedPlace,
    QueueConfig,
    QueueName,
    QueueRow,
    QueueState,
    StoredEvent,
    WaitingQueue,
)

_seq = attrgetter("seq")


class MemoryEvents:
    """See `ports_events.Events`."""

    def __init__(self, tables: Tables, *, writable: bool = True) -> None:
        """Begin without drafts; what is not `writable` takes none."""
        self._rows = tables.queues
        self._events = tables.events
        self._failed = tables.failed
        self._writable = writable
        self._drafts: dict[QueueName, Drafts] = {}

    # -- adding ------------------------------------------------------------------------------------

    def add(
        self,
        queue: QueueName,
        event: Event,
        config: QueueConfig,
        now: datetime,
        *,
        not_before: datetime | None = None,
        exempt: bool = False,
    ) -> int:
        """Queue an event with this transaction; return the outstanding bytes, it included.

        Raises:
            EmptyEvent, EventTooLarge, TooManyOutstandingBytes, QueueDead: see the port.
        """
        assert self._writable, "a transaction that reads does not write"
        draft = drafted(event, config, now, not_before)
        before = self._drafts.get(queue) or Drafts(self.find(queue))
        outstanding = admit(queue, before, draft, exempt=exempt)
        self._drafts.setdefault(queue, before).append(draft)
        return outstanding

    def flush(self) -> Mapping[QueueName, datetime]:
        """Number and insert what was added; return queue -> when the first of it is due."""
        drafts, self._drafts = self._drafts, {}
        for queue in sorted(drafts):
            self._insert(queue, drafts[queue])
        return {queue: first_due(added.drafts) for queue, added in drafts.items()}

    def _insert(self, queue: QueueName, added: Drafts) -> None:
        config, size, count = added.config, added.size_bytes, len(added.drafts)
        row = self.find(queue) or QueueRow(len(self._rows) + 1, queue, config.mode)
        full = row.segment_bytes >= config.segment_rollover_bytes
        after = replace(
            row,
            mode=config.mode,
            next_seq=row.next_seq + count,
            enqueued_bytes=row.enqueued_bytes + size,
            segment_no=row.segment_no + full,
            segment_bytes=size if full else row.segment_bytes + size,
        )
        self._rows.put(queue, after)
        rows = numbered(added.drafts, row.next_seq, after.segment_no)
        self._events.put(row.id, (*self._stored(row.id), *rows))

    # -- reading -----------------------------------------------------------------------------------

    def find(self, queue: QueueName) -> QueueRow | None:
        """Return a queue with its position; None before anything was added to it."""
        return self._rows.get_row(queue)

    def all(self) -> list[QueueRow]:
        """Return every queue, by name."""
        return [self._rows[queue] for queue in sorted(self._rows)]

    def dead(self) -> list[QueueRow]:
        """Return the DEAD ones, by name."""
        return [row for row in self.all() if row.state is QueueState.DEAD]

    def waiting(self) -> list[WaitingQueue]:
        """Return the live queues with outstanding events, by name.

        One that counts fewer events than were processed is among them: it is damaged.
        """
        return [
            self._waiting(row)
            for row in self.all()
            if row.state is QueueState.LIVE and row.outstanding_events != 0
        ]

    def read(self, queue_id: int, after_seq: int, limit: int) -> list[StoredEvent]:
        """Return rows with a higher number, ascending, due or not."""
        stored = self._stored(queue_id)
        start = bisect_right(stored, after_seq, key=_seq)
        return list(stored[start : start + limit])

    def outstanding_keys(self, queue: QueueName) -> frozenset[str]:
        """Return the keys of events that wait, or were set aside and not yet dropped.

        Those that this transaction adds wait as well.
        """
        keys = {draft.key for draft in self._drafts.get(queue, Drafts(None)).drafts}
        keys |= {failed.key for failed in self._failed.values() if failed.queue == queue}
        if row := self.find(queue):
            keys |= {one.key for one in self._stored(row.id) if one.seq > row.processed_seq}
        return frozenset(keys)

    def segments_left(self) -> dict[QueueName, int]:
        """Return over how many segments a queue's stored rows are spread; left out: none stored."""
        stored = {row.queue: self._stored(row.id) for row in self.all()}
        return {queue: len({e.segment_no for e in rows}) for queue, rows in stored.items() if rows}

    # -- positions ---------------------------------------------------------------------------------

    def advance(self, row: QueueRow, processed_seq: int, processed_bytes: int) -> None:
        """Move the position from `row.processed_seq` to these totals; failures count anew.

        Raises:
            StateMoved: it stands elsewhere, or the queue is DEAD.
        """
        self._put(
            replace(
                self._at(row),
                processed_seq=processed_seq,
                processed_bytes=processed_bytes,
                failed_iterations=0,
                last_error="",
            )
        )

    def record_failure(self, row: QueueRow, error: str) -> None:
        """Count one more failed iteration at this position.

        Raises:
            StateMoved: the position moved, or the queue is DEAD.
        """
        found = self._at(row)
        self._put(replace(found, failed_iterations=found.failed_iterations + 1, last_error=error))

    def truncate(self, row: QueueRow, up_to_seq: int) -> None:
        """Delete rows up to `up_to_seq`, which have been processed; count what is deleted."""
        at = self._rows[row.queue]
        last = min(up_to_seq, at.processed_seq)
        if last <= at.truncated_seq:
            return
        stored = self._stored(at.id)
        gone = [event for event in stored if at.truncated_seq < event.seq <= last]
        kept = (event for event in stored if not at.truncated_seq < event.seq <= last)
        self._events.put(at.id, tuple(kept))
        size = sum(event.size_bytes for event in gone)
        self._put(replace(at, truncated_seq=last, truncated_bytes=at.truncated_bytes + size))

    def declare_dead(self, row: QueueRow, seq: int, why: str) -> None:
        """Stop a queue at once and for good; again, or later, it keeps the first reason."""
        at = self._rows[row.queue]
        if at.state is QueueState.LIVE:
            self._put(replace(at, state=QueueState.DEAD, dead_seq=seq, dead_why=why))

    def rebuild(self, queue: QueueName) -> list[StoredEvent]:
        """Make a DEAD queue LIVE and empty, its counters sound; return the rows that waited.

        Raises:
            StateMoved: it is not DEAD.
        """
        row = self.find(queue)
        if row is None or row.state is not QueueState.DEAD:
            raise StateMoved(f"event queue {queue} is not dead")
        stored = self._stored(row.id)
        taken = [event.seq for event in stored]
        aside = [failed.seq for failed in self._failed.values() if failed.queue == queue]
        self._put(
            rebuilt(
                row,
                lowest_seq=min(taken, default=None),
                highest_seq=max((*taken, *aside), default=0),
                stored_bytes=sum(event.size_bytes for event in stored),
            )
        )
        return [event for event in stored if event.seq > row.processed_seq]

    # -- set aside ---------------------------------------------------------------------------------

    def set_aside(self, failed: FailedEvent) -> None:
        """Move an event to the failed queue; again, it keeps the first reason."""
        assert failed.queue in self._rows, f"there is no event queue {failed.queue}"
        if (failed.queue, failed.seq) not in self._failed:
            self._failed.put((failed.queue, failed.seq), failed)

    def failed(
        self, queue: QueueName | None, limit: int, behind: FailedPlace | None = None
    ) -> list[FailedEvent]:
        """Return what was set aside, of one queue or of all, by queue id and number.

        `behind`: a queue's id and a number of it; what comes behind these.
        """
        found = sorted(
            ((self._rows[failed.queue].id, failed.seq), failed)
            for failed in self._failed.values()
            if queue in {None, failed.queue}
        )
        return [failed for place, failed in found if behind is None or place > behind][:limit]

    def failed_counts(self) -> dict[QueueName, int]:
        """Return how many events of each queue are set aside; queues without any are left out."""
        return dict(Counter(failed.queue for failed in self._failed.values()))

    def failed_event(self, queue: QueueName, seq: int) -> FailedEvent | None:
        """Return one."""
        return self._failed.get_row((queue, seq))

    def drop_failed(self, queue: QueueName, seq: int) -> bool:
        """Delete one from the failed queue.  False: it is not there."""
        was_there = (queue, seq) in self._failed
        self._failed.drop((queue, seq))
        return was_there

    # -- rows --------------------------------------------------------------------------------------

    def _at(self, row: QueueRow) -> QueueRow:
        """Return the row as it is, if it stands where a change expects it."""
        found = self._rows[row.queue]
        if found.processed_seq != row.processed_seq or found.state is not QueueState.LIVE:
            raise StateMoved(f"event queue {row.queue} no longer stands at {row.processed_seq}")
        return found

    def _waiting(self, row: QueueRow) -> WaitingQueue:
        first = self.read(row.id, row.processed_seq, 1)
        if not first or first[0].seq != row.processed_seq + 1:
            return WaitingQueue(row, None, None)
        return WaitingQueue(row, first[0].due_at, first[0].enqueued_at)

    def _put(self, row: QueueRow) -> None:
        self._rows.put(row.queue, row)

    def _stored(self, queue_id: int) -> tuple[StoredEvent, ...]:
        return self._events.get_row(queue_id) or ()
