"""The repository of tasks: a row is the write intent of a folder, and keeps its first verdict."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    and_,
    bindparam,
    func,
    or_,
    select,
    tuple_,
    update,
)

from supervisor.core.history.lifecycle_events import task_ended, task_started
from supervisor.core.model.rows import OPEN_STATES, Task, TaskStatus, TaskTotals
from supervisor.core.model.task_query import (
    LOOKED_AT,
    FoundTasks,
    TaskPlace,
    TaskQuery,
    place_behind,
)
from supervisor.core.values.errors import StateMoved
from supervisor.core.values.intervals import Interval
from supervisor.metadata.schema.column_types import known, unknown
from supervisor.metadata.schema.rows import chunks, insert_unless_taken
from supervisor.metadata.schema.tables import generations, tasks
from supervisor.metadata.schema.task_pages import has_others, look_query, page_query
from supervisor.ports.lifecycle import RecordEvent
from supervisor.ports.touched import Touched
from tasks.contract.messages import Counters, PublishOutcome

_AT = tasks.c
_ACTIVE = _AT.ended_at.is_(None)
"""The condition for RUNNING, written as in the partial index."""

# Built once: these queries run in each pass, or at each sync.
_OWN_FAILURE = (_AT.status == TaskStatus.FAILED, _AT.lost.is_not(True))
_OF_SUPERVISOR = _AT.supervisor_id == bindparam("of_supervisor")
_OF_WORKER = _AT.worker_id == bindparam("of_worker")
_OF_GENERATIONS = _AT.generation_id.in_(bindparam("ranges", expanding=True))
_BY_ID = select(tasks).order_by(_AT.id)
_ONE = select(tasks).where(_AT.id == bindparam("task"))
_LIVE = _BY_ID.where(_ACTIVE).with_hint(tasks, "INDEXED BY ix_tasks_live", "sqlite")
"""SQLite takes without statistics an index of all tasks that ever were."""
_ACTIVE_OF = {
    (False, False): _LIVE,
    (True, False): _LIVE.where(_OF_SUPERVISOR),
    (False, True): _BY_ID.where(_ACTIVE, _OF_WORKER),
    (True, True): _LIVE.where(_OF_SUPERVISOR, _OF_WORKER),
}
"""(Of one supervisor, of one worker) -> the query."""
_LAST_ATTEMPTS = _BY_ID.where(
    _OF_GENERATIONS,
    _AT.ended_at.is_not(None),
    tuple_(_AT.generation_id, _AT.replica, _AT.attempt).in_(
        select(_AT.generation_id, _AT.replica, func.max(_AT.attempt))
        .where(_OF_GENERATIONS, _AT.ended_at.is_not(None))
        .group_by(_AT.generation_id, _AT.replica)
    ),
)
_SLOTS_IN_USE = (
    select(_AT.worker_id, func.count().label("used"))
    .join(generations, generations.c.id == _AT.generation_id)
    .where(_ACTIVE, generations.c.state.in_(sorted(OPEN_STATES)))
    .group_by(_AT.worker_id)
    .order_by(_AT.worker_id)
)
_LAST_SUCCESS = (
    select(func.max(_AT.ended_at))
    .where(_OF_SUPERVISOR, _AT.status == TaskStatus.SUCCESS)
    .scalar_subquery()
)
_FAILURES_IN_A_ROW = (
    select(func.count())
    .select_from(tasks)
    .where(_OF_SUPERVISOR, *_OWN_FAILURE)
    .where(_LAST_SUCCESS.is_(None) | (_AT.ended_at > _LAST_SUCCESS))
)
_FAILED_ATTEMPTS = (
    select(_AT.generation_id, func.count().label("failed"))
    .where(_OF_GENERATIONS, *_OWN_FAILURE)
    .group_by(_AT.generation_id)
)
_LAST_ENDED = tuple(
    select(tasks)
    .where(_OF_SUPERVISOR, _AT.status == status, _AT.lost.is_not(True))
    .order_by(_AT.ended_at.desc(), _AT.id.desc())
    .limit(bindparam("most"))
    for status in (TaskStatus.SUCCESS, TaskStatus.FAILED)  # each is one range of the index
)
_WORDS = sorted({*TaskStatus} - {TaskStatus.UNKNOWN})
_UNKNOWN = or_(
    _AT.status < _WORDS[0],
    *(and_(_AT.status > low, _AT.status < high) for low, high in pairwise(_WORDS)),
    _AT.status > _WORDS[-1],
)
"""The condition for a status that this release does not know, as ranges of the index."""
_ENDED = ("status", "reason", "ended_at", "lost", "counters", "position")
_END = (
    update(tasks)
    .where(_AT.id == bindparam("task"), _AT.status == TaskStatus.RUNNING)
    .values({name: bindparam(f"new_{name}") for name in _ENDED})
    .returning(tasks)
)


class SqlTasks:
    """See `ports.store.Tasks`."""

    def __init__(self, connection: Connection, record: RecordEvent, touched: Touched) -> None:
        self._record = record
        self._touched = touched
        self._db = connection

    def start(self, task: Task) -> bool:
        """Insert an active task; False, changing nothing, if its id exists.

        Raises:
            StateMoved: the (generation, replica) has another active task.
        """
        assert task.active, "a task begins RUNNING"
        if self.get(task.id) is not None:
            return False
        if insert_unless_taken(self._db, (tasks, [_row(task)])):
            self._touch(task)
            self._record(task_started(task))
            return True
        if self.get(task.id) is not None:
            return False
        raise StateMoved(
            f"{task.id} cannot start: replica {task.replica} of {task.generation_id} "
            "has another active task"
        )

    def get(self, task_id: str) -> Task | None:
        """Return one task."""
        return next(iter(self._select(_ONE, task=task_id)), None)

    def active(self, supervisor_id: str | None = None, worker_id: str | None = None) -> list[Task]:
        """Return active tasks, of one supervisor or worker or of all, by id."""
        parameters = {"of_supervisor": supervisor_id, "of_worker": worker_id}
        query = _ACTIVE_OF[supervisor_id is not None, worker_id is not None]
        return self._select(query, **{k: v for k, v in parameters.items() if v is not None})

    def last_attempts(self, generation_ids: Sequence[str]) -> dict[tuple[str, int], Task]:
        """Return (generation, replica) -> the ended task with the highest attempt."""
        found = self._select(_LAST_ATTEMPTS, ranges=list(generation_ids))
        return {(task.generation_id, task.replica): task for task in found}

    def of_generations(self, generation_ids: Sequence[str], *, active: bool = False) -> list[Task]:
        """Return the tasks of these generations, by id; see the port."""
        running = (_AT.status == TaskStatus.RUNNING,) if active else ()
        return self._by_id(_AT.generation_id.in_(generation_ids), *running)

    def find(
        self,
        *,
        status: TaskStatus | None = None,
        data_source: str | None = None,
        supervisor_id: str | None = None,
        created: Interval | None = None,
        limit: int = 100,
    ) -> list[Task]:
        """Return tasks, newest first; `created` bounds the times when they were created."""
        filters = {_AT.data_source: data_source, _AT.supervisor_id: supervisor_id}
        unknown_ones = status is TaskStatus.UNKNOWN
        of_status = [_UNKNOWN] if unknown_ones else [_AT.status == status] if status else []
        return self._select(
            select(tasks)
            .where(*of_status)
            .where(*(column == value for column, value in filters.items() if value is not None))
            .where(*_created_within(created))
            .order_by(_AT.created_at.desc(), _AT.id.desc())
            .limit(limit)
        )

    def page(self, wanted: TaskQuery, limit: int, before: TaskPlace | None = None) -> FoundTasks:
        """Return wanted tasks, newest first; see the port."""
        on_sqlite = self._db.dialect.name == "sqlite"
        rows = self._select(page_query(wanted, before, limit + 1, LOOKED_AT, on_sqlite=on_sqlite))
        last, shown = rows[:limit], [task for task in rows[:limit] if wanted.shows_text(task)]
        if len(rows) > limit:
            return FoundTasks(shown, TaskPlace(last[-1].created_at, last[-1].id))
        if not has_others(wanted):
            return FoundTasks(shown, None)
        look = look_query(wanted, before, LOOKED_AT, on_sqlite=on_sqlite)
        looked, oldest = self._db.execute(look).one()
        ended = looked < LOOKED_AT
        return FoundTasks(shown, None if ended else place_behind(last, oldest, before))

    def slots_in_use(self) -> dict[str, int]:
        """Return worker -> the number of its active tasks in open generations; see the port."""
        return {row.worker_id: row.used for row in self._db.execute(_SLOTS_IN_USE)}

    def end(
        self,
        task_id: str,
        status: TaskStatus,
        reason: str,
        now: datetime,
        *,
        lost: bool = False,
        totals: TaskTotals | None = None,
    ) -> bool:
        """RUNNING -> `status`; False: the task had ended already, and keeps its status."""
        assert status is not TaskStatus.RUNNING, "a task ends in SUCCESS or FAILED"
        new = {"new_status": status, "new_reason": reason, "new_ended_at": now, "new_lost": lost}
        new |= {f"new_{name}": value for name, value in _totals(totals).items()}
        row = self._db.execute(_END, {"task": task_id, **new}).mappings().one_or_none()
        if row is None:
            return False
        ended = _read(row)
        self._touch(ended)
        self._record(task_ended(ended, now))
        return True

    def store_outcome(self, task_id: str, outcome: PublishOutcome, *, published: bool) -> None:
        """Store the final answer to the publish request of a task."""
        self._db.execute(
            update(tasks)
            .where(_AT.id == task_id)
            .values(outcome=outcome, published=published)
            .returning(_AT.id)
        ).one()

    def take_up(
        self,
        worker_id: str,
        incarnation: int,
        tokens: Mapping[str, str],
        unseen: Collection[str] = (),
    ) -> None:
        """Give active tasks of a worker to its new incarnation, each with a new token (P7).

        `tokens` maps task id -> token.  Other tasks, and tasks of a newer incarnation, stay.  Those
        of `unseen` begin: no incarnation of the worker has a journal of them.
        """
        for ids, values in (
            (tokens.keys() - set(unseen), {"taken_up": True}),
            (tokens.keys() & set(unseen), {}),
        ):
            if ids:
                self._touched.workers.add(worker_id)
                self._db.execute(
                    update(tasks)
                    .where(_AT.id == bindparam("task_id"), _AT.status == TaskStatus.RUNNING)
                    .where(_AT.worker_id == worker_id, _AT.incarnation < incarnation)
                    .values(incarnation=incarnation, token=bindparam("new_token"), **values),
                    [{"task_id": each, "new_token": tokens[each]} for each in sorted(ids)],
                )

    def failures_in_a_row(self, supervisor_id: str) -> int:
        """Return the number of failed tasks, not lost ones, that ended after the last success."""
        return self._db.execute(_FAILURES_IN_A_ROW, {"of_supervisor": supervisor_id}).scalar_one()

    def last_ended(self, supervisor_id: str, limit: int) -> list[Task]:
        """Return the last tasks that ended by themselves, not lost, newest first."""
        ended = [
            task
            for query in _LAST_ENDED
            for task in self._select(query, of_supervisor=supervisor_id, most=limit)
        ]
        ended.sort(key=lambda task: (task.ended_at or task.created_at, task.id), reverse=True)
        return ended[:limit]

    def failed_attempts(self, generation_ids: Sequence[str]) -> dict[str, int]:
        """Return generation -> its number of failed tasks, not lost ones; zero is left out."""
        rows = self._db.execute(_FAILED_ATTEMPTS, {"ranges": list(generation_ids)})
        return {row.generation_id: row.failed for row in rows}

    def rows_of(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Return id -> task, for the tasks that exist."""
        found = [task for ids in chunks(task_ids) for task in self._by_id(_AT.id.in_(ids))]
        return {task.id: task for task in found}

    def folder_deleted(self, task_id: str, now: datetime) -> None:
        """Record that the output folder is empty for good."""
        self._db.execute(
            update(tasks).where(_AT.id == task_id).values(folder_deleted_at=now).returning(_AT.id)
        ).one()

    def unsettled_folders(self) -> list[Task]:
        """Return ended tasks, by id, whose folders may hold unnamed files; STALE ones too."""
        return self._by_id(_AT.ended_at.is_not(None), _AT.folder_deleted_at.is_(None))

    def _touch(self, task: Task) -> None:
        self._touched.supervisors.add(task.supervisor_id)
        self._touched.workers.add(task.worker_id)

    def _by_id(self, *conditions: ColumnElement[bool]) -> list[Task]:
        return self._select(_BY_ID.where(*conditions))

    def _select(self, query: Select[*tuple[object, ...]], **values: object) -> list[Task]:
        return [_read(row) for row in self._db.execute(query, values).mappings()]


