"""Compactions and their rules in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from supervisor.adapters.memory_rows import Tables
from supervisor.core.compaction import Compaction, CompactionRule
from supervisor.core.happenings import compaction_begun, compaction_ended
from supervisor.core.model import TaskStatus
from supervisor.ports_happenings import Tell


class MemoryCompactions:
    """See `ports_compaction.Compactions`."""

    def __init__(self, tables: Tables, tell: Tell) -> None:
        self._tell = tell
        self._rows = tables.compactions
        self._rules = tables.compaction_rules

    def add(self, compaction: Compaction) -> bool:
        """Insert; False, changing nothing: there is one of this id."""
        if compaction.id in self._rows:
            return False
        self._rows.put(compaction.id, compaction)
        return True

    def get(self, compaction_id: str) -> Compaction | None:
        """Return one."""
        return self._rows.get_row(compaction_id)

    def rows_of(self, ids: Sequence[str]) -> dict[str, Compaction]:
        """Return those that exist."""
        return {key: self._rows[key] for key in ids if key in self._rows}

    def live(self, *, worker_id: str | None = None) -> list[Compaction]:
        """Return those that wait or run, oldest first; with `worker_id` those assigned to it."""
        found = [row for row in self._rows.values() if row.live]
        return [row for row in found if worker_id in {None, row.worker_id}]

    def unsettled(self) -> list[Compaction]:
        """Return those whose folder may hold what nothing names; see the port."""
        return [row for row in self._rows.values() if row.folder_deleted_at is None]

    def recent(self, data_source: str | None, limit: int) -> list[Compaction]:
        """Return the newest, newest first, of one table or of all."""
        found = [row for row in self._rows.values() if data_source in {None, row.data_source}]
        return found[::-1][:limit]

    def page(
        self, limit: int, *, before: int | None = None, data_source: str | None = None
    ) -> list[tuple[int, Compaction]]:
        """Return those with lower numbers, or all, newest first, each with its number."""
        found = list(enumerate(self._rows.values(), 1))  # none is ever deleted
        wanted = [
            (number, row)
            for number, row in found
            if data_source in {None, row.data_source} and (before is None or number < before)
        ]
        return wanted[::-1][:limit]

    def assign(
        self, compaction_id: str, worker_id: str, incarnation: int, token: str, now: datetime
    ) -> bool:
        """Give one that waits to a worker.  False, changing nothing: it does not wait."""
        row = self._rows.get_row(compaction_id)
        if row is None or not row.live or row.worker_id:
            return False
        given = replace(
            row, worker_id=worker_id, incarnation=incarnation, token=token, assigned_at=now
        )
        self._rows.put(compaction_id, given)
        self._tell(compaction_begun(given, now))
        return True

    def end(
        self,
        compaction_id: str,
        status: TaskStatus,
        detail: str,
        now: datetime,
        *,
        blamed: bool = False,
    ) -> bool:
        """End one that is live.  False, changing nothing: it is not."""
        row = self._rows.get_row(compaction_id)
        if row is None or not row.live:
            return False
        ended = replace(row, status=status, detail=detail, ended_at=now, blamed=blamed)
        self._rows.put(compaction_id, ended)
        self._tell(compaction_ended(ended, now))
        return True

    def folder_deleted(self, compaction_id: str, now: datetime) -> None:
        """Record that nothing unnamed is left in the folder of one that has ended."""
        row = self._rows.get_row(compaction_id)
        if row is not None and not row.live:
            self._rows.put(compaction_id, replace(row, folder_deleted_at=now))

    def put_rule(self, rule: CompactionRule) -> None:
        """Set the rule of a table, in place of the one before."""
        second = timedelta(seconds=1)
        whole = rule.skip_offset_from_latest // second * second
        self._rules.put(rule.data_source, replace(rule, skip_offset_from_latest=whole))

    def drop_rule(self, data_source: str) -> bool:
        """Forget the rule of a table.  False: there was none."""
        was_there = data_source in self._rules
        if was_there:
            self._rules.drop(data_source)
        return was_there

    def rule(self, data_source: str) -> CompactionRule | None:
        """Return the rule of a table."""
        return self._rules.get_row(data_source)

    def rules(self) -> list[CompactionRule]:
        """Return every rule, by table."""
        return [self._rules[key] for key in sorted(self._rules)]
