"""Harms the stored rows of a queue behind the back of its repository."""

from collections.abc import Callable

from sqlalchemy import delete, update

from supervisor.core.queue.events import QueueName, StoredEvent
from supervisor.database.engine import WRITES
from supervisor.metadata.schema.queue_events import events
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store

Harm = Callable[[StoredEvent], StoredEvent | None]
"""What becomes of a row; None: it is lost."""


def harm(store: Store, queue: QueueName, seq: int, change: Harm) -> None:
    """Change one stored row, or lose it."""
    with store.reading() as tx:
        row = tx.events.find(queue)
        assert row is not None
        [stored] = tx.events.read(row.id, seq - 1, 1)
    after = change(stored)
    assert isinstance(store, SqlStore)
    mine = (events.c.queue_id == row.id) & (events.c.seq == seq)
    with store._engine.connect() as connection:
        connection.execution_options(**{WRITES: True})
        with connection.begin():
            if after is None:
                connection.execute(delete(events).where(mine))
            else:
                connection.execute(update(events).where(mine).values(**vars(after)))
