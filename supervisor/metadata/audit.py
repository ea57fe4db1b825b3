"""The append-only record of changes, written in the transaction of the change."""

from sqlalchemy import Connection, insert, select

from supervisor.core.model import AuditEntry
from supervisor.metadata.tables import audit

_AT = audit.c


class SqlAudit:
    """See `ports.Audit`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def write(self, entry: AuditEntry) -> None:
        """Append."""
        self._db.execute(
            insert(audit).values(
                at=entry.at,
                actor=entry.actor,
                action=entry.action,
                subject=entry.subject,
                detail=dict(entry.detail),
            )
        )

    def recent(self, limit: int) -> list[AuditEntry]:
        """Return the newest first."""
        rows = self._db.execute(select(audit).order_by(_AT.id.desc()).limit(limit))
        return [AuditEntry(row.at, row.actor, row.action, row.subject, row.detail) for row in rows]
