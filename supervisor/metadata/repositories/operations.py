"""The repository of operations, and of the facts that show whether an operation is done."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, func, insert, select, update

from supervisor.core.history.operations import (
    Operation,
    OperationFacts,
    OperationKind,
    discarded_by,
)
from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.values.permissions import reason_of
from supervisor.metadata.repositories.generations import SqlGenerations
from supervisor.metadata.schema.column_types import known
from supervisor.metadata.schema.history import operations
from supervisor.metadata.schema.tables import generations, supervisor_specs

_AT = operations.c
_GEN = generations.c
_SPEC = supervisor_specs.c
_NEWEST = (
    select(func.max(_AT.number))
    .where(_AT.supervisor_id.in_(bindparam("ids", expanding=True)))
    .group_by(_AT.supervisor_id)
)
NEWEST_OF = select(operations).where(_AT.number.in_(_NEWEST))
"""Grouped: for one supervisor after the other PostgreSQL would read the newest of all backwards."""
KEPT = 1_000
"""Operations kept per supervisor: six weeks of them, if a script suspends it each hour."""
TRIM_EVERY = 50


class SqlOperations:
    """See `ports.operations.OperationsTable`."""

    def __init__(self, connection: Connection, ranges: SqlGenerations) -> None:
        self._db = connection
        self._ranges = ranges

    def add(self, operation: Operation) -> Operation:
        """Store an operation; return it with its number."""
        newest = self._ranges.newest(operation.supervisor_id)
        ordinal = 0 if newest is None else newest.ordinal
        reason = reason_of(operation.requested_by)
        number = self._db.execute(
            insert(operations)
            .values(
                supervisor_id=operation.supervisor_id,
                kind=operation.kind,
                asked_by=operation.requested_by,
                at=operation.at,
                spec_version=operation.spec_version,
                ranges=list(operation.ranges),
                disturbs=operation.disturbs,
                last_ordinal=ordinal,
                reason=reason,
                replay=None if operation.replay is None else asdict(operation.replay),
            )
            .returning(_AT.number)
        ).scalar_one()
        if number % TRIM_EVERY == 0:
            self._trim(operation.supervisor_id)
        return replace(operation, last_ordinal=ordinal, number=number, reason=reason)

    def get(self, number: int) -> Operation | None:
        """Return one operation."""
        rows = self._db.execute(select(operations).where(_AT.number == number)).mappings()
        return next((_read(row) for row in rows), None)

    def page(
        self, limit: int, *, before: int | None = None, supervisor_id: str | None = None
    ) -> list[Operation]:
        """Return operations, newest first; with `before` only lower numbers."""
        query = select(operations).order_by(_AT.number.desc()).limit(limit)
        if before is not None:
            query = query.where(_AT.number < before)
        if supervisor_id is not None:
            query = query.where(_AT.supervisor_id == supervisor_id)
        return [_read(row) for row in self._db.execute(query).mappings()]

    def of_versions(self, supervisor_id: str, versions: Collection[int]) -> dict[int, Operation]:
        """Return version of the spec -> the operation that stored it, as far as they are kept."""
        query = select(operations).where(
            _AT.supervisor_id == supervisor_id, _AT.spec_version.in_(sorted(versions))
        )
        rows = self._db.execute(query.order_by(_AT.number)).mappings()
        return {row["spec_version"]: _read(row) for row in rows}

    def newest_of(self, supervisor_ids: Collection[str]) -> dict[str, Operation]:
        """Return supervisor -> its newest operation; one statement."""
        rows = self._db.execute(NEWEST_OF, {"ids": sorted(supervisor_ids)}).mappings()
        return {row["supervisor_id"]: _read(row) for row in rows}

    def facts(self, operation: Operation) -> OperationFacts:
        """Return the facts that decide the state of an operation."""
        named = [self._ranges.get(generation_id) for generation_id in operation.ranges]
        named_ranges = tuple(generation for generation in named if generation is not None)
        version, mine = operation.spec_version, _GEN.supervisor_id == operation.supervisor_id
        if version is None:
            return OperationFacts(named=named_ranges)
        ended = select(func.max(_GEN.ended_at)).where(
            mine, _GEN.spec_version < version, _GEN.ended_at >= operation.at
        )
        # A forgotten supervisor id restarts at version 1, and the newest range from before stays.
        last = operation.last_ordinal
        behind = _GEN.opened_at >= operation.at if last is None else _GEN.ordinal > last
        opened = select(func.min(_GEN.opened_at)).where(mine, _GEN.spec_version >= version, behind)
        following = select(func.min(_SPEC.created_at)).where(
            _SPEC.supervisor_id == operation.supervisor_id, _SPEC.version > version
        )
        live = self._ranges.live(operation.supervisor_id)
        return OperationFacts(
            older=tuple(each for each in live if each.spec_version < version),
            older_ended_at=self._db.execute(ended).scalar_one(),
            opened_at=self._db.execute(opened).scalar_one(),
            named=named_ranges,
            next_version_at=self._db.execute(following).scalar_one(),
            discarded=discarded_by(operation, named_ranges),
        )

    def finish(self, number: int, outcome: ReplayOutcome, now: datetime) -> None:
        """Store the outcome of a replay, unless it has one."""
        ends = {str(partition): end for partition, end in sorted(outcome.ends.items())}
        self._db.execute(
            update(operations)
            .where(_AT.number == number, _AT.finished_at.is_(None))
            .values(outcome=asdict(outcome) | {"ends": ends}, finished_at=now)
        )

    def forget(self, supervisor_id: str) -> None:
        """Delete the operations of a supervisor."""
        self._db.execute(delete(operations).where(_AT.supervisor_id == supervisor_id))

    def _trim(self, supervisor_id: str) -> None:
        mine = _AT.supervisor_id == supervisor_id
        oldest = select(_AT.number).where(mine).order_by(_AT.number.desc()).offset(KEPT).limit(1)
        self._db.execute(delete(operations).where(mine, _AT.number <= oldest.scalar_subquery()))


def _read(row: RowMapping) -> Operation:
    return Operation(
        row["supervisor_id"],
        known(OperationKind, row["kind"]) or OperationKind.UNKNOWN,
        row["asked_by"],
        row["at"],
        spec_version=row["spec_version"],
        ranges=tuple(row["ranges"]),
        disturbs=row["disturbs"],
        last_ordinal=row["last_ordinal"],
        number=row["number"],
        reason=row["reason"],
        replay=None if row["replay"] is None else ReplayRequest(**row["replay"]),
        outcome=_outcome(row["outcome"]),
        finished_at=row["finished_at"],
    )


def _outcome(document: Mapping[str, Any] | None) -> ReplayOutcome | None:
    if document is None:
        return None
    ends = {int(partition): end for partition, end in document["ends"].items()}
    return ReplayOutcome(**{**document, "ends": ends})
