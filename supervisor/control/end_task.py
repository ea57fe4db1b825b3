"""How every task ends: with its row, in one transaction, the event that cleans up behind it (P23).

    RUNNING ──► SUCCESS | FAILED  +  task_output event, due after gc.delay
                STALE: no event, its files are kept for people

A compaction, which somebody else ends, is cleaned up behind by the same queue and kind of event.
The queue's name and its kind of event are here, below both who adds and who handles.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.model.rows import Task, TaskStatus, TaskTotals
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName, container_of
from supervisor.core.tables.compaction import Compaction
from supervisor.ports.store import Transaction
from tasks.contract.messages import TaskReport

TASK_OUTPUT = "task-output"
"""The queue, in the container of each supervisor; folders without a row are in the cluster's."""
KIND = "task_output"
"""Its key is the id of a task or a compaction, or a folder of the warehouse without a row."""


def task_output_of(supervisor_id: str) -> QueueName:
    """Return the queue in which a supervisor's ended tasks wait for their cleanup."""
    return QueueName(container_of(supervisor_id), TASK_OUTPUT)


@dataclass(frozen=True)
class TaskEnder:
    """Ends tasks, as nothing else in the product does, and queues what is to be cleaned up."""

    config: QueueConfig
    last_report: Callable[[str, str], TaskReport | None] = lambda _, __: None
    """(worker, task) -> what the task said last to this leader."""

    def end(
        self,
        tx: Transaction,
        task: Task,
        status: TaskStatus,
        reason: str,
        now: datetime,
        *,
        keep_files: bool = False,
        lost: bool = False,
        totals: TaskTotals | None = None,
    ) -> bool:
        """End a task in the caller's transaction and queue its cleanup.

        False, changing nothing: it had ended before.  `keep_files`: its files are for people to
        look at, and nothing is queued.  `lost`: its worker is, which is no fault of the task.
        `totals`: what it has done; None: what it said last.

        Raises:
            QueueDead: the supervisor's queue is damaged; the task goes on until it is repaired.
        """
        totals = totals or self._last_totals(task)
        if not tx.tasks.end(task.id, status, reason, now, lost=lost, totals=totals):
            return False
        if not keep_files:
            queue = task_output_of(task.supervisor_id)
            tx.events.add(queue, QueuedEvent(KIND, task.id), self.config, now, exempt=True)
        return True

    def _last_totals(self, task: Task) -> TaskTotals | None:
        report = self.last_report(task.worker_id, task.id)
        return None if report is None else TaskTotals(report.counters, report.position)

    def end_compaction(
        self,
        tx: Transaction,
        compaction: Compaction,
        status: TaskStatus,
        detail: str,
        now: datetime,
        *,
        blamed: bool = False,
    ) -> bool:
        """End a compaction in the caller's transaction and queue its cleanup, however it ends.

        False, changing nothing: it had ended before.  `blamed`: by itself, or with its worker.

        Raises:
            QueueDead: the supervisor's queue is damaged; do not commit.
        """
        if not tx.compactions.end(compaction.id, status, detail, now, blamed=blamed):
            return False
        self.compaction_ended(tx, compaction, now)
        return True

    def compaction_ended(self, tx: Transaction, compaction: Compaction, now: datetime) -> None:
        """Queue the cleanup of a compaction in the transaction that ends it, however it ends.

        Raises:
            QueueDead: the supervisor's queue is damaged; do not commit.
        """
        queue = task_output_of(compaction.supervisor_id)
        tx.events.add(queue, QueuedEvent(KIND, compaction.id), self.config, now, exempt=True)
