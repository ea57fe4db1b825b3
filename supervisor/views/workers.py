"""Response models of workers: in Druid's form, and as the console and the CLI show them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from supervisor.core.model.rows import Task, WorkerRow
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.tables.compaction import Compaction
from tasks.contract.messages import FailureCode, TaskPhase, TaskReport
from tasks.contract.wire import Instant, Seconds, Wire, iso_utc


class WorkerIdentity(Wire):
    """Druid's description of a worker; `id` is an addition."""

    scheme: str
    host: str
    ip: str
    capacity: int
    version: str
    """Empty for a disabled worker, as in Druid."""
    category: str
    id: str


class WorkerLine(Wire):
    """A registered worker; from `liveness` on, additions."""

    worker: WorkerIdentity
    curr_capacity_used: int
    curr_parallel_index_capacity_used: int
    availability_groups: list[str]
    running_tasks: list[str]
    last_completed_task_time: str
    liveness: Liveness
    incarnation: int
    stopping: bool
    disabled: bool
    """Whether the worker is disabled: it finishes its tasks and gets no new ones."""
    previous_end: str
    """The end of the previous incarnation; empty: there was none, or its end is not known."""


class WorkerSlots(Wire):
    """Slots of one worker: how many tasks may read at once, and how many of them are in use."""

    total: int
    used: int


class WorkerSummary(Wire):
    """A registered worker as the leader sees it; a lost one stays until it is forgotten."""

    id: str
    host: str
    """`host:port` of its control API."""
    liveness: Liveness
    silent_for: Seconds | None
    """Seconds since its last sync; null: this leader has not heard of it yet."""
    slots: WorkerSlots
    task_count: int
    """Its active tasks, of all supervisors."""
    registered_at: Instant
    incarnation: int
    previous_end: str
    """The end of the previous incarnation; empty: there was none, or its end is not known."""
    version: str | None
    """Its release of Tidegate; null: it has not said, as one of an earlier release."""
    started_at: Instant | None
    """When its process began, by the leader's clock; null: it has not said."""
    stopping: bool
    disabled: bool


class WorkerMemory(Wire):
    """Memory of the JVM of a worker's Spark driver."""

    resident_bytes: int | None
    """What its operating system counts: heap, code and buffers."""
    heap_max_bytes: int | None
    """The heap that it may use at most."""


class WorkerTask(Wire):
    """An active task of a worker."""

    id: str
    supervisor_id: str
    data_source: str
    generation_id: str
    replica: int
    attempt: int
    created_at: Instant
    phase: TaskPhase | None
    """Null: the worker has not reported it to this leader yet."""
    detail: str
    stalled_for: Seconds | None


class WorkerCompaction(Wire):
    """A compaction that is assigned to a worker."""

    id: str
    data_source: str
    interval_start: Instant
    interval_end: Instant
    inputs: int
    """Files that it replaces by one."""
    assigned_at: Instant | None
    failure: FailureCode | None
    """Null: it runs, or its file is offered."""
    detail: str


class WorkerDetail(WorkerSummary):
    """A worker with what it runs, as far as its caller may read the tables."""

    uptime: Seconds | None
    """Null: when it began is not known, or it is lost."""
    spark_master: str | None
    memory: WorkerMemory | None
    """Null: it has not said."""
    tasks: list[WorkerTask]
    compactions: list[WorkerCompaction]
    samples: int
    """Samples of topics that it reads for callers who wait."""


class ForgottenWorker(Wire):
    """A worker that was forgotten; files that its tasks left are deleted from now on."""

    worker: str


class Capacity(Wire):
    """Slots of the workers that may be given tasks."""

    current_cluster_capacity: int
    maximum_capacity_with_auto_scale: int
    used_cluster_capacity: int


def worker_lines(
    registered: Sequence[WorkerRow],
    views: Sequence[WorkerView],
    active: Sequence[Task],
    *,
    used: Mapping[str, int],
    recent: Sequence[Task],
) -> list[WorkerLine]:
    """Return a line per registered worker; a lost one stays until it is forgotten."""
    rows = {row.id: row for row in registered}
    lines = []
    for view in views:
        mine = [task for task in active if task.worker_id == view.id]
        if view.id in rows:
            ended = [t.ended_at for t in recent if t.worker_id == view.id and t.ended_at]
            # As in Druid: for a worker that has completed nothing, the time of its registration.
            last = max(ended, default=rows[view.id].registered_at)
            lines.append(_line(rows[view.id], view, mine, used.get(view.id, 0), iso_utc(last)))
    return lines


