"""Task logs, fetched from the worker that ran the task."""

from dataclasses import dataclass

from supervisor.core.values.errors import NoTaskLog, TaskNotFound, WorkerUnavailable
from supervisor.ports.store import Store
from supervisor.ports.workers.task_logs import LogPart, LogSource


@dataclass(frozen=True)
class TaskLogViews:
    """Shows task logs; any overlord can, because the rows name the worker."""

    store: Store
    source: LogSource

    def log(self, task_id: str, offset: int) -> LogPart:
        """Return a piece of a task's log from `offset`; a negative one counts from the end.

        Raises:
            TaskNotFound: there is no such task.
            NoTaskLog: its worker has no log of it, or has deleted the log.
            WorkerUnavailable: its worker does not answer, or is unknown.
        """
        with self.store.reading() as tx:
            task = tx.tasks.get(task_id)
            urls = {row.id: row.url for row in tx.workers.all()}
        if task is None:
            raise TaskNotFound(task_id)
        if task.worker_id not in urls:
            raise WorkerUnavailable(f"{task_id}: its worker {task.worker_id} is not known")
        part = self.source.log(urls[task.worker_id], task_id, task.token, offset)
        if part is None:
            raise NoTaskLog(task_id)
        return part
