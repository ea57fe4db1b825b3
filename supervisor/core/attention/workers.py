"""Attention rules of workers: those that the leader does not hear, or has given up."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.remedies import lost_worker
from supervisor.core.planning.observed import Liveness, WorkerView

FIRST_SYNC = timedelta(seconds=15)
"""A new leader gives a worker this time to report for the first time: it tries once a second, and
asks for another overlord when one does not answer."""


@dataclass(frozen=True)
class WorkerTasks:
    """Numbers of tasks of the supervisors that the caller may read, by worker."""

    active: Mapping[str, int]
    replaced: Mapping[str, int]
    """Tasks that ended because the worker was lost, in ranges that still live."""


def worker_items(
    workers: Iterable[WorkerView], tasks: WorkerTasks, now: datetime, led_since: datetime
) -> Iterator[AttentionItem]:
    """Yield the workers that are not heard; `led_since`: when this leader began to listen."""
    for worker in workers:
        since = worker.heard_at or led_since
        match worker.liveness:
            case Liveness.ALIVE:
                continue
            case Liveness.LOST:
                yield _lost(worker, tasks, since)
            case Liveness.UNKNOWN:
                if worker.heard_at is not None or now - led_since > FIRST_SYNC:
                    yield _silent(worker, tasks, since)


def _lost(worker: WorkerView, tasks: WorkerTasks, since: datetime) -> AttentionItem:
    is_meant = worker.stopping or worker.disabled
    active, replaced = tasks.active.get(worker.id, 0), tasks.replaced.get(worker.id, 0)
    if is_meant:
        end = "has stopped as it was to" if worker.stopping else "was disabled and is gone"
        text = f"worker {worker.id} {end}"
    else:
        text = f"worker {worker.id} is lost: it is silent for too long to be waited for"
    if replaced:
        text += f"; {_tasks(replaced)} of it were given to others"
    if active:
        text += f"; {_tasks(active)} of it wait for another worker, or for their supervisor"
    return AttentionItem(
        Severity.BROKEN if active or not is_meant else Severity.TO_KNOW,
        AttentionKind.WORKER_LOST,
        Subject(SubjectKind.WORKER, worker.id),
        text,
        since,
        lost_worker(worker.id),
    )


def _silent(worker: WorkerView, tasks: WorkerTasks, since: datetime) -> AttentionItem:
    active = tasks.active.get(worker.id, 0)
    held = (
        f"nobody knows whether its {_tasks(active)} go on, and they go to others once it is lost"
        if active
        else "no task waits for it"
    )
    return AttentionItem(
        Severity.AT_RISK if active else Severity.TO_KNOW,
        AttentionKind.WORKER_SILENT,
        Subject(SubjectKind.WORKER, worker.id),
        f"worker {worker.id} is silent: {held}",
        since,
    )


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"
