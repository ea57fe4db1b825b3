"""The duty that retires submitted tasks some time after their end.

    submitted ─► all of it is published: at rest ─► TIDEGATE_TASK_RETENTION later: a tombstone

Nothing looks at a task at rest (`Specs.rest`), but lists of supervisors have it.  A retired task is
in no list.  Its status, its ledger and its proof stay, until somebody forgets it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from supervisor.chores.duty import Duty
from supervisor.core.model.rows import AuditEntry
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store

log = structlog.get_logger()

AUTHOR = "task-retention"
"""The author of the tombstone, in the audit log and in the history of the spec."""
AT_ONCE = 100
"""The number of tasks that one transaction retires."""
TURNS = 20
"""Transactions of one run: others need the term as well."""
PERIOD = timedelta(minutes=1)


@dataclass(frozen=True)
class TaskRetirement:
    """One chore; `run_once` is safe to crash at any line and to repeat."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    keep_for: timedelta

    def run_once(self) -> int:
        """Retire tasks that ended long enough ago, oldest first; return how many.

        Raises:
            LeaseLost, Unavailable: retired tasks stay retired; the next run goes on.
        """
        term, now = self.term(), self.clock.now()
        retired = 0
        for _ in range(TURNS):
            with self.store.reading() as tx:
                if not tx.specs.ended_tasks(now - self.keep_for, 1):
                    break
            retired += self._retire(term, now)
        if retired:
            log.info("retired submitted tasks", tasks=retired)
        return retired

    def _retire(self, term: int, now: datetime) -> int:
        with self.store.leading(term) as tx:
            ended = tx.specs.ended_tasks(now - self.keep_for, AT_ONCE, lock=True)
            for task in ended:
                task_id = task.supervisor_id
                # Its row is locked, so no reset or new version comes between.
                stored = tx.specs.append(task_id, None, now, AUTHOR, after=task.version)
                detail = {"version": str(stored.version)}
                tx.audit.write(AuditEntry(now, AUTHOR, "retire", task_id, detail))
        return len(ended)


DUTY = Duty(
    "retire-tasks",
    lambda w: TaskRetirement(w.store, w.clock, w.term, w.task_retention),
    lambda _: PERIOD,
)