def _created_within(interval: Interval | None) -> tuple[ColumnElement[bool], ...]:
    if interval is None:
        return ()
    return _AT.created_at >= interval.start, _AT.created_at < interval.end


def _row(task: Task) -> dict[str, object]:
    totals = _totals(task.totals)
    return {c.name: getattr(task, c.name) for c in tasks.c if c.name not in totals} | totals


def _totals(totals: TaskTotals | None) -> dict[str, object]:
    if totals is None:
        return {"counters": None, "position": None}
    return {"counters": totals.counters.model_dump(), "position": totals.position}


def _judged(row: RowMapping) -> dict[str, object]:
    """Return status and outcome of a row; if one is an unknown word, the reason names the word."""
    status, outcome = known(TaskStatus, row["status"]), None
    why = unknown(TaskStatus, row["status"]) if status is None else ""
    if row["outcome"] is not None:
        outcome = known(PublishOutcome, row["outcome"])
        why = why or (unknown(PublishOutcome, row["outcome"]) if outcome is None else "")
    if why:
        return {"status": TaskStatus.UNKNOWN, "outcome": outcome, "reason": why}
    return {"status": status, "outcome": outcome}


def _read(row: RowMapping) -> Task:
    fields = {**row, "lost": bool(row["lost"])} | _judged(row)
    counters, position = fields.pop("counters"), fields.pop("position")
    if counters is None:
        return Task(**fields)
    return Task(**fields, totals=TaskTotals(Counters.model_validate(counters), position))
