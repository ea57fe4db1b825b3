"""Records of a worker's tasks: how they go on, and how they ended.

    roster ─begin, left─► reporter ─its own thread─► progress, task_result, task_report ─► sender

A task never waits for this: what calls from its thread only notes, and the records are made by the
reporter's thread.  The records of an end are made once, also over restarts (`ends.py`), so what is
sent again is a repeat.  A task that is wanted no more before its end, such as one whose range has
no rows, has them as well: they say how far it came, and no status.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Event, Thread

import structlog
from pydantic import JsonValue

from tasks.contract.messages import DesiredTask, TaskPhase, TaskReport
from tasks.reporting.levels import ReportLevels, TaskEnding
from tasks.reporting.record import (
    RecordOrigin,
    RecordType,
    ReportRecord,
    record_id_of,
)
from tasks.reporting.sizes import PAYLOAD_BYTES, RecordLimits, fitted
from tasks.reporting.timings import TaskTimings
from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogPiece
from tasks.worker.reporting.compaction_end import CompactionEnd
from tasks.worker.reporting.ends import KeptEnds
from tasks.worker.reporting.inline import InlineLogs, combined

__all__ = ["LeftOver", "LogAbout", "ReportedTask", "TaskReporter", "log_record"]

log = structlog.get_logger()

PROGRESS_S = 30.0
_LOOK_S = 1.0
_REPORTED_MAX = 10_000
_OVER = {TaskPhase.SUCCESS, TaskPhase.FAILED}
_LIMITS = RecordLimits(PAYLOAD_BYTES)
_SAMPLES = "samples"
_ORIGIN = RecordOrigin.STREAM
_KILLED = "its worker ended before it could report how the task ended; the log says how far it came"


@dataclass(frozen=True)
class ReportedTask:
    """A task, as far as it is reported."""

    desired: DesiredTask
    report: TaskReport
    started_at: datetime
    timings: TaskTimings = field(default_factory=TaskTimings)


@dataclass(frozen=True)
class LogAbout:
    """Whose log a file is."""

    attempt: int
    supervisor: str | None
    data_source: str | None
    debug: bool = False
    origin: RecordOrigin = _ORIGIN

    @classmethod
    def of(cls, task: DesiredTask) -> "LogAbout":
        """Return what a task's log needs."""
        return cls(task.attempt, task.supervisor_id, task.spec.data_source, debug=task.debug)

    @classmethod
    def read(cls, about: Mapping[str, object]) -> "LogAbout":
        """Return what was written before, by this release or another one."""
        attempt = about.get("attempt")
        return cls(
            attempt if isinstance(attempt, int) else 0,
            _text(about.get("supervisor")),
            _text(about.get("dataSource")),
            debug=about.get("debug") is True,
            origin=_origin(about.get("origin")),
        )

    def written(self) -> dict[str, object]:
        """Return it for a file."""
        return {
            "attempt": self.attempt,
            "supervisor": self.supervisor,
            "dataSource": self.data_source,
            "debug": self.debug,
            "origin": self.origin,
        }


@dataclass(frozen=True)
class LeftOver:
    """Tasks of an earlier life of the worker that are wanted no more."""

    tasks: deque[str] = field(default_factory=deque)
    """Those that were not looked at yet; it grows at any time."""
    about: Callable[[str], Mapping[str, object]] = lambda _: {}
    """Returns whose log a task's is, as `LogAbout.written` gave it; empty: nobody knows."""


