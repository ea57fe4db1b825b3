"""Deletes what ended tasks left in their output folders and no segment refers to (P23).

    ended ─► its worker no longer runs it ─► delete what nothing names ─► nothing found again
                                                             after gc.delay ─► settled for good

The task row, written before the first byte, is the write intent: no folder is unknown.  The folder
of a task that published nothing goes whole.  Under a published task only files that neither a
segment nor its rejects file names are deleted: batches that its merge has rewritten.  A task whose
publish was judged STALE keeps everything, for people to look at.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import structlog

from supervisor.core.model import Liveness, Task, WorkerView
from supervisor.ports import Clock, Store, Workers

log = structlog.get_logger()

BATCH = 500


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
    _first_clean: dict[str, float] = field(default_factory=dict)

    def run_once(self) -> Cleaned:
        """Delete what may be deleted now.

        Raises:
            LeaseLost, Unavailable: nothing is settled; the next run goes on.
        """
        term = self.term()
        with self.store.reading() as tx:
            found = tx.tasks.unsettled(BATCH)
        views = {view.id: view for view in self.workers.views()}
        deleted = settled = 0
        for task in found:
            if not _has_stopped(task, views.get(task.worker_id)) or self._is_read_still(task):
                continue
            if self._delete(task):
                deleted += 1
                self._first_clean[task.id] = self.clock.monotonic()
            elif self._is_clean_for_good(task):
                with self.store.leading(term) as tx:
                    tx.tasks.folder_deleted(task.id, self.clock.now())
                self._first_clean.pop(task.id, None)
                settled += 1
        return Cleaned(deleted, settled)

    def _is_read_still(self, task: Task) -> bool:
        """A reader of not yet published rows may be in the middle of a published task's batches."""
        if not task.published or task.ended_at is None:
            return False
        return self.clock.now() < task.ended_at + self.gc_delay

    def _delete(self, task: Task) -> bool:
        """Delete what nothing names; False if there was nothing."""
        folder = self.warehouse / task.data_source / "data" / task.id
        if folder.is_symlink() or not folder.exists():  # no task makes links: never follow one
            return False
        if task.published:
            return self._delete_unnamed(task, folder)
        shutil.rmtree(folder, ignore_errors=True)  # what is left is found by the next run
        log.info("deleted the files of an unpublished task", task=task.id, reason=task.reason)
        return True

    def _delete_unnamed(self, task: Task, folder: Path) -> bool:
        named = self._named(task)
        found = False
        for place, _, names in os.walk(folder, topdown=False):
            for file in (Path(place, name) for name in names):
                if file not in named:
                    file.unlink(missing_ok=True)
                    found = True
            if Path(place) != folder and not os.listdir(place):  # noqa: PTH208 -- as strings
                os.rmdir(place)  # noqa: PTH106 -- same
                found = True
        return found

    def _named(self, task: Task) -> set[Path]:
        """Return the files of the task that the table consists of; read again for each deletion."""
        with self.store.reading() as tx:
            paths = [segment.file.path for segment in tx.segments.of_task(task.id)]
            publication = tx.segments.publication(task.generation_id)
        if publication is None or publication.task_id != task.id:
            raise AssertionError(f"{task.id} is published and has no publication")
        if publication.rejects is not None:
            paths.append(publication.rejects.path)
        return {self.warehouse / path for path in paths}

    def _is_clean_for_good(self, task: Task) -> bool:
        since = self._first_clean.setdefault(task.id, self.clock.monotonic())
        return self.clock.monotonic() - since >= self.gc_delay.total_seconds()


def _has_stopped(task: Task, worker: WorkerView | None) -> bool:
    """Tell whether the task's incarnation has confirmed its stop, or was replaced."""
    if worker is None:
        return False
    if worker.incarnation > task.incarnation:
        return True
    return worker.liveness is Liveness.ALIVE and task.id not in worker.reports
