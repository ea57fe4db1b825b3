"""Records of a worker's tasks: how they go on, and how they ended.

    roster ─begin, left─► reporter ─its own thread─► progress, task_result, task_report ─► sender

A task never waits for this: what calls from its thread only notes, and the records are made by the
reporter's thread.  A record of an end has the same id after a restart, so the store keeps the
first; what it says more is lost with it, and nothing else.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread

import structlog
from pydantic import JsonValue

from tasks.contract.messages import DesiredTask, TaskPhase, TaskReport
from tasks.reporting.record import (
    RecordOrigin,
    RecordType,
    ReportRecord,
    record_id_of,
)
from tasks.reporting.sizes import PAYLOAD_BYTES, RecordLimits, fitted
from tasks.sending.log_tail import LogPiece

__all__ = ["LogAbout", "ReportedTask", "TaskReporter", "log_record"]

log = structlog.get_logger()

PROGRESS_S = 30.0
_LOOK_S = 1.0
_REPORTED_MAX = 10_000
_OVER = {TaskPhase.SUCCESS, TaskPhase.FAILED}
_LIMITS = RecordLimits(PAYLOAD_BYTES)
_SAMPLES = "samples"


@dataclass(frozen=True)
class ReportedTask:
    """A task, as far as it is reported."""

    desired: DesiredTask
    report: TaskReport
    started_at: datetime


@dataclass(frozen=True)
class LogAbout:
    """Whose log a file is."""

    attempt: int
    supervisor: str | None
    data_source: str | None

    @classmethod
    def of(cls, task: DesiredTask) -> "LogAbout":
        """Return what a task's log needs."""
        return cls(task.attempt, task.supervisor_id, task.spec.data_source)

    @classmethod
    def read(cls, about: Mapping[str, object]) -> "LogAbout":
        """Return what was written before, by this release or another one."""
        attempt = about.get("attempt")
        return cls(
            attempt if isinstance(attempt, int) else 0,
            _text(about.get("supervisor")),
            _text(about.get("dataSource")),
        )

    def written(self) -> dict[str, object]:
        """Return it for a file."""
        return {
            "attempt": self.attempt,
            "supervisor": self.supervisor,
            "dataSource": self.data_source,
        }


class TaskReporter:
    """One per worker; `left` is for all threads and returns at once."""

    def __init__(
        self,
        tasks: Callable[[], Iterable[ReportedTask]],
        offer: Callable[[ReportRecord, int], bool],
        worker: str,
    ) -> None:
        """Report the tasks that `tasks` returns at each look, and those that are noted as left."""
        self._tasks, self._offer, self._worker = tasks, offer, worker
        self._left: deque[ReportedTask] = deque()
        self._reported: OrderedDict[str, None] = OrderedDict()
        """Tasks whose end was offered in this life of the worker."""
        self._closing = Event()
        self._thread = Thread(target=self._run, name="report-tasks", daemon=True)

    def start(self) -> None:
        """Look at the tasks from now on."""
        self._thread.start()

    def left(self, task: ReportedTask) -> None:
        """Note a task that is no longer among the worker's tasks."""
        self._left.append(task)

    def close(self, within_s: float) -> None:
        """Report what has ended up to now, and end."""
        self._closing.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        progress_at = time.monotonic() + PROGRESS_S
        while True:
            closing = self._closing.wait(_LOOK_S)
            try:
                now = time.monotonic()
                self._look(with_progress=now >= progress_at)
                if now >= progress_at:
                    progress_at = now + PROGRESS_S
            except Exception:
                log.exception("tasks are not reported")
            if closing:
                return

    def _look(self, *, with_progress: bool) -> None:
        present = [*self._tasks()]
        gone = [self._left.popleft() for _ in range(len(self._left))]
        for task in (*gone, *present):
            if task.report.phase in _OVER:
                self._report_end(task)
            elif with_progress:
                self._offer_record(self._progress(task))

    def _report_end(self, task: ReportedTask) -> None:
        task_id = task.desired.task_id
        if task_id in self._reported:
            return
        for record in self._ends(task):
            self._offer_record(record)
        self._reported[task_id] = None
        while len(self._reported) > _REPORTED_MAX:
            self._reported.popitem(last=False)

    def _offer_record(self, record: ReportRecord) -> None:
        whole = fitted(record, _LIMITS)
        self._offer(whole, len(whole.to_json()))

    def _progress(self, task: ReportedTask) -> ReportRecord:
        # Numbered by time, so that no number comes twice after a restart of the worker.
        seq = int(time.time() // PROGRESS_S)
        return self._record(task, RecordType.PROGRESS, seq, _shown(task), final=False)

    def _ends(self, task: ReportedTask) -> Iterator[ReportRecord]:
        shown = _shown(task)
        samples = shown.pop(_SAMPLES)
        yield self._record(task, RecordType.TASK_RESULT, 0, shown, final=True)
        report = {**shown, "startedAt": task.started_at.isoformat(), _SAMPLES: samples}
        yield self._record(task, RecordType.TASK_REPORT, 0, report, final=True)

    def _record(
        self,
        task: ReportedTask,
        kind: RecordType,
        seq: int,
        payload: dict[str, JsonValue],
        *,
        final: bool,
    ) -> ReportRecord:
        desired = task.desired
        return ReportRecord(
            type=kind,
            record_id=record_id_of(desired.task_id, desired.attempt, kind, seq),
            subject=desired.task_id,
            attempt=desired.attempt,
            origin=RecordOrigin.STREAM,
            worker=self._worker,
            supervisor=desired.supervisor_id,
            data_source=desired.spec.data_source,
            status=task.report.phase if task.report.phase in _OVER else None,
            at=datetime.now(UTC),
            seq=seq,
            final=final,
            payload=payload,
        )


def log_record(piece: LogPiece, worker: str) -> ReportRecord:
    """Return the record of a piece of a task's log."""
    about = LogAbout.read(piece.about)
    kind = RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of(piece.task, about.attempt, kind, piece.offset),
        subject=piece.task,
        attempt=about.attempt,
        origin=RecordOrigin.STREAM,
        worker=worker,
        supervisor=about.supervisor,
        data_source=about.data_source,
        at=datetime.now(UTC),
        offset=piece.offset,
        final=piece.ends,
        payload={"text": piece.text},
    )


def _shown(task: ReportedTask) -> dict[str, JsonValue]:
    """Return a report for a payload: no token, no order."""
    left_out: Sequence[str] = ("taskId", "orderTerm", "orderSequence")
    shown = task.report.model_dump(mode="json")
    return {name: each for name, each in shown.items() if name not in left_out}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
