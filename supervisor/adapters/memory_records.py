"""What is kept for people, in memory: plans and the audit log."""

from itertools import islice

from supervisor.adapters.memory_rows import Tables
from supervisor.core.model import AuditEntry, StoredPlan

KEPT = 200
"""Plans per supervisor."""


class MemoryPlans:
    """See `ports.Plans`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.plans

    def record(self, plan: StoredPlan) -> None:
        """Store a plan, and drop what is older than the newest 200 of its supervisor."""
        before = self._rows.get_row(plan.supervisor_id) or ()
        self._rows.put(plan.supervisor_id, (plan, *before[: KEPT - 1]))

    def recent(self, supervisor_id: str, limit: int) -> list[StoredPlan]:
        """Return the newest first."""
        return list((self._rows.get_row(supervisor_id) or ())[:limit])


class MemoryAudit:
    """See `ports.Audit`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.audit

    def write(self, entry: AuditEntry) -> None:
        """Append."""
        self._rows.put(len(self._rows), entry)

    def recent(self, limit: int) -> list[AuditEntry]:
        """Return the newest first."""
        newest = range(len(self._rows) - 1, -1, -1)
        return [self._rows[number] for number in islice(newest, limit)]
