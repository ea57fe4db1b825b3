"""The repository of event queues: events are numbered at commit, positions move by guarded updates.

    event_queues      the producers' row of a queue, locked from the numbering to the commit: no gap
    event_positions   the consumer's row of a queue, so that producers and consumer never wait

Queues are locked in ascending order of their ids, so that two transactions never deadlock.  Missing
queues are created before the first of these locks, in the order of their names.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    union,
    update,
)

from supervisor.core.attention.queues import FailedEvents
from supervisor.core.queue.events import (
    FailedEvent,
    FailedPlace,
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueMode,
    QueueName,
    QueueRow,
    StoredEvent,
    WaitingQueue,
)
from supervisor.core.queue.pending_events import (
    Drafts,
    admit,
    drafted,
    first_due,
    numbered,
    rebuilt,
)
from supervisor.core.values.errors import StateMoved
from supervisor.metadata.repositories.failed_events import (
    failed_event,
    failed_events,
    heads,
    is_queue,
    stored_event,
)
from supervisor.metadata.schema.queue_events import (
    event_positions,
    event_queues,
    events,
    events_failed,
)
from supervisor.metadata.schema.rows import insert_unless_taken

_QUEUE = event_queues.c
_AT = event_positions.c
_EVENT = events.c
_FAILED = events_failed.c
_BOTH = event_queues.join(event_positions, _AT.queue_id == _QUEUE.id)
_COLUMNS = (*_QUEUE, *(column for column in _AT if column is not _AT.queue_id))
_QUEUES = select(*_COLUMNS).select_from(_BOTH)

# Built once: adding an event costs time in the caller's transaction.
_NAMED = (_QUEUE.container == bindparam("container"), _QUEUE.name == bindparam("name"))
_FIND = _QUEUES.where(*_NAMED)
_ID_OF = select(_QUEUE.id).where(*_NAMED)
_FULL = _QUEUE.segment_bytes >= bindparam("rollover")
_NUMBER = (
    update(event_queues)
    .where(_QUEUE.id == bindparam("queue_id"))
    .values(
        mode=bindparam("new_mode"),
        next_seq=_QUEUE.next_seq + bindparam("count"),
        enqueued_bytes=_QUEUE.enqueued_bytes + bindparam("size"),
        segment_no=case((_FULL, _QUEUE.segment_no + 1), else_=_QUEUE.segment_no),
        segment_bytes=bindparam("size") + case((_FULL, 0), else_=_QUEUE.segment_bytes),
    )
    .returning(_QUEUE.next_seq, _QUEUE.segment_no)
)
_INSERT = insert(events)
_DEAD = _QUEUES.where(_AT.state == QueueHealth.DEAD)  # asked for in each pass


class SqlEvents:
    """See `ports.queue_events.Events`.

    Without `writable` no event can be added.
    """

    def __init__(self, connection: Connection, *, writable: bool = True) -> None:
        self._db = connection
        self._writable = writable
        self._drafts: dict[QueueName, Drafts] = {}

    # -- adding ------------------------------------------------------------------------------------

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
        """Number and insert the added events; return queue -> when its first new event is due.

        The store calls this method just before the commit, because it locks the queues.
        """
        drafts, self._drafts = self._drafts, {}
        ids = self._ids_of(drafts)
        for queue in sorted(drafts, key=ids.__getitem__):
            self._insert(ids[queue], drafts[queue])
        return {queue: first_due(added.drafts) for queue, added in drafts.items()}

    def _ids_of(self, drafts: Mapping[QueueName, Drafts]) -> dict[QueueName, int]:
        ids = {}
        for queue, added in sorted(drafts.items(), key=itemgetter(0)):
            queue_id = self._id_of(queue) if added.row is None else added.row.id
            queue_id = queue_id or self._create(queue, added.config.mode)
            assert queue_id is not None, f"{queue} is neither there nor can it be created"
            ids[queue] = queue_id
        return ids

    def _create(self, queue: QueueName, mode: QueueMode) -> int | None:
        """Create a queue, unless another transaction has just committed it; return its id."""
        new = QueueRow(0, queue, mode)
        values = {c.name: getattr(new, c.name, None) for c in (*_QUEUE, *_AT)}
        named = {"container": queue.container, "name": queue.name}
        row = {c.name: values[c.name] for c in _QUEUE if c is not _QUEUE.id} | named
        is_new = insert_unless_taken(self._db, (event_queues, [row]))
        queue_id = self._id_of(queue)
        if is_new:
            position = {c.name: values[c.name] for c in _AT} | {"queue_id": queue_id}
            self._db.execute(insert(event_positions), [position])
        return queue_id

    def _insert(self, queue_id: int, added: Drafts) -> None:
        count = len(added.drafts)
        parameters = {
            "queue_id": queue_id,
            "rollover": added.config.segment_rollover_bytes,
            "new_mode": added.config.mode,
            "count": count,
            "size": added.size_bytes,
        }
        row = self._db.execute(_NUMBER, parameters).one()
        rows = numbered(added.drafts, row.next_seq - count, row.segment_no)
        self._db.execute(_INSERT, [{"queue_id": queue_id, **vars(one)} for one in rows])

    # -- reading -----------------------------------------------------------------------------------

    def find(self, queue: QueueName) -> QueueRow | None:
        """Return a queue with its position; None before the first event was added to the queue."""
        named = {"container": queue.container, "name": queue.name}
        row = self._db.execute(_FIND, named).mappings().one_or_none()
        return None if row is None else _read_queue(row)

    def all(self) -> list[QueueRow]:
        """Return every queue, by name."""
        return self._queues(_QUEUES)

    def dead(self) -> list[QueueRow]:
        """Return the DEAD queues, by name."""
        return self._queues(_DEAD)

    def waiting(self) -> list[WaitingQueue]:
        """Return the live queues with outstanding events, by name.

        A damaged queue, which counts fewer events than were processed, is among them.
        """
        first = (_EVENT.queue_id == _QUEUE.id) & (_EVENT.seq == _AT.processed_seq + 1)
        rows = self._db.execute(
            select(*_COLUMNS, _EVENT.due_at, _EVENT.enqueued_at)
            .select_from(_BOTH.outerjoin(events, first))
            .where(_AT.state == QueueHealth.LIVE, _QUEUE.next_seq != _AT.processed_seq + 1)
            .order_by(_QUEUE.container, _QUEUE.name)
        ).mappings()
        return [WaitingQueue(_read_queue(row), row["due_at"], row["enqueued_at"]) for row in rows]

    def heads(self, queue_ids: Sequence[int]) -> dict[int, StoredEvent]:
        """Return queue id -> its first waiting event; see the port."""
        return heads(self._db, queue_ids)

    def read(self, queue_id: int, after_seq: int, limit: int) -> list[StoredEvent]:
        """Return events with numbers above `after_seq`, ascending, due or not."""
        return self._stored(
            select(events)
            .where(_EVENT.queue_id == queue_id, _EVENT.seq > after_seq)
            .order_by(_EVENT.seq)
            .limit(limit)
        )

    def outstanding_keys(self, queue: QueueName) -> frozenset[str]:
        """Return the keys of events that wait, or were set aside and not yet dropped.

        Events that this transaction adds are included.
        """
        waiting = (
            select(_EVENT.key)
            .join(event_positions, _AT.queue_id == _EVENT.queue_id)
            .join(event_queues, _QUEUE.id == _EVENT.queue_id)
            .where(*is_queue(queue), _EVENT.seq > _AT.processed_seq)
        )
        aside = select(_FAILED.key).join(event_queues, _QUEUE.id == _FAILED.queue_id)
        stored = self._db.execute(union(waiting, aside.where(*is_queue(queue)))).scalars()
        added = self._drafts.get(queue, Drafts(None)).drafts
        return frozenset(stored) | {draft.key for draft in added}

    def segments_left(self) -> dict[QueueName, int]:
        """Return queue -> the number of segments of its stored rows; without rows: absent."""
        first = (_EVENT.queue_id == _QUEUE.id) & (_EVENT.seq == _AT.truncated_seq + 1)
        rows = self._db.execute(
            select(_QUEUE.container, _QUEUE.name, _QUEUE.segment_no - _EVENT.segment_no + 1)
            .select_from(_BOTH.join(events, first))
            .order_by(_QUEUE.container, _QUEUE.name)
        )
        return {QueueName(container, name): count for container, name, count in rows}

    # -- positions ---------------------------------------------------------------------------------

    def advance(self, row: QueueRow, processed_seq: int, processed_bytes: int) -> None:
        """Move the position from `row.processed_seq` to these totals; the failure count restarts.

        Raises:
            StateMoved: the position is another one, or the queue is DEAD.
        """
        moved = {"processed_seq": processed_seq, "processed_bytes": processed_bytes}
        self._change(row, {**moved, "failed_iterations": 0, "last_error": ""})

    def record_failure(self, row: QueueRow, error: str) -> None:
        """Count one more failed iteration at this position.

        Raises:
            StateMoved: the position moved, or the queue is DEAD.
        """
        failures = _AT.failed_iterations + 1
        self._change(row, {"failed_iterations": failures, "last_error": error})

    def truncate(self, row: QueueRow, up_to_seq: int) -> None:
        """Delete processed rows up to `up_to_seq`; count the deleted rows and bytes."""
        mine = _AT.queue_id == row.id
        at = self._db.execute(
            select(_AT.processed_seq, _AT.truncated_seq).where(mine).with_for_update()
        ).one()
        last = min(up_to_seq, at.processed_seq)
        if last <= at.truncated_seq:
            return
        gone = (_EVENT.queue_id == row.id) & _EVENT.seq.between(at.truncated_seq + 1, last)
        size = self._sum_bytes(gone)
        self._db.execute(delete(events).where(gone))
        self._db.execute(
            update(event_positions)
            .where(mine)
            .values(truncated_seq=last, truncated_bytes=_AT.truncated_bytes + size)
        )

    def declare_dead(self, row: QueueRow, seq: int, why: str) -> None:
        """Mark a queue DEAD, which stops it; a queue that is DEAD keeps its first reason."""
        self._db.execute(
            update(event_positions)
            .where(_AT.queue_id == row.id, _AT.state == QueueHealth.LIVE)
            .values(state=QueueHealth.DEAD, dead_seq=seq, dead_why=why)
        )

    def rebuild(self, queue: QueueName) -> list[StoredEvent]:
        """Make a DEAD queue LIVE and empty, with sound counters; return the rows that waited.

        Raises:
            StateMoved: the queue is not DEAD.
        """
        locked = _QUEUES.where(*is_queue(queue), _AT.state == QueueHealth.DEAD).with_for_update()
        row = next(iter(self._queues(locked)), None)
        if row is None:
            raise StateMoved(f"event queue {queue} is not dead")
        mine = _EVENT.queue_id == row.id
        waited = self._stored(
            select(events).where(mine, _EVENT.seq > row.processed_seq).order_by(_EVENT.seq)
        )
        low, high = self._db.execute(
            select(func.min(_EVENT.seq), func.max(_EVENT.seq)).where(mine)
        ).one()
        aside = select(func.max(_FAILED.seq)).where(_FAILED.queue_id == row.id)
        sound = rebuilt(
            row,
            lowest_seq=low,
            highest_seq=max(high or 0, self._db.execute(aside).scalar_one() or 0),
            stored_bytes=self._sum_bytes(mine),
        )
        for table, key in ((event_queues, _QUEUE.id), (event_positions, _AT.queue_id)):
            columns = (c.name for c in table.c if not c.primary_key and hasattr(sound, c.name))
            values = {name: getattr(sound, name) for name in columns}
            self._db.execute(update(table).where(key == row.id).values(**values))
        return waited

    def _change(self, row: QueueRow, values: Mapping[str, object]) -> None:
        changed = self._db.execute(
            update(event_positions)
            .where(_AT.queue_id == row.id, _AT.processed_seq == row.processed_seq)
            .where(_AT.state == QueueHealth.LIVE)
            .values(**values)
            .returning(_AT.queue_id)
        ).one_or_none()
        if changed is None:
            raise StateMoved(f"event queue {row.queue} no longer stands at {row.processed_seq}")

    # -- set aside ---------------------------------------------------------------------------------

    def set_aside(self, failed: FailedEvent) -> None:
        """Add an event to the failed queue; an event already there keeps its first reason."""
        queue_id = self._id_of(failed.queue)
        assert queue_id is not None, f"there is no event queue {failed.queue}"
        values = {c.name: getattr(failed, c.name) for c in _FAILED if c is not _FAILED.queue_id}
        insert_unless_taken(self._db, (events_failed, [{"queue_id": queue_id, **values}]))

    def failed(
        self, queue: QueueName | None, limit: int, behind: FailedPlace | None = None
    ) -> list[FailedEvent]:
        """Return events that were set aside, of one queue or of all, by queue id and number."""
        return failed_events(self._db, queue, limit, behind)

    def failed_counts(self) -> dict[QueueName, int]:
        """Return how many events of each queue are set aside; queues without any are left out."""
        return {queue: failed.count for queue, failed in self.failed_since().items()}

    def failed_since(self) -> dict[QueueName, FailedEvents]:
        """Return the same with the time of the oldest one."""
        rows = self._db.execute(
            select(_QUEUE.container, _QUEUE.name, func.count(), func.min(_FAILED.failed_at))
            .join(events_failed, _FAILED.queue_id == _QUEUE.id)
            .group_by(_QUEUE.container, _QUEUE.name)
        )
        return {QueueName(c, name): FailedEvents(count, at) for c, name, count, at in rows}

    def failed_event(self, queue: QueueName, seq: int) -> FailedEvent | None:
        """Return one event of the failed queue."""
        return failed_event(self._db, queue, seq)

    def drop_failed(self, queue: QueueName, seq: int) -> bool:
        """Delete one event from the failed queue; False: the event is not there."""
        queue_id = select(_QUEUE.id).where(*is_queue(queue)).scalar_subquery()
        dropped = self._db.execute(
            delete(events_failed)
            .where(_FAILED.queue_id == queue_id, _FAILED.seq == seq)
            .returning(_FAILED.seq)
        ).one_or_none()
        return dropped is not None

    # -- rows --------------------------------------------------------------------------------------

    def _id_of(self, queue: QueueName) -> int | None:
        named = {"container": queue.container, "name": queue.name}
        return self._db.execute(_ID_OF, named).scalar_one_or_none()

    def _sum_bytes(self, condition: ColumnElement[bool]) -> int:
        # PostgreSQL returns the sum of big integers as a decimal.
        total = select(func.coalesce(func.sum(_EVENT.size_bytes), 0)).where(condition)
        return int(self._db.execute(total).scalar_one())

    def _queues(self, query: Select[*tuple[object, ...]]) -> list[QueueRow]:
        ordered = query.order_by(_QUEUE.container, _QUEUE.name)
        return [_read_queue(row) for row in self._db.execute(ordered).mappings()]

    def _stored(self, query: Select[*tuple[object, ...]]) -> list[StoredEvent]:
        return [stored_event(row) for row in self._db.execute(query).mappings()]


def _read_queue(row: RowMapping) -> QueueRow:
    values = {name: row[name] for name in QueueRow.__dataclass_fields__ if name != "queue"}
    return QueueRow(queue=QueueName(row["container"], row["name"]), **values)
