"""The end of what has ended: executions that are older, or more, than an installation keeps."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, exists, func, select

from supervisor.adapters.executions.artifacts import drop_artifacts, drop_orphans
from supervisor.adapters.executions.schema import (
    EVENTS,
    EXECUTIONS,
    FIRINGS,
    LABELS,
    RUNS,
    TRIGGERS,
)

__all__ = ["purge_executions"]

_E, _F, _T = EXECUTIONS.c, FIRINGS.c, TRIGGERS.c
_PARTS = 3
"""Of the id of an execution that a trigger has started."""


def purge_executions(
    connection: Connection, before: datetime, of_each: int, limit: int
) -> Sequence[str]:
    """Delete up to `limit` executions; return their ids."""
    ids = _old(connection, before, limit) or _surplus(connection, of_each, limit)
    if ids:
        for table in (EVENTS, RUNS, LABELS):
            connection.execute(delete(table).where(table.c.execution.in_(ids)))
        connection.execute(delete(EXECUTIONS).where(_E.id.in_(ids)))
        drop_artifacts(connection, ids)
        _drop_requests(connection, ids)
    drop_orphans(connection, before, limit)
    return ids


def _drop_requests(connection: Connection, ids: Sequence[str]) -> None:
    """Forget the requests to webhooks that have started these executions: their keys are free."""
    named = [each.split(":", 2) for each in ids]  # flow:trigger:slot
    rows = [
        {"of_flow": each[0], "of_trigger": each[1], "of_slot": each[2]}
        for each in named
        if len(each) == _PARTS
    ]
    if not rows:
        return
    of_it = (_F.flow == bindparam("of_flow"), _F.trigger == bindparam("of_trigger"))
    is_hook = exists().where(_T.flow == _F.flow, _T.name == _F.trigger, _T.kind == "webhook")
    connection.execute(
        delete(FIRINGS).where(*of_it, _F.slot == bindparam("of_slot"), is_hook), rows
    )


def _old(connection: Connection, before: datetime, limit: int) -> Sequence[str]:
    query = select(_E.id).where(_E.ended_at < before).order_by(_E.ended_at, _E.id).limit(limit)
    return connection.execute(query).scalars().all()


def _surplus(connection: Connection, of_each: int, limit: int) -> Sequence[str]:
    """Return the oldest of one flow that has too many."""
    many = (
        select(_E.flow, func.count().label("number"))
        .where(_E.ended_at.is_not(None))
        .group_by(_E.flow)
        .having(func.count() > of_each)
        .limit(1)
    )
    row = connection.execute(many).one_or_none()
    if row is None:
        return []
    of_it = (_E.flow == row.flow, _E.ended_at.is_not(None))
    oldest = select(_E.id).where(*of_it).order_by(_E.ended_at, _E.id)
    return connection.execute(oldest.limit(min(limit, row.number - of_each))).scalars().all()
