"""What was asked of supervisors, in memory."""

from dataclasses import replace

from supervisor.adapters.memory_rows import Tables
from supervisor.core.model import Generation
from supervisor.core.operations import Operation, OperationFacts, discarded_by


class MemoryOperations:
    """See `ports_operations.OperationsTable`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._rows = tables.operations

    def add(self, operation: Operation) -> Operation:
        """Store it; return it with its number."""
        tables, mine = self._tables, operation.supervisor_id
        ranges = (*tables.live.values(), *tables.ended.values())
        last = max((g.ordinal for g in ranges if g.supervisor_id == mine), default=0)
        number = max(self._rows, default=0) + 1
        stored = replace(operation, last_ordinal=last, number=number)
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
        newer = [g for g in mine if g.spec_version >= version and _is_behind(operation, g)]
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
            discarded=discarded_by(operation, named),
        )

    def forget(self, supervisor_id: str) -> None:
        """Delete those of a supervisor."""
        for operation in self.page(len(self._rows), supervisor_id=supervisor_id):
            self._rows.drop(operation.number)


def _is_behind(operation: Operation, generation: Generation) -> bool:
    if operation.last_ordinal is None:
        return generation.opened_at >= operation.at
    return generation.ordinal > operation.last_ordinal
