"""The repository port of compactions and compaction rules.

add ──► waits ── assign ──► runs on a worker ── end ──► SUCCESS | FAILED
          └──────────────────── end ─────────────────────────┘
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import Attempt, Compaction, CompactionRule


class Compactions(Protocol):
    """Attempts to replace several files by one.

    Ended compactions are kept as long as the row of their file, whose ranges they name.
    """

    def add(self, compaction: Compaction) -> bool:
        """Insert a compaction; False, changing nothing, if its id exists."""
        ...

    def get(self, compaction_id: str) -> Compaction | None:
        """Return one compaction."""
        ...

    def rows_of(self, ids: Sequence[str]) -> dict[str, Compaction]:
        """Return id -> compaction, for the ids that exist."""
        ...

    def live(self, *, worker_id: str | None = None, assigned: bool = False) -> list[Compaction]:
        """Return compactions that wait or run, oldest first; of one worker, or all.

        With `assigned`, only those that run: as many as workers, however many wait.
        """
        ...

    def waiting(self) -> list[str]:
        """Return the ids of the compactions that wait for a worker, oldest first."""
        ...

    def live_attempts(self, data_source: str, *, alone: bool = False) -> list[Attempt]:
        """Return the compactions of one table that wait or run.

        With `alone`, no other transaction that calls this with `alone` for the table is open beside
        the caller's: so the number of live ones stays until the caller adds some.
        """
        ...

    def recent_attempts(self, data_source: str, limit: int) -> list[Attempt]:
        """Return compactions of one table, newest first."""
        ...

    def unsettled(self) -> list[Compaction]:
        """Return compactions, live or ended, whose folder may hold unnamed files; oldest first."""
        ...

    def recent(self, data_source: str | None, limit: int) -> list[Compaction]:
        """Return compactions of one table or of all, newest first."""
        ...

    def page(
        self, limit: int, *, before: int | None = None, data_source: str | None = None
    ) -> list[tuple[int, Compaction]]:
        """Return (number, compaction), newest first; with `before` only lower numbers."""
        ...

    def assign(
        self, compaction_id: str, worker_id: str, incarnation: int, token: str, now: datetime
    ) -> bool:
        """Assign a waiting compaction to a worker; False, changing nothing: it does not wait."""
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
        """End a live compaction; False, changing nothing: it is not live."""
        ...

    def folder_deleted(self, compaction_id: str, now: datetime) -> None:
        """Record that the folder of an ended compaction holds no unnamed file any more."""
        ...

    def put_rule(self, rule: CompactionRule) -> None:
        """Set the rule of a table; it replaces the rule before."""
        ...

    def drop_rule(self, data_source: str) -> bool:
        """Delete the rule of a table; False: there was none."""
        ...

    def rule(self, data_source: str) -> CompactionRule | None:
        """Return the rule of a table."""
        ...

    def rules(self) -> list[CompactionRule]:
        """Return every rule, by table."""
        ...