class TaskReporter:
    """One per worker; `left` is for all threads and returns at once."""

    def __init__(
        self,
        tasks: Callable[[], Iterable[ReportedTask]],
        offer: Callable[[ReportRecord, int], bool],
        worker: str,
        ends: KeptEnds,
        *,
        levels: ReportLevels,
        held: HeldLogs,
        may_write: Callable[[str], bool],
        left_over: LeftOver | None = None,
        inline: InlineLogs | None = None,
    ) -> None:
        """Report the tasks that `tasks` returns at each look, and those that are noted as left.

        `may_write`: whether lines of a task may still come; `inline`: the logs that go with the
        results; None: logs go in chunks.
        """
        self._inline, self._left_over = inline, left_over or LeftOver()
        self._levels, self._held, self._may_write = levels, held, may_write
        self._tasks, self._offer, self._worker = tasks, offer, worker
        self._kept = ends
        self._left: deque[ReportedTask] = deque()
        self._compacted: deque[CompactionEnd] = deque()
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

    def compaction_ended(self, end: CompactionEnd) -> None:
        """Note the end of a compaction."""
        self._compacted.append(end)

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
                self._look(with_progress=now >= progress_at, closing=closing)
                if now >= progress_at:
                    progress_at = now + PROGRESS_S
            except Exception:
                log.exception("tasks are not reported")
            if closing:
                return

    def _look(self, *, with_progress: bool, closing: bool) -> None:
        # First: what no line comes to any more has been noted as gone before.
        undecided = {each for each in self._held.undecided() if not self._may_write(each)}
        present = [*self._tasks()]
        gone = [self._left.popleft() for _ in range(len(self._left))]
        for task in (*gone, *present):
            if task.report.phase in _OVER or task in gone:
                self._report_end(task, waits=not closing and task not in gone)
            elif with_progress and self._levels.at_once(_ORIGIN, debug=task.desired.debug):
                record = self._progress(task)
                self._offer(record, len(record.to_json()))
        for _ in range(len(self._left_over.tasks)):
            self._report_left_over(self._left_over.tasks.popleft())
        ends = [self._compacted.popleft() for _ in range(len(self._compacted))]
        for end in ends:
            self._report_compaction(end)
        known = {task.desired.task_id for task in (*gone, *present)}
        # Of those that are reported a log may be on its way with the result.
        for task_id in undecided - known - {end.task_id for end in ends} - self._reported.keys():
            self._held.send(task_id)  # an earlier life of the worker ended before it decided

    def _formed(self, records: Iterable[ReportRecord]) -> Iterable[ReportRecord]:
        return records if self._inline is None else combined(records)

    def _of_compaction(self, end: CompactionEnd) -> Iterator[ReportRecord]:
        return end.records(self._worker, self._levels, self._kept.graves(end.task_id))

    def _report_compaction(self, end: CompactionEnd) -> None:
        records = self._kept.of(end.task_id, 0, lambda: self._formed(self._of_compaction(end)))
        self._offer_end(end.task_id, records)

    def _report_end(self, task: ReportedTask, *, waits: bool) -> None:
        task_id = task.desired.task_id
        if task_id in self._reported:
            return
        if self._inline is not None and self._may_write(task_id) and waits:
            return  # its log is not whole yet: the next look has it
        make = partial(self._formed, self._ends(task))
        records = self._kept.of(task_id, task.desired.attempt, make)
        self._offer_end(task_id, records)

    def _report_left_over(self, task_id: str) -> None:
        """Report a task that an earlier life has run, again if that life had begun to."""
        about = self._left_over.about(task_id)
        if about:
            whose = LogAbout.read(about)
            make = partial(self._unknown_end, task_id, whose)
            self._offer_end(task_id, self._kept.of(task_id, whose.attempt, make))

    def _unknown_end(self, task_id: str, whose: LogAbout) -> Iterator[ReportRecord]:
        kind = RecordType.TASK_RESULT
        yield ReportRecord(
            type=kind,
            record_id=record_id_of(task_id, whose.attempt, kind, 0),
            subject=task_id,
            attempt=whose.attempt,
            origin=whose.origin,
            worker=self._worker,
            supervisor=whose.supervisor,
            data_source=whose.data_source,
            at=datetime.now(UTC),
            seq=0,
            final=True,
            debug=whose.debug,
            payload={"detail": _KILLED},
        )

    def _offer_end(self, task_id: str, records: Sequence[ReportRecord]) -> None:
        has_log = False
        for each in records:
            record = self._with_log(each) or each
            has_log = has_log or record is not each
            self._offer(record, len(record.to_json()))
        if any(each.type is RecordType.COMPLETION for each in records):
            self._held.drop(task_id)
        elif not has_log:
            self._held.send(task_id)
        # Else it is held, until the record that has it is stored.
        self._reported[task_id] = None
        while len(self._reported) > _REPORTED_MAX:
            self._reported.popitem(last=False)

    def _with_log(self, record: ReportRecord) -> ReportRecord | None:
        if self._inline is None or self._may_write(record.subject):
            return None
        return self._inline.with_log(record)

    def _progress(self, task: ReportedTask) -> ReportRecord:
        # Numbered by time, so that no number comes twice after a restart of the worker.
        seq = int(time.time() // PROGRESS_S)
        return self._record(task, RecordType.PROGRESS, seq, _shown(task), final=False)

    def _wants(self, task: ReportedTask) -> bool:
        report = task.report
        if report.phase not in _OVER:
            return True  # it was wanted no more, and nobody here knows whether that was well
        ending = TaskEnding(report.phase is TaskPhase.SUCCESS, report.failure)
        return self._levels.wants(_ORIGIN, ending, debug=task.desired.debug)

    def _ends(self, task: ReportedTask) -> Iterator[ReportRecord]:
        if not self._wants(task):
            yield self._record(task, RecordType.COMPLETION, 0, {}, final=True)
            return
        shown = _shown(task)
        samples = shown.pop(_SAMPLES)
        yield self._record(task, RecordType.TASK_RESULT, 0, shown, final=True)
        report = {
            **shown,
            "startedAt": task.started_at.isoformat(),
            _SAMPLES: samples,
            "logged": self._kept.graves(task.desired.task_id),
        }
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
        record = ReportRecord(
            type=kind,
            record_id=record_id_of(desired.task_id, desired.attempt, kind, seq),
            subject=desired.task_id,
            attempt=desired.attempt,
            origin=_ORIGIN,
            worker=self._worker,
            supervisor=desired.supervisor_id,
            data_source=desired.spec.data_source,
            status=task.report.phase if task.report.phase in _OVER else None,
            at=datetime.now(UTC),
            seq=seq,
            final=final,
            debug=desired.debug,
            payload=payload,
        )
        return fitted(record, _LIMITS)


def log_record(piece: LogPiece, worker: str) -> ReportRecord:
    """Return the record of a piece of a task's log."""
    about = LogAbout.read(piece.about)
    kind = RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of(piece.task, about.attempt, kind, piece.offset),
        subject=piece.task,
        attempt=about.attempt,
        origin=about.origin,
        worker=worker,
        supervisor=about.supervisor,
        data_source=about.data_source,
        at=datetime.now(UTC),
        offset=piece.offset,
        final=piece.ends,
        debug=about.debug,
        payload={"text": piece.text},
    )


def _shown(task: ReportedTask) -> dict[str, JsonValue]:
    """Return a report for a payload: no token, no order."""
    left_out: Sequence[str] = ("taskId", "orderTerm", "orderSequence")
    shown = task.report.model_dump(mode="json")
    rest = {name: each for name, each in shown.items() if name not in left_out}
    return {**rest, "timings": task.timings.model_dump(mode="json")}


def _origin(value: object) -> RecordOrigin:
    return RecordOrigin(value) if isinstance(value, str) and value in set(RecordOrigin) else _ORIGIN


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
