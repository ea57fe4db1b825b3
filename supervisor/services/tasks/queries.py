"""Queries about tasks and workers; reads only.

Reports of workers need the soft state, which only the leader has: another overlord raises LeaseLost
with the leader's address.  Any overlord answers from the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import Task
from supervisor.core.model.task_query import TaskPlace, TaskQuery
from supervisor.core.values.errors import BadCursor, TaskNotFound
from supervisor.core.values.intervals import Interval
from supervisor.core.values.page_cursors import read_named, write_named
from supervisor.ports.store import Store
from supervisor.services.tasks.workers import worker_urls
from supervisor.views.tasks import (
    TaskFilter,
    TaskRow,
    TaskShort,
    TasksPage,
    TaskStatusView,
    spec_of_range,
    task_payload,
    task_row,
    task_short,
    tasks_of,
)
from supervisor.views.workers import Capacity, WorkerLine, capacity_of, worker_lines

TASKS = "tasks"
_FIRST, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
COMPLETED_LOOKED_AT = 500
"""The number of newest tasks that are searched for a worker's last completed one."""


@dataclass(frozen=True)
class TaskQueries:
    """Answers queries about tasks and workers; one instance per process."""

    store: Store
    registry: WorkerRegistry
    leadership: Leadership

    def tasks(
        self,
        state: TaskFilter | None,
        data_source: str | None,
        limit: int,
        created: Interval | None = None,
    ) -> list[TaskRow]:
        """Return tasks as rows, newest first; `created` bounds their creation times."""
        with self.store.reading() as tx:
            found = tasks_of(tx, state, data_source, limit, created)
            urls = worker_urls(tx)
        mine = [t for t in found if data_source is None or t.data_source == data_source]
        mine = [t for t in mine if created is None or created.holds(t.created_at)]
        mine.sort(key=lambda task: (task.created_at, task.id), reverse=True)
        rows = self._rows(mine, urls)
        if state in {TaskFilter.RUNNING, TaskFilter.PENDING, TaskFilter.WAITING}:
            rows = [row for row in rows if row.runner_status_code == state.upper()]
        return rows[:limit]

    def page(self, wanted: TaskQuery, limit: int, cursor: str | None = None) -> TasksPage:
        """Return wanted tasks, newest first, page by page.

        Raises:
            BadCursor: the cursor does not belong to this list.
        """
        before = _read_place(cursor)
        with self.store.reading() as tx:
            page = tx.tasks.page(wanted, limit, before)
            urls = worker_urls(tx)
        following = None if page.following is None else _write_place(page.following)
        return TasksPage(tasks=self._rows(page.tasks, urls), next=following)

    def task(self, task_id: str) -> dict[str, object]:
        """Return `{task, payload}` in Druid's form.

        Raises:
            TaskNotFound: there is no such task.
        """
        with self.store.reading() as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                raise TaskNotFound(task_id)
            generation = tx.generations.get(task.generation_id)
            assert generation is not None
            publication = tx.segments.publication(generation.id)
            spec = spec_of_range(tx, generation, publication)
        return task_payload(task, generation, spec)

    def task_status(self, task_id: str) -> TaskStatusView:
        """Return one task's row; raises as `task` does."""
        with self.store.reading() as tx:
            task = tx.tasks.get(task_id)
            urls = worker_urls(tx)
        if task is None:
            raise TaskNotFound(task_id)
        return TaskStatusView(task=task_id, status=self._rows([task], urls)[0])

    def short_statuses(self, task_ids: Sequence[str]) -> dict[str, TaskShort]:
        """Return id -> short status, for existing tasks."""
        with self.store.reading() as tx:
            found = tx.tasks.rows_of(task_ids)
            urls = worker_urls(tx)
        return {task_id: task_short(task, urls) for task_id, task in found.items()}

    def _rows(self, tasks: Sequence[Task], urls: Mapping[str, str]) -> list[TaskRow]:
        """Return rows of tasks; only a leader knows the reports, others take them for granted."""
        if not self.leadership.leads():
            return [task_row(task, urls, reported=True) for task in tasks]
        reported = {(w.id, task) for w in self.registry.views() for task in w.reports}
        return [task_row(t, urls, reported=(t.worker_id, t.id) in reported) for t in tasks]

    def workers(self) -> list[WorkerLine]:
        """Return the workers; lost ones only while tasks are assigned to them.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        self.leadership.term()
        with self.store.reading() as tx:
            registered = tx.workers.all()
            active = tx.tasks.active()
            used = tx.tasks.slots_in_use()
            recent = tx.tasks.find(limit=COMPLETED_LOOKED_AT)
        return worker_lines(registered, self.registry.views(), active, used=used, recent=recent)

    def capacity(self) -> Capacity:
        """Return the slots of workers that take tasks; raises as `workers` does."""
        self.leadership.term()
        with self.store.reading() as tx:
            used = tx.tasks.slots_in_use()
        return capacity_of(self.registry.views(), used)


def _write_place(place: TaskPlace) -> str:
    return write_named(TASKS, (place.created_at - _FIRST) // _MICROSECOND, place.task_id)


def _read_place(cursor: str | None) -> TaskPlace | None:
    named = read_named(TASKS, cursor)
    if named is None:
        return None
    number, task_id = named
    try:
        return TaskPlace(_FIRST + number * _MICROSECOND, task_id)
    except OverflowError:  # signed by somebody who knows how
        raise BadCursor(TASKS) from None
