"""Deletes the output folders of tasks that ended without publishing (P23).

    ended, unpublished ─► its worker no longer runs it ─► delete ─► found empty again after
                                                          gc.delay ─► row settled for good

The task row, written before the first byte, is the write intent: no folder is unknown.  A folder
under a published task is never touched here, and one whose publish was judged STALE is kept for
people to look at.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import structlog

from supervisor.core.model import Liveness, Task, WorkerView
from supervisor.ports import Clock, Store, Workers
from tasks.contract import PublishOutcome

log = structlog.get_logger()

BATCH = 200


@dataclass(frozen=True)
class Cleaned:
    """What one run did."""

    deleted: int
    settled: int


@dataclass
class Cleaning:
    """One chore; `run_once` is safe to crash at any line and to repeat."""

    store: Store
    workers: Workers
    clock: Clock
    term: Callable[[], int]
    warehouse: Path
    gc_delay: timedelta
    _first_empty: dict[str, float] = field(default_factory=dict)

    def run_once(self) -> Cleaned:
        """Delete what may be deleted now.

        Raises:
            LeaseLost, Unavailable: nothing is settled; the next run goes on.
        """
        term = self.term()
        with self.store.reading() as tx:
            found = [t for t in tx.tasks.undeleted(BATCH) if _may_go(t)]
        views = {view.id: view for view in self.workers.views()}
        deleted = settled = 0
        for task in found:
            if not _has_stopped(task, views.get(task.worker_id)):
                continue
            if self._delete(task):
                deleted += 1
                self._first_empty[task.id] = self.clock.monotonic()
            elif self._is_empty_for_good(task):
                with self.store.leading(term) as tx:
                    tx.tasks.folder_deleted(task.id, self.clock.now())
                self._first_empty.pop(task.id, None)
                settled += 1
        return Cleaned(deleted, settled)

    def _delete(self, task: Task) -> bool:
        """Remove the folder; False if there is none."""
        folder = self.warehouse / task.data_source / "data" / task.id
        if not folder.exists():
            return False
        shutil.rmtree(folder, ignore_errors=True)  # what is left is found by the next run
        log.info("deleted the files of an unpublished task", task=task.id, reason=task.reason)
        return True

    def _is_empty_for_good(self, task: Task) -> bool:
        since = self._first_empty.setdefault(task.id, self.clock.monotonic())
        return self.clock.monotonic() - since >= self.gc_delay.total_seconds()


def _may_go(task: Task) -> bool:
    return not task.active and not task.published and task.outcome is not PublishOutcome.STALE


def _has_stopped(task: Task, worker: WorkerView | None) -> bool:
    """Tell whether the task's incarnation has confirmed its stop, or was replaced."""
    if worker is None:
        return False
    if worker.incarnation > task.incarnation:
        return True
    return worker.liveness is Liveness.ALIVE and task.id not in worker.reports
