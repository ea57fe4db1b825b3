"""The repository port of operations; `Transaction` has it as `operations`."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from supervisor.core.history.operations import Operation, OperationFacts
from supervisor.core.history.replays import ReplayOutcome


class OperationsTable(Protocol):
    """Operations, written in the transaction of the requested change; the newest are kept."""

    def add(self, operation: Operation) -> Operation:
        """Store an operation; return it with its number."""
        ...

    def get(self, number: int) -> Operation | None:
        """Return one operation."""
        ...

    def page(
        self, limit: int, *, before: int | None = None, supervisor_id: str | None = None
    ) -> list[Operation]:
        """Return operations, newest first; with `before` only lower numbers."""
        ...

    def of_versions(self, supervisor_id: str, versions: Collection[int]) -> dict[int, Operation]:
        """Return version of the spec -> the operation that stored it, as far as they are kept."""
        ...

    def newest_of(self, supervisor_ids: Collection[str]) -> dict[str, Operation]:
        """Return supervisor -> its newest operation; one statement."""
        ...

    def facts(self, operation: Operation) -> OperationFacts:
        """Return the facts that decide the state of an operation; the caller fills in `rests`."""
        ...

    def finish(self, number: int, outcome: ReplayOutcome, now: datetime) -> None:
        """Store the outcome of a replay, unless it has one."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete the operations of a supervisor."""
        ...
