"""Logs of tasks and compactions: from the store once it has all of one, else from their worker.

the store has all                 the store; the worker is not asked
the store is behind, or has none  the worker; if it is away, what is stored, and what is missing
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC

from supervisor.core.values.errors import NoTaskLog, TaskNotFound, WorkerUnavailable
from supervisor.ports.reports.logs import LogSpan, LogStore
from supervisor.ports.store import Store, Transaction
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.ports.workers.task_logs import LogPart, LogSource

_ANSWER_BYTES_MAX = 1024 * 1024


@dataclass(frozen=True)
class _Logged:
    """A task or a compaction, as far as its log is concerned."""

    id: str
    attempt: int
    token: str
    worker_id: str
    active: bool


@dataclass(frozen=True)
class TaskLogViews:
    """Shows task logs; any overlord can, because the rows name the worker."""

    store: Store
    source: LogSource
    stored: LogStore | None = None
    """None: no log is stored."""

    def log(self, task_id: str, offset: int) -> LogPart:
        """Return a piece of a task's log from `offset`; a negative one counts from the end.

        Raises:
            TaskNotFound: there is no such task or compaction.
            NoTaskLog: its worker has no log of it, or has deleted the log, and none is stored.
            WorkerUnavailable: its worker does not answer, or is unknown, and nothing is stored.
        """
        with self.store.reading() as tx:
            task = _logged(tx, task_id)
            urls = {row.id: row.url for row in tx.workers.all()}
        if task is None:
            raise TaskNotFound(task_id)
        span = self._span(task)
        if span is not None and span.is_whole and not task.active:
            return self._from_store(task, span, offset, "")
        try:
            return self._from_worker(task, urls.get(task.worker_id), offset)
        except (NoTaskLog, WorkerUnavailable) as error:
            if span is None:
                raise
            return self._from_store(task, span, offset, _why(task, span, error))

    def _span(self, task: _Logged) -> LogSpan | None:
        """Return how much is stored; None: nothing, or the store does not answer."""
        if self.stored is not None:
            with suppress(StoreAway, StoreRefuses):
                return self.stored.span(task.id, task.attempt)
        return None

    def _from_worker(self, task: _Logged, url: str | None, offset: int) -> LogPart:
        if url is None:
            who = task.worker_id or "that it waits for"
            raise WorkerUnavailable(f"{task.id}: its worker {who} is not known")
        part = self.source.log(url, task.id, task.token, offset)
        if part is None:
            raise NoTaskLog(task.id)
        return part

    def _from_store(self, task: _Logged, span: LogSpan, offset: int, missing: str) -> LogPart:
        assert self.stored is not None, "a span is of a store"
        start = max(0, span.size + offset) if offset < 0 else min(offset, span.size)
        try:
            parts = self.stored.read(task.id, task.attempt, start, _ANSWER_BYTES_MAX)
        except (StoreAway, StoreRefuses) as error:
            raise WorkerUnavailable(f"{task.id}: the store of logs: {error}") from error
        content, end = b"", start
        for part in parts:
            gap = part.offset - end
            if content and (gap or part.missing):
                break  # the next request begins there
            if gap or part.missing:
                # A line in the place of what is missing; what follows keeps its offsets.
                end = part.offset + part.missing_bytes
                why = part.missing or "they did not reach the store"
                missing = missing or f"{end - start} bytes from {start} on: {why}"
                content = f"[{end - start} bytes of this log are missing: {why}]\n".encode()
            content += part.content
            end += len(part.content)
        return LogPart(content, end - len(content), span.size, missing)


def _logged(tx: Transaction, task_id: str) -> _Logged | None:
    if (task := tx.tasks.get(task_id)) is not None:
        return _Logged(task.id, task.attempt, task.token, task.worker_id, task.active)
    if (rewrite := tx.compactions.get(task_id)) is not None:
        return _Logged(rewrite.id, 0, rewrite.token, rewrite.worker_id, rewrite.live)
    return None


def _why(task: _Logged, span: LogSpan, error: Exception) -> str:
    last_at = f"{span.last_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    upto = f"{span.stored_up_to} bytes, up to {last_at}, are stored"
    return f"{upto}; the rest is at worker {task.worker_id}: {error}"
