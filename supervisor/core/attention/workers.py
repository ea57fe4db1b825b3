"""Attention rules of workers: none is there, one is not heard or given up, their releases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    THE_CLUSTER,
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.remedies import a_worker, lost_worker
from supervisor.core.attention.watched import WatchedSupervisor, common_table, names_of
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.values.counts import counted

PENDING_AFTER = timedelta(seconds=5)
"""A range that was just opened gets its tasks by then if it can: the pass that opens it is followed
by one that places them."""
FIRST_SYNC = timedelta(seconds=15)
"""A new leader gives a worker this time to report for the first time: it tries once a second, and
asks for another overlord when one does not answer."""

_NAMED_MAX = 5


@dataclass(frozen=True)
class WorkerTasks:
    """Numbers of tasks of the supervisors that the caller may read, by worker."""

    active: Mapping[str, int]
    replaced: Mapping[str, int]
    """Tasks that ended because the worker was lost, in ranges that still live."""
    supervisors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids of the supervisors that these tasks are of, in order, by worker."""


def is_anyone_there(workers: Iterable[WorkerView], now: datetime, led_since: datetime) -> bool:
    """Return whether a worker is connected, or may still report to a new leader."""
    return any(
        each.liveness is Liveness.ALIVE
        or (
            each.liveness is Liveness.UNKNOWN
            and each.heard_at is None
            and now - led_since <= FIRST_SYNC
        )
        for each in workers
    )


def no_workers(watched: Iterable[WatchedSupervisor], now: datetime) -> Iterator[AttentionItem]:
    """Yield one item for all replicas that wait, of the supervisors that the caller may read.

    The caller has found that no worker is connected.
    """
    waiting: list[WatchedSupervisor] = []
    marks: list[datetime] = []
    for each in watched:
        since = None if each.conditions is None else each.conditions.pending_since
        if since is not None and now - since > PENDING_AFTER:
            waiting.append(each)
            marks.append(since)
    if not waiting:
        return
    ids = tuple(sorted(each.row.id for each in waiting))
    yield AttentionItem(
        Severity.BROKEN,
        AttentionKind.NO_WORKERS,
        THE_CLUSTER,
        f"no worker is connected, so nothing is read and nothing is published of {names_of(ids)}",
        min(marks),
        a_worker(),
        common_table(waiting),
        ids,
    )


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


def version_items(workers: Iterable[WorkerView]) -> Iterator[AttentionItem]:
    """Yield one item if workers that report are of different releases."""
    by_version: dict[str, list[WorkerView]] = {}
    for worker in workers:
        if worker.liveness is Liveness.ALIVE and worker.facts is not None:
            by_version.setdefault(worker.facts.version, []).append(worker)
    if len(by_version) <= 1:
        return
    shown = (f"{version} ({_names(by_version[version])})" for version in sorted(by_version))
    yield AttentionItem(
        Severity.TO_KNOW,
        AttentionKind.WORKER_VERSIONS,
        THE_CLUSTER,
        f"the workers are of {len(by_version)} releases: {', '.join(shown)}; that is fine during "
        "an upgrade, which ends when each has been restarted",
        _mixed_since(by_version.values()),
    )


def _names(workers: Sequence[WorkerView]) -> str:
    names = [worker.id for worker in workers[:_NAMED_MAX]]
    more = len(workers) - len(names)
    return ", ".join([*names, f"and {more} more"] if more else names)


def _mixed_since(groups: Iterable[Sequence[WorkerView]]) -> datetime | None:
    """Return when the first worker of a second release began; None: not known."""
    firsts = []
    for group in groups:
        starts = [each.started_at for each in group if each.started_at is not None]
        if len(starts) < len(group):
            return None
        firsts.append(min(starts))
    return sorted(firsts)[1]


def _lost(worker: WorkerView, tasks: WorkerTasks, since: datetime) -> AttentionItem:
    active, replaced = tasks.active.get(worker.id, 0), tasks.replaced.get(worker.id, 0)
    text, is_mild = _gone(worker)
    if replaced:
        text += f"; {_tasks(replaced)} of it ended, and their ranges go to workers with a free slot"
    if active:
        text += f"; {_tasks(active)} of it wait for another worker, or for their supervisor"
    ids = tasks.supervisors.get(worker.id, ())
    return AttentionItem(
        Severity.TO_KNOW if is_mild and not active else Severity.BROKEN,
        AttentionKind.WORKER_LOST,
        Subject(SubjectKind.WORKER, worker.id),
        text + _concerned(ids),
        since,
        lost_worker(worker.id),
        supervisors=ids,
    )


def _gone(worker: WorkerView) -> tuple[str, bool]:
    """Return how a lost worker went, and whether that needs nobody unless it has tasks."""
    name = f"worker {worker.id}"
    if worker.stopping:
        return f"{name} has stopped as it was to", True
    if worker.disabled:
        return f"{name} was disabled and is gone", True
    if worker.heard_at is None:  # perhaps it was stopped under the leader before
        return f"{name} is gone: it has not reported since this overlord leads", True
    return f"{name} is lost: it is silent for too long to be waited for", False


def _silent(worker: WorkerView, tasks: WorkerTasks, since: datetime) -> AttentionItem:
    active = tasks.active.get(worker.id, 0)
    ids = tasks.supervisors.get(worker.id, ())
    held = (
        f"nobody knows whether its {_tasks(active)} go on, and they go to others once it is lost"
        if active
        else "no task waits for it"
    )
    return AttentionItem(
        Severity.AT_RISK if active else Severity.TO_KNOW,
        AttentionKind.WORKER_SILENT,
        Subject(SubjectKind.WORKER, worker.id),
        f"worker {worker.id} is silent: {held}{_concerned(ids)}",
        since,
        supervisors=ids,
    )


def _concerned(ids: Sequence[str]) -> str:
    """Return whose records are read late meanwhile, as the end of a sentence."""
    return f"; this concerns {names_of(ids)}" if ids else ""


def _tasks(count: int) -> str:
    return counted(count, "task")
