"""The repository port of registered workers, and of the fencing between their incarnations."""

from typing import Protocol

from supervisor.core.model.rows import WorkerRow


class WorkersTable(Protocol):
    """Registered workers, and the fencing between their incarnations."""

    def register(self, row: WorkerRow) -> int:
        """Insert or update if `row.incarnation` is not lower; return the newest incarnation.

        A disabled worker stays disabled.
        """
        ...

    def holds(self, worker_id: str, incarnation: int, *, alone: bool = False) -> bool:
        """Return whether an incarnation is the newest; it stays so until this transaction ends.

        With `alone`, no other transaction that calls this for the worker is open beside the
        caller's: so what the caller counts of the worker's tasks stays until it adds some.
        """
        ...

    def set_disabled(self, worker_id: str, *, disabled: bool) -> bool:
        """Disable or enable a worker; False: nothing changed, or there is no such worker."""
        ...

    def takes_tasks(self, worker_id: str) -> bool:
        """Return whether a worker is known and not disabled."""
        ...

    def forget(self, worker_id: str, incarnation: int) -> bool:
        """Delete a worker's row; False: there is none, or a newer incarnation has registered."""
        ...

    def all(self) -> list[WorkerRow]:
        """Return every worker, by id."""
        ...