def _line(
    row: WorkerRow, view: WorkerView, active: Sequence[Task], used: int, last_completed: str
) -> WorkerLine:
    parts = urlsplit(row.url)
    return WorkerLine(
        worker=WorkerIdentity(
            scheme=parts.scheme,
            host=parts.netloc,
            ip=parts.hostname or "",
            capacity=view.slots,
            version="" if view.disabled else "0",
            category="_default_worker_category",
            id=row.id,
        ),
        curr_capacity_used=used,
        curr_parallel_index_capacity_used=0,
        availability_groups=sorted({task.id.rpartition("_")[0] for task in active}),
        running_tasks=[task.id for task in active],
        last_completed_task_time=last_completed,
        liveness=view.liveness,
        incarnation=view.incarnation,
        stopping=view.stopping,
        disabled=view.disabled,
        previous_end=view.previous_end,
    )


def capacity_of(views: Sequence[WorkerView], used: Mapping[str, int]) -> Capacity:
    """Return the numbers of slots of workers that may get tasks."""
    able = [w for w in views if w.takes_tasks]
    return Capacity(
        current_cluster_capacity=sum(w.slots for w in able),
        maximum_capacity_with_auto_scale=-1,
        used_cluster_capacity=sum(used.get(w.id, 0) for w in able),
    )


Visible = Callable[[str], bool]
"""Whether the caller may read a table."""


def worker_summary(
    row: WorkerRow, view: WorkerView, *, used: int, tasks: int, now: datetime
) -> WorkerSummary:
    """Return a worker as the leader sees it; `now` is by the leader's clock."""
    silent = None if view.heard_at is None else max(timedelta(0), now - view.heard_at)
    return WorkerSummary(
        id=row.id,
        host=urlsplit(row.url).netloc,
        liveness=view.liveness,
        silent_for=silent,
        slots=WorkerSlots(total=view.slots, used=used),
        task_count=tasks,
        registered_at=row.registered_at,
        incarnation=view.incarnation,
        previous_end=view.previous_end,
        version=None if view.facts is None else view.facts.version,
        started_at=view.started_at,
        stopping=view.stopping,
        disabled=view.disabled,
    )


def worker_detail(
    summary: WorkerSummary,
    view: WorkerView,
    work: tuple[Sequence[Task], Sequence[Compaction], int],
    *,
    now: datetime,
    visible: Visible,
) -> WorkerDetail:
    """Return a worker with its work: active tasks, compactions, and its number of samples."""
    tasks, compactions, samples = work
    began, facts = summary.started_at, view.facts
    memory = None
    if facts is not None:
        memory = WorkerMemory(
            resident_bytes=facts.resident_bytes, heap_max_bytes=facts.heap_max_bytes
        )
    gone = began is None or view.liveness is Liveness.LOST
    return WorkerDetail(
        **dict(summary),
        uptime=None if gone or began is None else max(timedelta(0), now - began),
        spark_master=None if facts is None else facts.spark_master,
        memory=memory,
        tasks=[
            _worker_task(task, view.reports.get(task.id))
            for task in tasks
            if visible(task.data_source)
        ],
        compactions=[
            _worker_compaction(each, view) for each in compactions if visible(each.data_source)
        ],
        samples=samples,
    )


def _worker_task(task: Task, report: TaskReport | None) -> WorkerTask:
    return WorkerTask(
        id=task.id,
        supervisor_id=task.supervisor_id,
        data_source=task.data_source,
        generation_id=task.generation_id,
        replica=task.replica,
        attempt=task.attempt,
        created_at=task.created_at,
        phase=None if report is None else report.phase,
        detail="" if report is None else report.detail,
        stalled_for=None if report is None else report.stalled_for,
    )


def _worker_compaction(compaction: Compaction, view: WorkerView) -> WorkerCompaction:
    report = view.compactions.get(compaction.id)
    return WorkerCompaction(
        id=compaction.id,
        data_source=compaction.data_source,
        interval_start=compaction.interval.start,
        interval_end=compaction.interval.end,
        inputs=len(compaction.inputs),
        assigned_at=compaction.assigned_at,
        failure=None if report is None else report.failure,
        detail="" if report is None else report.detail,
    )
