"""Events that were set aside, as they are read from `events_failed`."""

from sqlalchemy import ColumnElement, Connection, RowMapping, select, tuple_

from supervisor.core.queue.events import FailedEvent, FailedPlace, QueueName
from supervisor.metadata.schema.queue_events import event_queues, events_failed

_QUEUE = event_queues.c
_FAILED = events_failed.c


def is_queue(queue: QueueName) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The conditions that a row of `event_queues` is that of a queue."""
    return (_QUEUE.container == queue.container, _QUEUE.name == queue.name)


def failed_events(
    db: Connection, queue: QueueName | None, limit: int, behind: FailedPlace | None
) -> list[FailedEvent]:
    """Return those of one queue or of all behind a place, by queue id and number."""
    conditions = [] if queue is None else [*is_queue(queue)]
    if behind is not None:
        conditions.append(tuple_(_FAILED.queue_id, _FAILED.seq) > tuple_(*behind))
    return _select(db, *conditions, limit=limit)


def failed_event(db: Connection, queue: QueueName, seq: int) -> FailedEvent | None:
    """Return one."""
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
