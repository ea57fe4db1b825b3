"""Executions in the memory of a process; what the database says of birth and version decides."""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from supervisor.core.executions.entities import Execution

__all__ = ["RememberedExecutions"]

_KNOWN_MAX = 10_000
"""Executions that are kept in memory, to be read with one small row."""


class RememberedExecutions:
    """The newest executions that this process has written or read, by id; bounded."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_id: OrderedDict[str, Execution] = OrderedDict()

    def get(self, execution_id: str) -> Execution | None:
        """Return one that is known."""
        with self._lock:
            return self._by_id.get(execution_id)

    def put(self, executions: Iterable[Execution]) -> None:
        """Remember them; those that were used longest ago are forgotten."""
        with self._lock:
            for execution in executions:
                self._by_id[execution.id] = execution
                self._by_id.move_to_end(execution.id)
            while len(self._by_id) > _KNOWN_MAX:
                self._by_id.popitem(last=False)
