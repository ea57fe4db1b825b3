"""What is kept for people, in memory, and what they decided: plans, audit log, retention."""

from dataclasses import replace
from datetime import timedelta
from itertools import islice

from supervisor.adapters.memory_rows import Tables
from supervisor.core.model import AuditEntry, RetentionRule, StoredPlan

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

    def forget(self, supervisor_id: str) -> None:
        """Delete the plans of a supervisor."""
        self._rows.drop(supervisor_id)


class MemoryAudit:
    """See `ports.Audit`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.audit

    def write(self, entry: AuditEntry) -> None:
        """Append."""
        self._rows.put(len(self._rows), entry)

    def recent(self, limit: int) -> list[AuditEntry]:
        """Return the newest first."""
        return [entry for _, entry in self.page(limit)]

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        supervisor_id: str | None = None,
        action: str | None = None,
        actor: str | None = None,
    ) -> list[tuple[int, AuditEntry]]:
        """Return (number, entry) of those that match, newest first; see the port."""
        first = len(self._rows) if before is None else min(before - 1, len(self._rows))
        newest = ((number, self._rows[number - 1]) for number in range(first, 0, -1))
        found = (
            (number, entry)
            for number, entry in newest
            if supervisor_id in {None, entry.subject, entry.detail.get("supervisor")}
            and action in {None, entry.action}
            and actor in {None, entry.actor}
        )
        return list(islice(found, limit))


class MemoryRetention:
    """See `ports_segments.Retention`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.retention

    def put(self, rule: RetentionRule) -> None:
        """Set the rule of a table, in place of the one before; kept to the second."""
        second = timedelta(seconds=1)
        self._rows.put(rule.data_source, replace(rule, keep_for=rule.keep_for // second * second))

    def drop(self, data_source: str) -> bool:
        """Keep for ever again.  False: there was no rule."""
        was_there = data_source in self._rows
        self._rows.drop(data_source)
        return was_there

    def of(self, data_source: str) -> RetentionRule | None:
        """Return the rule of a table."""
        return self._rows.get_row(data_source)

    def all(self) -> list[RetentionRule]:
        """Return every rule, by table."""
        return [self._rows[data_source] for data_source in sorted(self._rows)]


class MemoryInstallation:
    """See `ports.Installation`: one memory is as good as another."""

    def name(self) -> str:
        """Return the name; it never changes."""
        return "memory"
