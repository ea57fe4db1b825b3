"""Lists of executions, newest first, each filter from an index; heads alone, without task runs.

Of a label and another filter the rarer one is read from its index, and the other one is looked up
for each of its rows: a label that all executions have may go with a state that few are in.
"""

from collections.abc import Sequence
from typing import TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    func,
    literal,
    select,
    tuple_,
    union_all,
)

from supervisor.adapters.executions.schema import EXECUTIONS, LABELS
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.records import StateRecord, restore
from supervisor.ports.flows.executions import ExecutionPlace, ExecutionQuery

__all__ = ["execution_page"]

_E = EXECUTIONS.c
_Label: TypeAlias = tuple[str, str]
"""Name and value."""
_RARE = 5_000
"""A filter with fewer executions is rare; so many entries of an index are counted at once."""


def execution_page(
    connection: Connection, wanted: ExecutionQuery, limit: int, before: ExecutionPlace | None
) -> Sequence[Execution]:
    """Return wanted executions behind a place; one that cannot be read is left out."""
    # An index gives its rows in the order of the list for one state alone.
    states = sorted(wanted.states) if wanted.states is not None else [None]
    parts = [
        _places(wanted, state, _rarest_first(connection, wanted, state), before)
        .limit(limit)
        .subquery()
        for state in states
    ]
    if not parts:
        return []
    places = union_all(*(select(part) for part in parts)).subquery()
    newest = places.c.created_at.desc(), places.c.id.desc()
    first = select(places).order_by(*newest).limit(limit).subquery()
    query = (
        select(_E.id, _E.head, _E.plan)
        .join(first, first.c.id == _E.id)
        .order_by(first.c.created_at.desc(), first.c.id.desc())
    )
    rows = connection.execute(query).all()
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


def _rarest_first(
    connection: Connection, wanted: ExecutionQuery, state: str | None
) -> Sequence[_Label | None]:
    """Return the labels, the one to begin with first; None: begin with the executions."""
    labels, fields = list(dict.fromkeys(wanted.labels)), _own_fields(wanted, state)
    if not labels or (len(labels) == 1 and not fields):
        return labels or [None]
    if wanted.error is not None:  # its index has the text: no row of it is looked up in vain
        return [None, *labels]
    counts = {
        each: _count(connection, [LABELS.c.name == each[0], LABELS.c.value == each[1]])
        for each in labels
    }
    rarest = min(labels, key=counts.__getitem__)
    if fields and _count(connection, fields) < min(_RARE, counts[rarest]):
        return [None, *labels]
    return [rarest, *(each for each in labels if each != rarest)]


def _count(connection: Connection, fields: Sequence[ColumnElement[bool]]) -> int:
    some = select(literal(1)).where(*fields).limit(_RARE).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one()


def _places(
    wanted: ExecutionQuery,
    state: str | None,
    labels: Sequence[_Label | None],
    before: ExecutionPlace | None,
) -> Select[tuple[object, ...]]:
    """Return ids and times of executions in one state, or in any, newest first."""
    first, *others = labels
    created_at, execution_id = _E.created_at, _E.id
    if first is not None:
        created_at, execution_id = LABELS.c.created_at, LABELS.c.execution
    query = select(execution_id.label("id"), created_at.label("created_at"))
    if first is not None:
        query = query.join(EXECUTIONS, _E.id == execution_id)
        query = query.where(LABELS.c.name == first[0], LABELS.c.value == first[1])
    for label in others:
        if label is not None:
            one = LABELS.alias()
            fits = (one.c.execution == execution_id, one.c.name == label[0])
            query = query.where(select(one.c.name).where(*fits, one.c.value == label[1]).exists())
    query = query.where(*_own_fields(wanted, state))
    if wanted.since is not None:
        query = query.where(created_at >= wanted.since)
    if wanted.until is not None:
        query = query.where(created_at < wanted.until)
    if before is not None:
        place = tuple_(created_at, execution_id)
        query = query.where(place < tuple_(before.created_at, before.id))
    return query.order_by(created_at.desc(), execution_id.desc())


def _own_fields(wanted: ExecutionQuery, state: str | None) -> list[ColumnElement[bool]]:
    """Return conditions on the rows of executions."""
    fields: list[ColumnElement[bool]] = []
    if wanted.flow is not None:
        fields.append(_E.flow == wanted.flow)
    if state is not None:
        fields.append(_E.state == state)
    if wanted.started_by is not None:
        fields.append(_E.started_by == wanted.started_by)
    if wanted.trigger is not None:
        fields.append(_E.trigger == wanted.trigger)
    if wanted.parent is not None:
        # A range, which both databases read from the index; 0 comes right after /.
        fields += [_E.parent >= f"{wanted.parent}/", _E.parent < f"{wanted.parent}0"]
    if wanted.error is not None:
        text = func.lower(_E.error).contains(wanted.error.lower(), autoescape=True)
        fields += [_E.error.is_not(None), text]
    return fields
