"""Harms the stored rows of a queue behind the back of its repository, on every backing."""

from collections.abc import Callable

from sqlalchemy import delete, update

from supervisor.adapters.memory import MemoryStore
from supervisor.core.events import QueueName, StoredEvent
from supervisor.metadata.engine import WRITES
from supervisor.metadata.store import SqlStore
from supervisor.metadata.tables_events import events
from supervisor.ports import Store

Harm = Callable[[StoredEvent], StoredEvent | None]
"""What becomes of a row; None: it is lost."""


def harm(store: Store, queue: QueueName, seq: int, change: Harm) -> None:
    """Change one stored row, or lose it."""
    with store.reading() as tx:
        row = tx.events.find(queue)
        assert row is not None
        [stored] = tx.events.read(row.id, seq - 1, 1)
    after = change(stored)
    if isinstance(store, MemoryStore):
        _in_memory(store, row.id, seq, after)
        return
    assert isinstance(store, SqlStore)
    mine = (events.c.queue_id == row.id) & (events.c.seq == seq)
    with store._engine.connect() as connection:
        connection.execution_options(**{WRITES: True})
        with connection.begin():
            if after is None:
                connection.execute(delete(events).where(mine))
            else:
                connection.execute(update(events).where(mine).values(**vars(after)))


def _in_memory(store: MemoryStore, queue_id: int, seq: int, after: StoredEvent | None) -> None:
    tables = store._committed.draft()
    rows = tables.events.get_row(queue_id) or ()
    kept = [after if row.seq == seq else row for row in rows]
    tables.events.put(queue_id, tuple(row for row in kept if row is not None))
    tables.freeze()
    store._committed = tables
