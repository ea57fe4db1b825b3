"""The audit log: append-only, written in the transaction of the change."""

from sqlalchemy import Connection, Row, insert, select

from supervisor.core.model.rows import AuditEntry
from supervisor.metadata.schema.history import audit

_AT = audit.c


class SqlAudit:
    """See `ports.store.Audit`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def write(self, entry: AuditEntry) -> None:
        """Append an entry."""
        self._db.execute(
            insert(audit).values(
                at=entry.at,
                actor=entry.actor,
                action=entry.action,
                subject=entry.subject,
                detail=dict(entry.detail),
                supervisor_id=entry.detail.get("supervisor"),
                reason=entry.reason,
            )
        )

    def recent(self, limit: int) -> list[AuditEntry]:
        """Return entries, newest first."""
        rows = self._db.execute(select(audit).order_by(_AT.id.desc()).limit(limit))
        return [read_entry(row) for row in rows]

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        supervisor_id: str | None = None,
        action: str | None = None,
        actor: str | None = None,
    ) -> list[tuple[int, AuditEntry]]:
        """Return (number, entry) of the entries that match, newest first; see the port."""
        conditions = [] if before is None else [_AT.id < before]
        wanted = (_AT.action, action), (_AT.actor, actor)
        conditions += [column == value for column, value in wanted if value is not None]
        query = select(audit).order_by(_AT.id.desc()).limit(limit).where(*conditions)
        if supervisor_id is not None:
            # One index for each of the two: with OR, the newest entries of all would be read.
            columns = _AT.subject, _AT.supervisor_id
            parts = [
                select(_AT.id)
                .where(column == supervisor_id, *conditions)
                .order_by(_AT.id.desc())
                .limit(limit)
                for column in columns
            ]
            ids = {number for part in parts for number in self._db.execute(part).scalars()}
            query = query.where(_AT.id.in_(sorted(ids, reverse=True)[:limit]))
        return [(row.id, read_entry(row)) for row in self._db.execute(query)]


def read_entry(row: Row[tuple[object, ...]]) -> AuditEntry:
    """Return the entry of a row."""
    return AuditEntry(row.at, row.actor, row.action, row.subject, row.detail, row.reason)
