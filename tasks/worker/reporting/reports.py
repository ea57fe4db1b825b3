"""A worker's reports as a whole: what is made, what waits on disk, and the way out.

    task logs ─tailed─┐
    reporter ─► spool ┴─► transport ─► topics

It begins once the worker knows its tasks: before the first list of the overlord nobody knows
whether the log of an earlier life goes on.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from tasks.contract.messages import DesiredTask
from tasks.sending.log_tail import LogTail
from tasks.sending.sender import Sender, SenderStatus
from tasks.sending.spool import Spool
from tasks.sending.transport import Transport
from tasks.worker.reporting.reporter import LogAbout, ReportedTask, TaskReporter, log_record

__all__ = ["WorkerReports"]

_CLOSE_S = 1.0


class WorkerReports:
    """One per worker; `begun` and `left` are for its roster, the rest for the worker."""

    def __init__(self, data_dir: Path, worker: str, transport: Transport) -> None:
        """Prepare; `start` begins."""
        self._data_dir, self._worker, self._transport = data_dir, worker, transport
        self._sender: Sender | None = None
        self._reporter: TaskReporter | None = None
        # The note of whose log it is needs no tail that runs.
        self._about = LogTail(data_dir / "task-logs", lambda _: True)

    def start(
        self, tasks: Callable[[], Iterable[ReportedTask]], may_write: Callable[[str], bool]
    ) -> None:
        """Report `tasks` from now on, and send what an earlier life has left.

        `may_write`: whether lines of a task may still come.
        """
        tail = LogTail(self._data_dir / "task-logs", may_write)
        self._sender = Sender(
            Spool(self._data_dir / "reports"),
            tail,
            self._transport,
            lambda piece: log_record(piece, self._worker),
        )
        self._reporter = TaskReporter(tasks, self._sender.offer, self._worker)
        self._sender.start()
        self._reporter.start()

    def begun(self, task: DesiredTask) -> None:
        """Note whose log begins."""
        self._about.begin(task.task_id, LogAbout.of(task).written())

    def left(self, task: ReportedTask) -> None:
        """Note a task that the worker forgets."""
        if self._reporter is not None:
            self._reporter.left(task)

    def status(self) -> SenderStatus | None:
        """Return what waits and what was lost; None: nothing was begun."""
        return None if self._sender is None else self._sender.status()

    def stop(self) -> None:
        """Report the last ends, and end within seconds: the rest is sent after the next start."""
        if self._reporter is not None:
            self._reporter.close(_CLOSE_S)
        if self._sender is not None:
            self._sender.stop()
