"""Task reports in Druid's two forms: live from the last sync, final from the rows.

RUNNING         soft state of the leader: counters, rates, samples of rejected records SUCCESS,
FAILED the counters at the end; if the task published, its samples
"""

from collections.abc import Mapping
from dataclasses import dataclass

from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import Generation, Publication, Task, TaskStatus
from supervisor.core.planning.partition_names import by_name, checkpoints, names_topics
from supervisor.core.values.errors import NoTaskReports, TaskNotFound
from supervisor.ports.store import Clock, Store
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

SAMPLES_MAX = 1_000
Report = dict[str, object]


@dataclass(frozen=True)
class TaskReportViews:
    """Builds task reports; those of running tasks only on the leader, which has the soft state."""

    store: Store
    registry: WorkerRegistry
    leadership: Leadership
    clock: Clock

    def reports(self, task_id: str) -> Report:
        """Return the counters and samples of a task, up to now or to its end.

        Raises:
            TaskNotFound: there is no such task.
            NoTaskReports: the task has not reported yet, or ended without a report.
            LeaseLost: the task runs, and this overlord does not lead.
        """
        with self.store.reading() as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                raise TaskNotFound(task_id)
            generation = tx.generations.get(task.generation_id)
            assert generation is not None, "a task belongs to a generation"
            publication = tx.segments.publication(task.generation_id)
            spec = spec_of_range(tx, generation, publication)
        if not task.active:
            several = names_topics(spec, generation.start)
            return _final(task, generation, publication, topics=several)
        self.leadership.term()
        report = self.registry.report(task.worker_id, task_id)
        if report is None:
            raise NoTaskReports(task_id)
        return self._live(report)

    def _live(self, report: TaskReport) -> Report:
        at_millis = int((self.clock.now() - report.idle_for).timestamp() * 1000)
        starting = report.phase is TaskPhase.STARTING
        payload = {
            "ingestionState": "NOT_STARTED" if starting else "BUILD_SEGMENTS",
            "unparseableEvents": _events(parse_errors([(at_millis, report)], [], SAMPLES_MAX)),
            "rowStats": stats_leaf(report.counters, self.registry.rates(report.task_id)),
        }
        return _statistics(report.task_id, payload)


def _final(
    task: Task, generation: Generation, publication: Publication | None, *, topics: bool
) -> Report:
    if task.totals is None:
        raise NoTaskReports(task.id)
    won = publication is not None and publication.task_id == task.id
    shown = [publication] if publication is not None and won else []
    samples = [each for each in shown if each.forgotten_at is None]
    read = _read(generation.start, task.totals.position)
    payload = {
        "ingestionState": "COMPLETED",
        "unparseableEvents": _events(parse_errors([], samples, SAMPLES_MAX)),
        "rowStats": row_stats(task.totals.counters),
        "errorMsg": error_of(task),
        "segmentAvailabilityConfirmed": task.status is TaskStatus.SUCCESS,
        "segmentAvailabilityWaitTimeMs": 0,
        "recordsProcessed": by_name(read, topics=topics),
    }
    start = checkpoints(generation.start, topics=topics)
    context = {"type": "taskContext", "taskId": task.id, "payload": {"checkpoints": start}}
    return _statistics(task.id, payload) | {"taskContext": context}


def _statistics(task_id: str, payload: Mapping[str, object]) -> Report:
    kind = "ingestionStatsAndErrors"
    return {kind: {"type": kind, "taskId": task_id, "payload": payload}}


def _events(errors: list[ParseError]) -> Report:
    return {"buildSegments": [error.model_dump(mode="json") for error in errors]}


def _read(start: Offsets, position: Offsets) -> Offsets:
    """Return the number of read offsets, with those of transaction markers."""
    return {p: max(0, position.get(p, at) - at) for p, at in start.items()}
