"""Task reports in Druid's two forms: live from the last sync, final from the rows.

RUNNING           soft state of the leader: counters, rates, samples of rejected records
SUCCESS, FAILED   the counters at the end; samples if it published, or if its report is stored
without a word    the last progress that is stored, with the time of it
compaction        its row; with what its worker sent, if that is stored
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import Generation, Publication, Task, TaskStatus
from supervisor.core.planning.partition_names import by_name, checkpoints, names_topics
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.errors import NoTaskReports, TaskNotFound
from supervisor.ports.clock import Clock
from supervisor.ports.reports.reports import ReportQuery, ReportStore
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.services.tasks.compaction_reports import payload_of
from supervisor.views.tasks import (
    ParseError,
    error_of,
    parse_errors,
    row_stats,
    spec_of_range,
    stats_leaf,
)
from tasks.contract.messages import TaskPhase, TaskReport
from tasks.contract.offsets import Offsets
from tasks.reporting.record import RecordType, ReportRecord

SAMPLES_MAX = 1_000
_REPORTS = (RecordType.TASK_REPORT, RecordType.COMBINED)
"""Of an end, in the modes of workers."""
Report = dict[str, object]


@dataclass(frozen=True)
class TaskReportViews:
    """Builds task reports; those of running tasks only on the leader, which has the soft state."""

    store: Store
    registry: WorkerRegistry
    leadership: Leadership
    clock: Clock
    stored: ReportStore | None = None
    """What workers have sent; None: nothing is stored."""

    def reports(self, task_id: str) -> Report:
        """Return the counters and samples of a task, up to now or to its end.

        Raises:
            TaskNotFound: there is no such task or compaction.
            NoTaskReports: it has not reported yet, or ended without a report.
            LeaseLost: the task runs, and this overlord does not lead.
        """
        with self.store.reading() as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                return self._of_compaction(tx.compactions.get(task_id), task_id)
            generation = tx.generations.get(task.generation_id)
            assert generation is not None, "a task belongs to a generation"
            publication = tx.segments.publication(task.generation_id)
            spec = spec_of_range(tx, generation, publication)
        if not task.active:
            several = names_topics(spec, generation.start)
            return self._ended(task, generation, publication, topics=several)
        self.leadership.term()
        report = self.registry.report(task.worker_id, task_id)
        if report is None:
            raise NoTaskReports(task_id)
        return self._live(report)

    def _ended(
        self, task: Task, generation: Generation, publication: Publication | None, *, topics: bool
    ) -> Report:
        if task.totals is None:
            return _as_of(task, self._last(task, *_REPORTS, RecordType.PROGRESS))
        if publication is not None and publication.task_id == task.id:
            return _final(task, generation, topics=topics, published=publication)
        own = self._last(task, *_REPORTS)
        return _final(task, generation, topics=topics, sent=own)

    def _of_compaction(self, row: Compaction | None, task_id: str) -> Report:
        if row is None:
            raise TaskNotFound(task_id)
        if row.live:
            raise NoTaskReports(task_id)
        query = ReportQuery(types=frozenset(_REPORTS), subject=task_id, attempt=0)
        sent: list[ReportRecord] = []
        if self.stored is not None:
            with suppress(StoreAway, StoreRefuses):
                sent = [*self.stored.list(query, 1)]
        return _statistics(task_id, payload_of(row, sent[0].payload if sent else None))

    def _last(self, task: Task, *kinds: RecordType) -> "_Sent | None":
        """Return the newest stored record of a task; None: there is none that can be read."""
        if self.stored is None:
            return None
        query = ReportQuery(types=frozenset(kinds), subject=task.id, attempt=task.attempt)
        with suppress(StoreAway, StoreRefuses, ValidationError):
            for record in self.stored.list(query, 1):
                known = {name: record.payload[name] for name in _SHOWN if name in record.payload}
                report = TaskReport.model_validate_json(json.dumps({**known, **_identity(task)}))
                return _Sent(record.at, report)
        return None

    def _live(self, report: TaskReport) -> Report:
        at_millis = int((self.clock.now() - report.idle_for).timestamp() * 1000)
        starting = report.phase is TaskPhase.STARTING
        payload = {
            "ingestionState": "NOT_STARTED" if starting else "BUILD_SEGMENTS",
            "unparseableEvents": _events(parse_errors([(at_millis, report)], [], SAMPLES_MAX)),
            "rowStats": stats_leaf(report.counters, self.registry.rates(report.task_id)),
        }
        return _statistics(report.task_id, payload)


@dataclass(frozen=True)
class _Sent:
    """A report that a task's worker has sent."""

    at: datetime
    report: TaskReport

    @property
    def dated(self) -> tuple[int, TaskReport]:
        """With its time in milliseconds, as samples need it."""
        return int(self.at.timestamp() * 1000), self.report


_SHOWN = {to_camel(name) for name in TaskReport.model_fields}


def _identity(task: Task) -> dict[str, JsonValue]:
    """Return what a stored report leaves out."""
    return {"taskId": task.id, "orderTerm": 0, "orderSequence": 0}


def _final(
    task: Task,
    generation: Generation,
    *,
    topics: bool,
    published: Publication | None = None,
    sent: _Sent | None = None,
) -> Report:
    assert task.totals is not None, "a task without totals has no final report"
    of_row = [] if published is None or published.forgotten_at is not None else [published]
    samples = parse_errors([] if sent is None else [sent.dated], of_row, SAMPLES_MAX)
    read = _read(generation.start, task.totals.position)
    payload = {
        "ingestionState": "COMPLETED",
        "unparseableEvents": _events(samples),
        "rowStats": row_stats(task.totals.counters),
        "errorMsg": error_of(task),
        "segmentAvailabilityConfirmed": task.status is TaskStatus.SUCCESS,
        "segmentAvailabilityWaitTimeMs": 0,
        "recordsProcessed": by_name(read, topics=topics),
    }
    start = checkpoints(generation.start, topics=topics)
    context = {"type": "taskContext", "taskId": task.id, "payload": {"checkpoints": start}}
    return _statistics(task.id, payload) | {"taskContext": context}


def _as_of(task: Task, sent: _Sent | None) -> Report:
    """Return what a task had counted when its worker was heard last."""
    if sent is None:
        raise NoTaskReports(task.id)
    payload = {
        "ingestionState": "BUILD_SEGMENTS",
        "unparseableEvents": _events(parse_errors([sent.dated], [], SAMPLES_MAX)),
        "rowStats": row_stats(sent.report.counters),
        "errorMsg": error_of(task),
        "final": False,
        "asOf": sent.at.isoformat(),
    }
    return _statistics(task.id, payload)


def _statistics(task_id: str, payload: Mapping[str, object]) -> Report:
    kind = "ingestionStatsAndErrors"
    return {kind: {"type": kind, "taskId": task_id, "payload": payload}}


def _events(errors: list[ParseError]) -> Report:
    return {"buildSegments": [error.model_dump(mode="json") for error in errors]}


def _read(start: Offsets, position: Offsets) -> Offsets:
    """Return the number of read offsets, with those of transaction markers."""
    return {p: max(0, position.get(p, at) - at) for p, at in start.items()}
