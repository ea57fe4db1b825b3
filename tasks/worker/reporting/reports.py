"""A worker's reports as a whole: what is made, what waits on disk, and the way out.

    task logs ─tailed─┐
    reporter ─► spool ┴─► transport ─► topics, or a persister

It begins once the worker knows its tasks: before the first list of the overlord nobody knows
whether the log of an earlier life goes on.  Where it waits for an address, it begins with that.
"""

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread

from tasks.contract.messages import DesiredTask
from tasks.reporting.levels import ReportLevels
from tasks.reporting.record import RecordOrigin
from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogTail
from tasks.sending.sender import Sender, SenderStatus
from tasks.sending.spool import Spool
from tasks.sending.transport import Transport
from tasks.worker.reporting.compaction_end import CompactionEnd
from tasks.worker.reporting.ends import KeptEnds
from tasks.worker.reporting.inline import InlineLogs
from tasks.worker.reporting.notes import LogNotes
from tasks.worker.reporting.reporter import (
    LeftOver,
    LogAbout,
    ReportedTask,
    TaskReporter,
    log_record,
)

__all__ = ["WorkerReports"]

_CLOSE_S = 1.0


class WorkerReports:
    """One per worker; `begun` and `left` are for its roster, the rest for the worker."""

    def __init__(
        self,
        data_dir: Path,
        worker: str,
        transport: Transport,
        *,
        when_known: Callable[[Callable[[], None]], None] | None = None,
        levels: ReportLevels | None = None,
        inline: bool = False,
    ) -> None:
        """Prepare; `start` begins.

        `when_known` calls what it is given once there is a store to send to; None: there is one.
        `inline`: logs go with the results.
        """
        self._inline = InlineLogs(data_dir / "task-logs") if inline else None
        self._levels = levels or ReportLevels()
        self._held = HeldLogs(data_dir / "task-logs")
        self._data_dir, self._worker, self._transport = data_dir, worker, transport
        self._when_known = when_known
        self._stopped = False
        self._left_over: deque[str] = deque()
        self._sender: Sender | None = None
        self._reporter: TaskReporter | None = None
        self._notes = LogNotes(data_dir / "task-logs", self._held)

    def start(
        self, tasks: Callable[[], Iterable[ReportedTask]], may_write: Callable[[str], bool]
    ) -> None:
        """Report `tasks` from now on, and send what an earlier life has left.

        `may_write`: whether lines of a task may still come.
        """
        if self._when_known is None:
            self._begin(tasks, may_write)
            return

        def begin() -> None:
            # By a thread of its own: the thread that hears an address carries syncs.
            Thread(
                target=self._begin, args=(tasks, may_write), name="report-start", daemon=True
            ).start()

        self._when_known(begin)

    def _begin(
        self, tasks: Callable[[], Iterable[ReportedTask]], may_write: Callable[[str], bool]
    ) -> None:
        if self._stopped:
            return
        notes = self._notes

        def may_come(task: str) -> bool:
            return not notes.is_written(task) or may_write(task)

        tail = LogTail(self._data_dir / "task-logs", may_come, is_noted=notes.is_written)
        sender = Sender(
            Spool(self._data_dir / "reports"),
            tail,
            self._transport,
            lambda piece: log_record(piece, self._worker),
            acknowledged=self._held.stored,
        )
        reporter = TaskReporter(
            tasks,
            sender.offer,
            self._worker,
            KeptEnds(self._data_dir / "task-logs"),
            levels=self._levels,
            held=self._held,
            may_write=may_come,
            left_over=LeftOver(self._left_over, tail.about),
            inline=self._inline,
        )
        sender.start()
        reporter.start()
        self._sender, self._reporter = sender, reporter

    def begun(self, task: DesiredTask) -> None:
        """Note whose log begins; it returns at once, and no piece of that log is sent before."""
        about = LogAbout.of(task).written()
        at_once = self._at_once(RecordOrigin.STREAM, debug=task.debug)
        self._notes.put(task.task_id, about, at_once=at_once)

    def compaction_begun(self, compaction_id: str, data_source: str) -> None:
        """Note whose log begins, as `begun`."""
        about = LogAbout(0, None, data_source, origin=RecordOrigin.COMPACTION)
        at_once = self._at_once(RecordOrigin.COMPACTION, debug=False)
        self._notes.put(compaction_id, about.written(), at_once=at_once)

    def _at_once(self, origin: RecordOrigin, *, debug: bool) -> bool:
        return self._inline is None and self._levels.at_once(origin, debug=debug)

    def compaction_ended(self, end: CompactionEnd) -> None:
        """Note the end of a compaction."""
        if self._reporter is not None:
            self._reporter.compaction_ended(end)

    def left(self, task: ReportedTask) -> None:
        """Note a task that the worker forgets."""
        if self._reporter is not None:
            self._reporter.left(task)

    def left_over(self, task_id: str) -> None:
        """Note a task of an earlier life of the worker that is wanted no more."""
        self._left_over.append(task_id)

    def status(self) -> SenderStatus | None:
        """Return what waits and what was lost; None: nothing was begun."""
        return None if self._sender is None else self._sender.status()

    def stop(self) -> None:
        """Report the last ends, and end within seconds: the rest is sent after the next start."""
        self._stopped = True
        if self._reporter is not None:
            self._reporter.close(_CLOSE_S)
        if self._sender is not None:
            self._sender.stop()
        self._notes.close(_CLOSE_S)
