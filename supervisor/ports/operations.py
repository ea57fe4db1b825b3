"""What was asked of supervisors, as a repository; `ports.Transaction` carries it."""

from typing import Protocol

from supervisor.core.history.operations import Operation, OperationFacts


class OperationsTable(Protocol):
    """Wishes, written in the transaction of what they wish for; the newest are kept."""

    def add(self, operation: Operation) -> Operation:
        """Store it; return it with its number."""
        ...

    def get(self, number: int) -> Operation | None:
        """Return one."""
        ...

    def page(
        self, limit: int, *, before: int | None = None, supervisor_id: str | None = None
    ) -> list[Operation]:
        """Return those with lower numbers, or all, newest first."""
        ...

    def facts(self, operation: Operation) -> OperationFacts:
        """Return the rows that it is judged by; `rests` is the caller's to fill in."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete those of a supervisor."""
        ...
