"""Compactions and the rules that ask for them.

add ──► waits ── assign ──► runs on a worker ── end ──► SUCCESS | FAILED
          └──────────────────── end ─────────────────────────┘
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import Compaction, CompactionRule


class Compactions(Protocol):
    """Attempts to replace files by one; ended ones are kept: they tell what a file stands for."""

    def add(self, compaction: Compaction) -> bool:
        """Insert; False, changing nothing: there is one of this id."""
        ...

    def get(self, compaction_id: str) -> Compaction | None:
        """Return one."""
        ...

    def rows_of(self, ids: Sequence[str]) -> dict[str, Compaction]:
        """Return those that exist."""
        ...

    def live(self, *, worker_id: str | None = None) -> list[Compaction]:
        """Return those that wait or run, oldest first; with `worker_id` those assigned to it."""
        ...

    def unsettled(self) -> list[Compaction]:
        """Return those whose folder may hold what nothing names, live ones too; oldest first."""
        ...

    def recent(self, data_source: str | None, limit: int) -> list[Compaction]:
        """Return the newest, newest first, of one table or of all."""
        ...

    def page(
        self, limit: int, *, before: int | None = None, data_source: str | None = None
    ) -> list[tuple[int, Compaction]]:
        """Return those with lower numbers, or all, newest first, each with its number."""
        ...

    def assign(
        self, compaction_id: str, worker_id: str, incarnation: int, token: str, now: datetime
    ) -> bool:
        """Give one that waits to a worker.  False, changing nothing: it does not wait."""
        ...

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
        ...

    def folder_deleted(self, compaction_id: str, now: datetime) -> None:
        """Record that nothing unnamed is left in the folder of one that has ended."""
        ...

    def put_rule(self, rule: CompactionRule) -> None:
        """Set the rule of a table, in place of the one before."""
        ...

    def drop_rule(self, data_source: str) -> bool:
        """Forget the rule of a table.  False: there was none."""
        ...

    def rule(self, data_source: str) -> CompactionRule | None:
        """Return the rule of a table."""
        ...

    def rules(self) -> list[CompactionRule]:
        """Return every rule, by table."""
        ...
