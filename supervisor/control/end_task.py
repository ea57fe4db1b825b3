"""The end of a task: its row and the event that cleans up behind it, in one transaction (P23).

    RUNNING ──► SUCCESS | FAILED  +  task_output event, due after gc.delay
                STALE: no event, its files are kept for people

Compactions are cleaned up by the same queue and kind of event.  The name of the queue and the kind
are defined here, below both the modules that add events and the handler.
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
"""The queue in each supervisor's container; the cluster's has the folders without a row."""
KIND = "task_output"
"""The kind of event; its key is the id of a task or compaction, or a folder without a row."""


def task_output_of(supervisor_id: str) -> QueueName:
    """Return the queue in which a supervisor's ended tasks wait for their cleanup."""
    return QueueName(container_of(supervisor_id), TASK_OUTPUT)


@dataclass(frozen=True)
class TaskEnder:
    """Ends tasks and queues their cleanup; nothing else in the product ends a task."""

    config: QueueConfig
    last_report: Callable[[str, str], TaskReport | None] = lambda _, __: None
    """(worker, task) -> the last report of the task to this leader."""

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

        Returns False, without a change, if the task has ended already.  `keep_files`: keep its
        files for people, and queue nothing.  `lost`: its worker is lost, so the task is not at
        fault.  `totals`: the counters and position of the task; None: those of its last report.

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
        """End a compaction in the caller's transaction and queue its cleanup, whatever the status.

        Returns False, without a change, if the compaction has ended already.  `blamed`: it ended by
        its own failure or with its worker, and not by a person or a lost input.

        Raises:
            QueueDead: the supervisor's queue is damaged; do not commit.
        """
        if not tx.compactions.end(compaction.id, status, detail, now, blamed=blamed):
            return False
        self.compaction_ended(tx, compaction, now)
        return True

    def compaction_ended(self, tx: Transaction, compaction: Compaction, now: datetime) -> None:
        """Queue the cleanup of a compaction in the transaction that ends it, whatever the status.

        Raises:
            QueueDead: the supervisor's queue is damaged; do not commit.
        """
        queue = task_output_of(compaction.supervisor_id)
        tx.events.add(queue, QueuedEvent(KIND, compaction.id), self.config, now, exempt=True)
