"""The engine as verbs of people and triggers use it, whatever it works on.

StoredEngine   works inputs in at once, in the database: `engine.py`
LetterEngine   stores letters, which executors work in from the topics: `letter_engine.py`
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ExecutionInput
from supervisor.executions.engine import Worked
from supervisor.ports.flows.executions import ExecutionChanges, ExecutionRows

__all__ = ["FlowBatch", "FlowEngine"]


class FlowBatch(Protocol):
    """Inputs of one transaction."""

    def start(self, execution: Execution) -> bool:
        """Take a new execution over; False: one with its id is there, and is left as it is."""
        ...

    def send(self, execution: str, given: ExecutionInput) -> None:
        """Queue an input; `work` reduces it, or judges it."""
        ...

    def work(self) -> None:
        """Do what can be done here with everything that is queued."""
        ...

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution as far as it is known by now."""
        ...

    def changes(self) -> ExecutionChanges:
        """Return what is to be stored."""
        ...


class FlowEngine(Protocol):
    """Safe to use from many threads.

    Each use raises `LeaseLost`, `StoreAway` or `StoreRefuses`; then nothing is stored.
    """

    def work(
        self,
        inputs: Sequence[tuple[str, ExecutionInput]] = (),
        starts: Sequence[Execution] = (),
    ) -> Worked:
        """Take new executions and inputs, in this order; say which are new, or dropped."""
        ...

    def batch(self, rows: ExecutionRows) -> FlowBatch:
        """Begin a batch in a transaction of one's own; `committed` follows its commit."""
        ...

    def committed(self) -> None:
        """Hear that batches of others are stored."""
        ...

    def purge(self, before: datetime, of_each: int) -> int:
        """Delete some executions that ended long ago; see `StoredEngine.purge`."""
        ...

    def alive(self, execution_ids: Iterable[str]) -> set[str]:
        """Return which of these executions have not ended."""
        ...
