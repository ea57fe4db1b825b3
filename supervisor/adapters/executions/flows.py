"""Stored flows in SQL: a row per version, never changed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Row, func, insert, select

from supervisor.adapters.executions.schema import EXECUTIONS, FLOWS
from supervisor.core.flows.stored import StoredFlow
from supervisor.ports.flows.executions import FlowAuthor

__all__ = ["SqlFlows", "author_of"]

_F = FLOWS.c


@dataclass(frozen=True)
class SqlFlows:
    """Implements `ports.flows.flows.FlowRows` in one transaction."""

    connection: Connection

    def newest(self, name: str) -> StoredFlow | None:
        """Return the newest version."""
        some = self.versions(name, 1)
        return some[0] if some else None

    def version(self, name: str, version: int) -> StoredFlow | None:
        """Return one version."""
        query = select(FLOWS).where(_F.name == name, _F.version == version)
        row = self.connection.execute(query).one_or_none()
        return None if row is None else _flow(row)

    def versions(self, name: str, limit: int, before: int | None = None) -> Sequence[StoredFlow]:
        """Return versions, newest first."""
        query = select(FLOWS).where(_F.name == name).order_by(_F.version.desc()).limit(limit)
        if before is not None:
            query = query.where(_F.version < before)
        return [_flow(row) for row in self.connection.execute(query)]

    def page(self, limit: int, after: str = "") -> Sequence[StoredFlow]:
        """Return the newest version of each flow that is not deleted."""
        newest = (
            select(_F.name, func.max(_F.version).label("version"))
            .where(_F.name > after)
            .group_by(_F.name)
            .subquery()
        )
        query = (
            select(FLOWS)
            .join(newest, (newest.c.name == _F.name) & (newest.c.version == _F.version))
            .where(_F.document.is_not(None))
            .order_by(_F.name)
            .limit(limit)
        )
        return [_flow(row) for row in self.connection.execute(query)]

    def add(self, flow: StoredFlow) -> None:
        """Add a version."""
        row = {
            "name": flow.name,
            "version": flow.version,
            "document": None if flow.document is None else json.dumps(flow.document),
            "digest": flow.digest,
            "author": flow.author,
            "reason": flow.reason,
            "at": flow.at,
        }
        self.connection.execute(insert(FLOWS), row)


def author_of(connection: Connection, execution_id: str) -> FlowAuthor | None:
    """Return whose flow an execution runs: one row, however large the two are."""
    its = (_F.name == EXECUTIONS.c.flow) & (_F.version == EXECUTIONS.c.flow_version)
    query = (
        select(_F.name, _F.version, _F.author)
        .join_from(EXECUTIONS, FLOWS, its)
        .where(EXECUTIONS.c.id == execution_id)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else FlowAuthor(row.name, row.version, row.author)


def _flow(row: Row[tuple[object, ...]]) -> StoredFlow:
    document = None if row.document is None else json.loads(row.document)
    return StoredFlow(row.name, row.version, document, row.digest, row.author, row.reason, row.at)
