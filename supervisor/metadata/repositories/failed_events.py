"""Queries on the failed queue, the table `events_failed`."""

from sqlalchemy import ColumnElement, Connection, RowMapping, select, tuple_

from supervisor.core.queue.events import FailedEvent, FailedPlace, QueueName
from supervisor.metadata.schema.queue_events import event_queues, events_failed

_QUEUE = event_queues.c
_FAILED = events_failed.c


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
