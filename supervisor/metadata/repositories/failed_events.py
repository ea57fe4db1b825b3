"""Queries on some events of many queues: those that were set aside, and the first that wait."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, RowMapping, func, select, tuple_

from supervisor.core.queue.events import FailedEvent, FailedPlace, QueueName, StoredEvent
from supervisor.metadata.schema.queue_events import (
    event_positions,
    event_queues,
    events,
    events_failed,
)
from supervisor.metadata.schema.rows import chunks

_QUEUE = event_queues.c
_FAILED = events_failed.c
_EVENT = events.c
_AT = event_positions.c


def is_queue(queue: QueueName) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that select the row of one queue in `event_queues`."""
    return (_QUEUE.container == queue.container, _QUEUE.name == queue.name)


def failed_events(
    db: Connection, queue: QueueName | None, limit: int, behind: FailedPlace | None
) -> list[FailedEvent]:
    """Return failed events behind a place, of one queue or of all, by queue id and number."""
    conditions = [] if queue is None else [*is_queue(queue)]
    if behind is not None:
        conditions.append(tuple_(_FAILED.queue_id, _FAILED.seq) > tuple_(*behind))
    return _select(db, *conditions, limit=limit)


def failed_event(db: Connection, queue: QueueName, seq: int) -> FailedEvent | None:
    """Return one failed event."""
    return next(iter(_select(db, *is_queue(queue), _FAILED.seq == seq, limit=1)), None)


def _select(db: Connection, *conditions: ColumnElement[bool], limit: int) -> list[FailedEvent]:
    rows = db.execute(
        select(events_failed, _QUEUE.container, _QUEUE.name)
        .join(event_queues, _QUEUE.id == _FAILED.queue_id)
        .where(*conditions)
        .order_by(_FAILED.queue_id, _FAILED.seq)
        .limit(limit)
    ).mappings()
    return [_read(row) for row in rows]


def _read(row: RowMapping) -> FailedEvent:
    values = {name: row[name] for name in FailedEvent.__dataclass_fields__ if name != "queue"}
    return FailedEvent(queue=QueueName(row["container"], row["name"]), **values)


def heads(db: Connection, queue_ids: Sequence[int]) -> dict[int, StoredEvent]:
    """Return queue id -> its first waiting event; a queue without one is absent."""
    # One seek in the index per queue: a sum over what waits would read all of it.
    lowest = (
        select(func.min(_EVENT.seq))
        .where(_EVENT.queue_id == _AT.queue_id, _EVENT.seq > _AT.processed_seq)
        .correlate(event_positions)
        .scalar_subquery()
    )
    first = select(_AT.queue_id, lowest.label("seq"))
    events_of: dict[int, StoredEvent] = {}
    for ids in chunks(queue_ids):
        mine = first.where(_AT.queue_id.in_(ids)).subquery()
        is_first = (_EVENT.queue_id == mine.c.queue_id) & (_EVENT.seq == mine.c.seq)
        rows = db.execute(select(events).join(mine, is_first)).mappings()
        events_of |= {row["queue_id"]: stored_event(row) for row in rows}
    return events_of


def stored_event(row: RowMapping) -> StoredEvent:
    """Return the event of a row of `events`."""
    names = (column.name for column in _EVENT if column is not _EVENT.queue_id)
    return StoredEvent(**{name: row[name] for name in names})
