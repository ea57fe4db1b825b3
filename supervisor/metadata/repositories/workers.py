"""The repository of registered workers: fencing between the incarnations of one worker (P7)."""

from sqlalchemy import Connection, bindparam, delete, select, update

from supervisor.core.model.rows import WorkerRow
from supervisor.metadata.schema.rows import insert_unless_taken, take_turns
from supervisor.metadata.schema.tables import workers
from supervisor.ports.touched import Touched

_AT = workers.c
# The share lock lets no other incarnation register before the reader's transaction ends.
_NEWEST = select(_AT.incarnation).where(_AT.id == bindparam("worker")).with_for_update(read=True)

_TAKES = select(_AT.id).where(_AT.id == bindparam("worker"), _AT.disabled.is_not(True))


class SqlWorkers:
    """See `ports.store.WorkersTable`."""

    def __init__(self, connection: Connection, touched: Touched) -> None:
        self._db = connection
        self._touched = touched

    def register(self, row: WorkerRow) -> int:
        """Insert or update if `row.incarnation` is not lower; return the newest incarnation.

        A disabled worker stays disabled.
        """
        self._touched.workers.add(row.id)
        values = {c.name: getattr(row, c.name) for c in _AT if c is not _AT.disabled}
        updated = self._db.execute(
            update(workers)
            .where(_AT.id == row.id, _AT.incarnation <= row.incarnation)
            .values(values)
            .returning(_AT.id)
        ).one_or_none()
        if updated is not None or insert_unless_taken(self._db, (workers, [values])):
            return row.incarnation
        # The row has a newer incarnation, or another transaction has just inserted the row.
        newest = select(_AT.incarnation).where(_AT.id == row.id)
        return int(self._db.execute(newest).scalar_one())

    def holds(self, worker_id: str, incarnation: int, *, alone: bool = False) -> bool:
        """Return whether an incarnation is the newest; it stays so until this transaction ends."""
        if alone:  # no lock of the row: a long publish of the worker holds a share lock
            take_turns(self._db, f"slots of {worker_id}")
        newest = self._db.execute(_NEWEST, {"worker": worker_id}).scalar_one_or_none()
        return newest == incarnation

    def set_disabled(self, worker_id: str, *, disabled: bool) -> bool:
        """Disable or enable a worker; False: nothing changed, or there is no such worker."""
        self._touched.workers.add(worker_id)
        state_differs = _AT.disabled.is_not(True) if disabled else _AT.disabled.is_(True)
        changed = self._db.execute(
            update(workers)
            .where(_AT.id == worker_id, state_differs)
            .values(disabled=disabled)
            .returning(_AT.id)
        ).one_or_none()
        return changed is not None

    def takes_tasks(self, worker_id: str) -> bool:
        """Return whether a worker is known and not disabled."""
        found = self._db.execute(_TAKES, {"worker": worker_id}).scalar_one_or_none()
        return found is not None

    def forget(self, worker_id: str, incarnation: int) -> bool:
        """Delete a worker's row; False: there is none, or a newer incarnation has registered."""
        self._touched.workers.add(worker_id)
        mine = _AT.id == worker_id, _AT.incarnation == incarnation
        gone = self._db.execute(delete(workers).where(*mine).returning(_AT.id)).one_or_none()
        return gone is not None

    def all(self) -> list[WorkerRow]:
        """Return every worker, by id."""
        rows = self._db.execute(select(workers).order_by(_AT.id)).mappings()
        return [WorkerRow(**{**row, "disabled": bool(row["disabled"])}) for row in rows]
