"""Table ownership: the table, by the newest spec, that decides who may see or change an object."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from supervisor.control.declared_types import last_spec
from supervisor.control.tables import tables_by_supervisor
from supervisor.core.history.operations import number_of
from supervisor.core.queue.events import owner_of
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import NotAllowed
from supervisor.ports.store import Store, Transaction


@dataclass(frozen=True)
class Ownership:
    """Looks up the tables of objects; None: there is no such object."""

    store: Store

    def of_supervisor(self, supervisor_id: str) -> str | None:
        """Return the table of a supervisor's newest spec, also of a terminated one."""
        with self.store.reading() as tx:
            return newest_table(tx, supervisor_id)

    def ever_of_supervisor(self, supervisor_id: str) -> frozenset[str]:
        """Return every table that a version of the supervisor's spec has named."""
        with self.store.reading() as tx:
            tables = tx.specs.tables_of(supervisor_id)
        return frozenset(table for table in tables if table is not None)

    def first_of_supervisor(self, supervisor_id: str) -> datetime | None:
        """Return when the supervisor began; what is older is of a forgotten one of the same id."""
        with self.store.reading() as tx:
            return tx.specs.first_at(supervisor_id)

    def of_supervisors(self) -> dict[str, str]:
        """Return supervisor -> table, without terminated supervisors."""
        with self.store.reading() as tx:
            return tables_by_supervisor(tx)

    def of_task(self, task_id: str) -> str | None:
        """Return the table that a task writes to.

        A submitted task is a supervisor of its id; a compaction is a task of its worker.
        """
        with self.store.reading() as tx:
            found = tx.tasks.get(task_id)
            if found is not None:
                return found.data_source
            if (table := newest_table(tx, task_id)) is not None:
                return table
            rewrite = tx.compactions.get(task_id)
        return None if rewrite is None else rewrite.data_source

    def of_tasks(self, task_ids: Iterable[str]) -> dict[str, str]:
        """Return task -> the table that it writes to, for existing tasks."""
        with self.store.reading() as tx:
            found = tx.tasks.rows_of(list(task_ids))
        return {task_id: task.data_source for task_id, task in found.items()}

    def of_operation(self, operation_id: str) -> frozenset[str]:
        """Return every table of the operation's supervisor; empty: there is no such operation.

        Raises:
            OperationNotFound: this is not an id of an operation.
        """
        number = number_of(operation_id)
        with self.store.reading() as tx:
            found = tx.operations.get(number)
        return frozenset() if found is None else self.ever_of_supervisor(found.supervisor_id)

    def of_compaction(self, compaction_id: str) -> str | None:
        """Return the table of a compaction."""
        with self.store.reading() as tx:
            found = tx.compactions.get(compaction_id)
        return None if found is None else found.data_source

    def of_container(self, container: str) -> frozenset[str]:
        """Return the tables of an event container; empty: it is the cluster's.

        A container is named after a supervisor or a table; usually both have the same name.
        """
        _, colon, owner = container.partition(":")
        if not colon:
            return frozenset()
        fed = self.of_supervisor(owner) if owner_of(container) else None
        return frozenset({fed or owner, owner})


class Allowed(Protocol):
    """Raises NotAllowed for a table that the caller may not change, or topics it may not read."""

    def __call__(self, table: str, spec: SupervisorSpec | None = None) -> None:
        """Check a table; with `spec`, that a spec of the table may read its topics."""


def everything(table: str, spec: SupervisorSpec | None = None) -> None:
    """Allow every table."""


def allowed_before(tx: Transaction, supervisor_id: str, allowed: Allowed) -> None:
    """Return if the caller may change the supervisor's present table, or if there is none.

    Raises:
        NotAllowed: the caller may not change it.
    """
    if (before := newest_table(tx, supervisor_id)) is None:
        return
    try:
        allowed(before)
    except NotAllowed:  # its text would name a table that the caller may not know of
        text = f"you may not apply a spec with the id [{supervisor_id}]: choose another id"
        raise NotAllowed(text) from None


def newest_table(tx: Transaction, supervisor_id: str) -> str | None:
    """Return the table of the newest version that has a spec.

    Raises:
        SpecUnreadable: only a newer release knows where that spec names its table.
    """
    tables = tx.specs.tables_of(supervisor_id, limit=1)
    if tables == [None]:
        return last_spec(tx, supervisor_id).data_source
    return tables[0] if tables else None
