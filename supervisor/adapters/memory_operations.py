"""What was asked of supervisors, in memory."""

from dataclasses import replace

from supervisor.adapters.memory_rows import Tables
from supervisor.core.model import Generation, GenerationState
from supervisor.core.operations import Operation, OperationFacts, OperationKind


class MemoryOperations:
    """See `ports_operations.OperationsTable`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._rows = tables.operations

    def add(self, operation: Operation) -> Operation:
        """Store it; return it with its number."""
        stored = replace(operation, number=max(self._rows, default=0) + 1)
        self._rows.put(stored.number, stored)
        return stored

    def get(self, number: int) -> Operation | None:
        """Return one."""
        return self._rows.get_row(number)

    def page(
        self, limit: int, *, before: int | None = None, supervisor_id: str | None = None
    ) -> list[Operation]:
        """Return those with lower numbers, or all, newest first."""
        found = [
            row
            for number, row in self._rows.items()
            if (before is None or number < before) and supervisor_id in {None, row.supervisor_id}
        ]
        return found[::-1][:limit]

    def facts(self, operation: Operation) -> OperationFacts:
        """Return the rows that it is judged by."""
        live, ended = self._tables.live, self._tables.ended
        every = {**live, **ended}
        named = [every[each] for each in operation.ranges if each in every]
        version = operation.spec_version
        if version is None:
            return OperationFacts(named=tuple(named))
        mine = [g for g in every.values() if g.supervisor_id == operation.supervisor_id]
        older = [g for g in mine if g.spec_version < version]
        newer = [g for g in mine if g.spec_version >= version and g.opened_at >= operation.at]
        versions = self._tables.specs.get_row(operation.supervisor_id) or ()
        times = [g.ended_at for g in older if g.ended_at is not None]
        return OperationFacts(
            older=tuple(sorted((g for g in older if g.live), key=lambda g: g.ordinal)),
            older_ended_at=max((at for at in times if at >= operation.at), default=None),
            opened_at=min((g.opened_at for g in newer), default=None),
            named=tuple(named),
            next_version_at=min(
                (v.created_at for v in versions if v.version > version), default=None
            ),
            discarded=_discarded(operation, older),
        )

    def forget(self, supervisor_id: str) -> None:
        """Delete those of a supervisor."""
        for operation in self.page(len(self._rows), supervisor_id=supervisor_id):
            self._rows.drop(operation.number)


def _discarded(operation: Operation, older: list[Generation]) -> tuple[Generation, ...]:
    if operation.kind is not OperationKind.TERMINATE:
        return ()
    gone = [g for g in older if g.state is GenerationState.DISCARDED]
    since = (g for g in gone if g.ended_at is not None and g.ended_at >= operation.at)
    return tuple(sorted(since, key=lambda g: g.ordinal))
