"""Which table decides whether something may be seen or changed: that of the newest spec."""

from dataclasses import dataclass

from supervisor.core.events import owner_of
from supervisor.ports import Store, Transaction


@dataclass(frozen=True)
class Ownership:
    """Looks up tables; None: there is no such thing."""

    store: Store

    def of_supervisor(self, supervisor_id: str) -> str | None:
        """Return the table of a supervisor's newest spec, also of a terminated one."""
        with self.store.reading() as tx:
            return newest_table(tx, supervisor_id)

    def ever_of_supervisor(self, supervisor_id: str) -> frozenset[str]:
        """Return every table that a supervisor was ever to feed."""
        with self.store.reading() as tx:
            found = tx.specs.history(supervisor_id)
        return frozenset(v.spec.data_source for v in found if v.spec is not None)

    def of_supervisors(self) -> dict[str, str]:
        """Return supervisor -> table, of those that are not terminated."""
        with self.store.reading() as tx:
            newest = tx.specs.all_newest()
        return {v.supervisor_id: v.spec.data_source for v in newest if v.spec is not None}

    def of_task(self, task_id: str) -> str | None:
        """Return the table that a task writes to."""
        with self.store.reading() as tx:
            found = tx.tasks.get(task_id)
        return None if found is None else found.data_source

    def of_compaction(self, compaction_id: str) -> str | None:
        """Return the table that is compacted."""
        with self.store.reading() as tx:
            found = tx.compactions.get(compaction_id)
        return None if found is None else found.data_source

    def of_container(self, container: str) -> frozenset[str]:
        """Return the tables that an event container is for; none: it is no single supervisor's.

        A container is named after a supervisor or a table, which mostly have one name.
        """
        _, colon, owner = container.partition(":")
        if not colon:
            return frozenset()
        fed = self.of_supervisor(owner) if owner_of(container) else None
        return frozenset({fed or owner, owner})


def newest_table(tx: Transaction, supervisor_id: str) -> str | None:
    """Return the table of the newest version that is a spec."""
    found = tx.specs.newest(supervisor_id)
    while found is not None and found.spec is None and found.version > 1:
        found = tx.specs.version(supervisor_id, found.version - 1)
    return None if found is None or found.spec is None else found.spec.data_source
