"""Submitted tasks, polled by id: each is a bounded supervisor with the task's id.

POST /task ──► spec with boundedStreamConfig ──► RUNNING ──► all of it published: SUCCESS
└──► terminated before: FAILED
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.model.rows import SpecVersion, TaskStatus
from supervisor.core.planning.preconditions import AnyVersion, Expected
from supervisor.core.planning.rules.bounds import is_completed
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.spec.submitted_task import TYPE, bounded_supervisor
from supervisor.core.values.errors import SpecUnreadable, TaskExists, TaskNotFound
from supervisor.ports.store import Store, Transaction
from supervisor.services.access.ownership import Allowed, everything
from supervisor.services.supervisors.admission import Judge, any_impact
from supervisor.services.supervisors.specs import Service
from supervisor.services.tasks.stop_task import WHY
from supervisor.views.tasks import EPOCH, TaskLocation, TaskRow, TaskStatusView
from tasks.contract.wire import iso_utc


class _Unused(Expected):
    """The precondition that the id was never used, checked where the first version is written."""

    def check(self, supervisor_id: str, newest: AnyVersion | None) -> None:
        if newest is not None:
            raise TaskExists(supervisor_id)


@dataclass(frozen=True)
class SubmittedTasks:
    """The verbs on submitted tasks; one instance per process, safe to call from many threads."""

    store: Store
    service: Service

    def submit(
        self, document: dict[str, object], author: str, suffix: str, allowed: Allowed = everything
    ) -> str:
        """Begin to read the ranges that a task names; return its id.

        `suffix` makes an id for a task without one; `allowed` is as in `apply_spec`.

        Raises:
            NotOffered, InvalidSpec: the task is of another type, or cannot be run.
            TaskExists: the id was used before.
            LeaseLost: this overlord does not lead.
        """
        task_id, spec = bounded_supervisor(document, suffix)
        with self.store.reading() as tx:
            if tx.tasks.get(task_id) is not None:
                raise TaskExists(task_id)
        self.service.apply_spec(spec, author, _Unused(), allowed=allowed, submitted=True)
        return task_id

    def status(self, task_id: str) -> TaskStatusView:
        """Return the row of a submitted task in Druid's form.

        Raises:
            TaskNotFound: no bounded supervisor has this id.
        """
        with self.store.reading() as tx:
            first, spec, ended = _require_task(tx, task_id)
            done = is_completed(spec, tx.offsets.of(task_id))
            published = [each.published_at for each in tx.segments.publications(task_id)]
        finished = max(published, default=first.created_at) if done else ended
        return TaskStatusView(task=task_id, status=_row(task_id, spec, first, finished, done=done))

    def short_statuses(self, task_ids: Iterable[str]) -> dict[str, TaskStatusView]:
        """Return id -> row, for submitted tasks; other ids are left out."""
        with self.store.reading() as tx:
            known = {head.supervisor_id for head in tx.specs.heads()}
        statuses = {}
        for task_id in sorted(known.intersection(task_ids)):
            try:
                statuses[task_id] = self.status(task_id)
            except (TaskNotFound, SpecUnreadable):
                continue  # an unbounded supervisor, or one of a newer release
        return statuses

    def payload(self, task_id: str) -> dict[str, object]:
        """Return `{task, payload}` with the spec of the bounded supervisor; raises as `status`."""
        with self.store.reading() as tx:
            _, spec, _ = _require_task(tx, task_id)
        return {"task": task_id, "payload": spec.normalised() | {"type": TYPE, "id": task_id}}

    def stop(self, task_id: str, author: str, judge: Judge = any_impact) -> None:
        """End a submitted task; one that has ended stays as it is.  Raises as `status`."""
        if not self.is_over(task_id):
            self.service.terminate(task_id, author, judge=judge)

    def is_over(self, task_id: str) -> bool:
        """Return whether a submitted task has ended, or read all; raises as `status`."""
        with self.store.reading() as tx:
            _, spec, ended = _require_task(tx, task_id)
            return ended is not None or is_completed(spec, tx.offsets.of(task_id))


def _require_task(
    tx: Transaction, task_id: str
) -> tuple[SpecVersion, SupervisorSpec, datetime | None]:
    """Return the first version, the newest spec, and the time of the termination."""
    versions = tx.specs.history(task_id, 2)  # a spec precedes each tombstone
    spec = next((version.spec for version in versions if version.spec is not None), None)
    first = tx.specs.version(task_id, 1)
    if spec is None or spec.io_config.ends is None or first is None:
        raise TaskNotFound(task_id)
    return first, spec, versions[0].created_at if versions[0].terminated else None


def _row(
    task_id: str, spec: SupervisorSpec, first: SpecVersion, finished: datetime | None, *, done: bool
) -> TaskRow:
    running = finished is None
    status = TaskStatus.SUCCESS if done else TaskStatus.RUNNING if running else TaskStatus.FAILED
    created = iso_utc(first.created_at)
    lasted = -1 if finished is None else int((finished - first.created_at).total_seconds() * 1000)
    why = WHY if status is TaskStatus.FAILED else ""
    return TaskRow(
        id=task_id,
        group_id=task_id,
        type=TYPE,
        created_time=created,
        queue_insertion_time=created if running else EPOCH,
        status_code=status,
        status=status,
        runner_status_code="RUNNING" if running else "NONE",
        duration=lasted,
        location=TaskLocation(host=None, port=-1, tls_port=-1),
        data_source=spec.data_source,
        error_msg=why or None,
        reason=why,
        supervisor_id=task_id,
        generation_id="",
        replica=0,
        attempt=0,
        worker_id="",
    )
