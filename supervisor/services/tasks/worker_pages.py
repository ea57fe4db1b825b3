"""Queries about workers: from their rows, and from what they have reported to the leader.

Only the leader has reports: another overlord raises LeaseLost with the leader's address.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.values.errors import WorkerNotFound
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.services.tasks.workers import named
from supervisor.views.workers import (
    Visible,
    WorkerDetail,
    WorkerSummary,
    worker_detail,
    worker_summary,
)


@dataclass(frozen=True)
class WorkerQueries:
    """Answers queries about workers; one instance per process."""

    store: Store
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    samples: Callable[[str], int]
    """Worker -> the samples that it reads now."""

    def all(self) -> list[WorkerSummary]:
        """Return every registered worker, by id.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        self.leadership.term()
        with self.store.reading() as tx:
            rows = {row.id: row for row in tx.workers.all()}
            used = tx.tasks.slots_in_use()
            tasks = Counter(task.worker_id for task in tx.tasks.active())
        now = self.clock.now()
        return [
            worker_summary(
                rows[view.id], view, used=used.get(view.id, 0), tasks=tasks[view.id], now=now
            )
            for view in self.registry.views()
            if view.id in rows
        ]

    def one(self, name: str, visible: Visible) -> WorkerDetail:
        """Return a worker with its work; `name` is its id or its `host:port`.

        Raises:
            WorkerNotFound: no such worker has registered.
            LeaseLost: this overlord does not lead.
        """
        self.leadership.term()
        with self.store.reading() as tx:
            rows = tx.workers.all()
            row = named(rows, name)
            used = tx.tasks.slots_in_use().get(row.id, 0)
            tasks = [task for task in tx.tasks.active() if task.worker_id == row.id]
            compactions = tx.compactions.live(worker_id=row.id)
        now = self.clock.now()
        view = next((each for each in self.registry.views() if each.id == row.id), None)
        if view is None:  # it registers at this moment, or was just forgotten
            raise WorkerNotFound(name, [each.id for each in rows])
        summary = worker_summary(row, view, used=used, tasks=len(tasks), now=now)
        work = (tasks, compactions, self.samples(row.id))
        return worker_detail(summary, view, work, now=now, visible=visible)
