"""Queries of pages of tasks, each of which looks at a bounded number of rows.

    range, else supervisor, else status, else all ──► one index, newest first, so many rows at most
    all other conditions                          ──► tried on these rows alone

The planner has no choice between indexes, so that no page costs what a long history has.  Of a
column that equals a value PostgreSQL ignores the order, and may walk the index of the times, past
everything that is newer than a supervisor's last task.  So it is given bounds in place of an
equality, and has to sort by the column as well.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    String,
    UnaryExpression,
    exists,
    false,
    func,
    literal,
    or_,
    select,
    tuple_,
    type_coerce,
)

from supervisor.core.model.rows import TaskStatus
from supervisor.core.model.task_query import TaskPlace, TaskQuery
from supervisor.database.name_patterns import matching
from supervisor.metadata.schema.tables import generations, tasks

_KNOWN = sorted({*TaskStatus} - {TaskStatus.UNKNOWN})

Conditions = Sequence[ColumnElement[bool]]


def page_query(
    wanted: TaskQuery, before: TaskPlace | None, limit: int, looked_at: int, *, on_sqlite: bool
) -> Select[*tuple[object, ...]]:
    """Return the query of at most `limit` wanted tasks behind a place, newest first."""
    look = _look(wanted, before, on_sqlite=on_sqlite)
    if not has_others(wanted):
        return look.limit(limit)
    rows = look.limit(looked_at).subquery("looked_at")
    others = _others(wanted, rows, on_sqlite=on_sqlite)
    return select(rows).where(*others).order_by(*_newest_first(rows)).limit(limit)


def look_query(
    wanted: TaskQuery, before: TaskPlace | None, looked_at: int, *, on_sqlite: bool
) -> Select[int, datetime]:
    """Return the query of (number, oldest time) of the rows that a page looks at."""
    rows = _look(wanted, before, on_sqlite=on_sqlite).limit(looked_at)
    looked = rows.with_only_columns(tasks.c.created_at).subquery("looked_at")
    return select(func.count(), func.min(looked.c.created_at)).select_from(looked)


def has_others(wanted: TaskQuery) -> bool:
    """Tell whether a condition is tried on rows that were looked at."""
    return bool(_others(wanted, tasks, on_sqlite=True))


def _newest_first(rows: FromClause) -> tuple[UnaryExpression[object], UnaryExpression[object]]:
    return rows.c.created_at.desc(), rows.c.id.desc()


def _look(
    wanted: TaskQuery, before: TaskPlace | None, *, on_sqlite: bool
) -> Select[*tuple[object, ...]]:
    """Return the query of all rows that one index leads to, newest first."""
    look = select(tasks)
    if before is not None:
        at, behind = before.created_at, tasks.c.id < before.task_id
        look = look.where(tasks.c.created_at <= at, or_(tasks.c.created_at < at, behind))
    name = _index_of(wanted)
    if not name:
        return look.order_by(*_newest_first(tasks))
    column, value = tasks.c[name], _values(wanted)[name]
    if on_sqlite:
        return look.where(column == value).order_by(*_newest_first(tasks))
    look = look.where(column >= value, column <= value)
    if before is not None:  # where to begin in the index
        time = literal(before.created_at, tasks.c.created_at.type)
        place = tuple_(literal(value, column.type), time)
        look = look.where(tuple_(column, tasks.c.created_at) <= place)
    return look.order_by(column.desc(), *_newest_first(tasks))


def _index_of(wanted: TaskQuery) -> str:
    """Return the column whose index bounds what is looked at; empty: the time's alone does."""
    if wanted.generation_id is not None:
        return "generation_id"
    if wanted.supervisor_id is not None:
        return "supervisor_id"
    return "" if _status(wanted) in {None, TaskStatus.UNKNOWN} else "status"


def _status(wanted: TaskQuery) -> TaskStatus | None:
    return TaskStatus.FAILED if wanted.own_failure and wanted.status is None else wanted.status


def _values(wanted: TaskQuery) -> dict[str, str | None]:
    """Return column -> the value that it must have; None: any."""
    status = _status(wanted)
    return {
        "generation_id": wanted.generation_id,
        "supervisor_id": wanted.supervisor_id,
        "status": None if status is TaskStatus.UNKNOWN else status,
        "worker_id": wanted.worker_id,
    }


def _others(wanted: TaskQuery, rows: FromClause, *, on_sqlite: bool) -> Conditions:
    """Return all other conditions, for rows that are looked at."""
    columns, values = rows.c, _values(wanted)
    conditions = [
        columns[name] == value
        for name, value in values.items()
        if value is not None and name != _index_of(wanted)
    ]
    if wanted.status is TaskStatus.UNKNOWN:
        conditions.append(columns.status.not_in(_KNOWN))
    if wanted.own_failure:
        conditions += [columns.status == TaskStatus.FAILED, columns.lost.is_not(True)]
    if wanted.group is not None:
        of_group = generations.c.group_number == wanted.group
        conditions.append(exists().where(generations.c.id == columns.generation_id, of_group))
    if wanted.text is not None:
        conditions.append(_contains(rows, wanted.text))
    if wanted.tables is not None:
        covered = (matching(columns.data_source, each, on_sqlite) for each in wanted.tables)
        conditions.append(or_(false(), *covered))
    return conditions


def _contains(rows: FromClause, text: str) -> ColumnElement[bool]:
    columns = (type_coerce(each, String) for each in (rows.c.id, rows.c.worker_id, rows.c.reason))
    return or_(*(func.lower(each).contains(text.lower(), autoescape=True) for each in columns))
