"""Registered workers in memory."""

from dataclasses import replace

from supervisor.adapters.memory_rows import Tables
from supervisor.core.model import WorkerRow


class MemoryWorkers:
    """See `ports.WorkersTable`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.workers

    def register(self, row: WorkerRow) -> int:
        """Insert or update if `row.incarnation` is not lower; return the newest incarnation.

        A worker that was disabled stays so.
        """
        present = self._rows.get_row(row.id)
        if present is not None and present.incarnation > row.incarnation:
            return present.incarnation
        disabled = present is not None and present.disabled
        self._rows.put(row.id, replace(row, disabled=disabled))
        return row.incarnation

    def holds(self, worker_id: str, incarnation: int) -> bool:
        """Tell whether an incarnation is the newest; it stays so until this transaction ends."""
        present = self._rows.get_row(worker_id)
        return present is not None and present.incarnation == incarnation

    def set_disabled(self, worker_id: str, *, disabled: bool) -> bool:
        """Take a worker out, or in again; False: it stood so already, or there is none."""
        present = self._rows.get_row(worker_id)
        if present is None or present.disabled == disabled:
            return False
        self._rows.put(worker_id, replace(present, disabled=disabled))
        return True

    def takes_tasks(self, worker_id: str) -> bool:
        """Tell whether a worker is known and not taken out."""
        present = self._rows.get_row(worker_id)
        return present is not None and not present.disabled

    def all(self) -> list[WorkerRow]:
        """Return every worker, by id."""
        return [self._rows[worker_id] for worker_id in sorted(self._rows)]
