"""What a worker's compactor notes for its reports: whose log begins, and how a compaction ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from tasks.contract.messages import DesiredCompaction
from tasks.worker.reporting.compaction_end import CompactionEnd
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs

__all__ = ["CompactionNotes"]


@dataclass(frozen=True)
class CompactionNotes:
    """For the compactor's thread, which waits for no store; None: nothing is kept of that kind."""

    logs: TaskLogs | None = None
    reports: WorkerReports | None = None

    @contextmanager
    def log_of(self, order: DesiredCompaction) -> Iterator[None]:
        """Take the lines of the block into the compaction's log."""
        compaction_id = order.compaction_id
        if self.logs is not None:
            self.logs.begin(compaction_id, order.token)
        if self.reports is not None:
            self.reports.compaction_begun(compaction_id, order.data_source)
        try:
            with structlog.contextvars.bound_contextvars(task=compaction_id):
                yield
        finally:
            if self.logs is not None:
                self.logs.end(compaction_id)

    def ended(self, end: CompactionEnd) -> None:
        """Note an end; returns at once."""
        if self.reports is not None:
            self.reports.compaction_ended(end)
