"""Registered workers in memory."""

from supervisor.adapters.memory_rows import Tables
from supervisor.core.model import WorkerRow


class MemoryWorkers:
    """See `ports.WorkersTable`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.workers

    def register(self, row: WorkerRow) -> int:
        """Insert or update if `row.incarnation` is not lower; return the newest incarnation."""
        present = self._rows.get_row(row.id)
        if present is not None and present.incarnation > row.incarnation:
            return present.incarnation
        self._rows.put(row.id, row)
        return row.incarnation

    def holds(self, worker_id: str, incarnation: int) -> bool:
        """Tell whether an incarnation is the newest; it stays so until this transaction ends."""
        present = self._rows.get_row(worker_id)
        return present is not None and present.incarnation == incarnation

    def all(self) -> list[WorkerRow]:
        """Return every worker, by id."""
        return [self._rows[worker_id] for worker_id in sorted(self._rows)]
