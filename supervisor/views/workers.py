"""Response models of workers and their slots for Druid's clients."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from supervisor.core.model.rows import Task, WorkerRow
from supervisor.core.planning.observed import Liveness, WorkerView
from tasks.contract.wire import Wire, iso_utc


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
