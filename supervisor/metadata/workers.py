"""Registered workers: the fence between the incarnations of one worker (P7)."""

from sqlalchemy import Connection, bindparam, select, update

from supervisor.core.model import WorkerRow
from supervisor.metadata.rows import insert_unless_taken
from supervisor.metadata.tables import workers

_AT = workers.c
# The share lock lets no other incarnation register before the reader's transaction ends.
_NEWEST = select(_AT.incarnation).where(_AT.id == bindparam("worker")).with_for_update(read=True)


class SqlWorkers:
    """See `ports.WorkersTable`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def register(self, row: WorkerRow) -> int:
        """Insert or update if `row.incarnation` is not lower; return the newest incarnation."""
        values = {column.name: getattr(row, column.name) for column in _AT}
        updated = self._db.execute(
            update(workers)
            .where(_AT.id == row.id, _AT.incarnation <= row.incarnation)
            .values(values)
            .returning(_AT.id)
        ).one_or_none()
        if updated is not None or insert_unless_taken(self._db, (workers, [values])):
            return row.incarnation
        # It stands there with a newer incarnation, or has just been inserted by somebody else.
        newest = select(_AT.incarnation).where(_AT.id == row.id)
        return int(self._db.execute(newest).scalar_one())

    def holds(self, worker_id: str, incarnation: int) -> bool:
        """Tell whether an incarnation is the newest; it stays so until this transaction ends."""
        newest = self._db.execute(_NEWEST, {"worker": worker_id}).scalar_one_or_none()
        return newest == incarnation

    def all(self) -> list[WorkerRow]:
        """Return every worker, by id."""
        rows = self._db.execute(select(workers).order_by(_AT.id)).mappings()
        return [WorkerRow(**row) for row in rows]
