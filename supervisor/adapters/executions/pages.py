"""Lists of executions, newest first, from their indexes; heads alone, without task runs."""

from collections.abc import Sequence

from sqlalchemy import Connection, select, tuple_

from supervisor.adapters.executions.schema import EXECUTIONS
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.records import StateRecord, restore
from supervisor.ports.executions import ExecutionPlace, ExecutionQuery

__all__ = ["execution_page"]

_E = EXECUTIONS.c


def execution_page(
    connection: Connection, wanted: ExecutionQuery, limit: int, before: ExecutionPlace | None
) -> Sequence[Execution]:
    """Return wanted executions behind a place; one that cannot be read is left out."""
    query = select(_E.id, _E.head, _E.plan).order_by(_E.created_at.desc(), _E.id.desc())
    if wanted.flow is not None:
        query = query.where(_E.flow == wanted.flow)
    if wanted.states is not None:
        query = query.where(_E.state.in_(sorted(wanted.states)))
    if wanted.parent is not None:
        query = query.where(_E.parent.startswith(f"{wanted.parent}/", autoescape=True))
    if wanted.since is not None:
        query = query.where(_E.created_at >= wanted.since)
    if wanted.until is not None:
        query = query.where(_E.created_at < wanted.until)
    if before is not None:
        place = tuple_(_E.created_at, _E.id)
        query = query.where(place < tuple_(before.created_at, before.id))
    rows = connection.execute(query.limit(limit)).all()
    records = [
        record
        for row in rows
        for record in (
            StateRecord(f"e/{row.id}", row.head.encode()),
            StateRecord(f"e/{row.id}/plan", row.plan.encode()),
        )
    ]
    executions = restore(records).executions
    return [executions[row.id] for row in rows if row.id in executions]
