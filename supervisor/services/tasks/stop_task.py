"""Stopping tasks on demand: another attempt reads the range, as after any lost task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.tables import require_table
from supervisor.core.model.rows import AuditEntry, Task, TaskStatus
from supervisor.core.values.errors import TaskNotFound
from supervisor.core.values.permissions import reason_of
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

WHY = "Shutdown request from user"
"""Druid's reason text."""


def _any(_: Transaction, __: object) -> None:
    """Accept whatever is ended."""


@dataclass(frozen=True)
class TaskStops:
    """The stop verbs; one instance per process, safe to call from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop
    endings: TaskEnder
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def stop(
        self, task_id: str, author: str, judge: Callable[[Transaction, Task], None] = _any
    ) -> bool:
        """End a task as FAILED, through no fault of its own; False: it had ended before.

        The task that replaces it reads the journaled records again.  `judge` is called first, and
        raises if that is not what is wanted.

        Raises:
            TaskNotFound: there is no such task.
            LeaseLost: this overlord does not lead.
        """
        with self.store.leading(self.leadership.term()) as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                raise TaskNotFound(task_id)
            judge(tx, task)
            now = self.clock.now()
            reason = reason_of(author)
            why = WHY if reason is None else f"{WHY}: {reason}"
            ended = self.endings.end(tx, task, TaskStatus.FAILED, why, now, lost=True)
            if ended:
                detail = {"supervisor": task.supervisor_id, "generation": task.generation_id}
                tx.audit.write(AuditEntry(now, author, "stop-task", task_id, detail))
                self.failpoint("stop-task:in-transaction")
        if ended:
            self.failpoint("stop-task:committed")
            self.loop.wake(task.supervisor_id)
        return ended

    def stop_all(
        self,
        data_source: str,
        author: str,
        judge: Callable[[Transaction, Sequence[Task]], None] = _any,
    ) -> list[str]:
        """End every task that writes a table; return the ended tasks.

        Each task ends in a transaction of its own; tasks that replace them are not ended.

        Raises:
            DataSourceNotFound: no supervisor feeds the table, and none ever did.
            LeaseLost: this overlord does not lead.
        """
        self.leadership.term()
        with self.store.reading() as tx:
            mine = running_of(tx, data_source)
            judge(tx, mine)
        return [task.id for task in mine if self.stop(task.id, author)]


def running_of(tx: Transaction, data_source: str) -> list[Task]:
    """Return the running tasks that write a table.

    Raises:
        DataSourceNotFound: no supervisor feeds the table, and none ever did.
    """
    require_table(tx, data_source)
    return [task for task in tx.tasks.active() if task.data_source == data_source]
