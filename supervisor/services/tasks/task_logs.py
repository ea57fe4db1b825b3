"""The log of a task, asked from the worker that ran it."""

from dataclasses import dataclass

from supervisor.core.values.errors import NoTaskLog, TaskNotFound, WorkerUnavailable
from supervisor.ports.store import Store
from supervisor.ports.task_logs import LogPart, LogSource


@dataclass(frozen=True)
class TaskLogViews:
    """Shows logs; any overlord can, since the rows say where they lie."""

    store: Store
    source: LogSource

    def log(self, task_id: str, offset: int) -> LogPart:
        """Return a piece of a task's log from `offset` on, a negative one counted from its end.

        Raises:
            TaskNotFound: there is no such task.
            NoTaskLog: its worker has none of it, or has deleted it since.
            WorkerUnavailable: its worker does not answer, or was never heard of.
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
