"""The repository of the archive of events and audit; see `ports.reports.archive`."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, func, insert, select, text, update

from supervisor.core.history.archive import ArchivePosition
from supervisor.core.history.lifecycle_events import NumberedEvent
from supervisor.core.model.rows import AuditEntry
from supervisor.metadata.repositories.audit import read_entry
from supervisor.metadata.repositories.lifecycle import read_event
from supervisor.metadata.schema.history import (
    archive_positions,
    audit,
    happening_counter,
    happenings,
    kept_happenings,
)
from supervisor.ports.reports.archive import ArchivePositions
from tasks.reporting.record import RecordType

_AT = archive_positions.c
# A transaction keeps the lock of its first insert until its end, and takes a number under it.
_WRITERS = text(
    "SELECT DISTINCT virtualtransaction FROM pg_locks "
    "WHERE relation = 'audit'::regclass AND mode = 'RowExclusiveLock' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class SqlArchive:
    """See `ports.reports.archive.Archive`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def positions(self) -> ArchivePositions:
        """Return the positions."""
        rows = self._db.execute(select(archive_positions))
        return {
            RecordType(row.kind): ArchivePosition(
                row.sent_to, row.stored_to, row.whole_from, row.whole_since
            )
            for row in rows
        }

    def put(self, kind: RecordType, position: ArchivePosition) -> None:
        """Store a position."""
        values = {
            "sent_to": position.sent_to,
            "stored_to": position.stored_to,
            "whole_from": position.whole_from,
            "whole_since": position.whole_since,
        }
        change = update(archive_positions).where(_AT.kind == kind.value).values(values)
        if not self._db.execute(change).rowcount:
            self._db.execute(insert(archive_positions).values(kind=kind.value, **values))
        if kind is RecordType.EVENT:
            self._db.execute(update(happening_counter).values(archived=position.stored_to))

    def end(self) -> None:
        """Forget the positions."""
        self._db.execute(delete(archive_positions))
        self._db.execute(update(happening_counter).values(archived=None))

    def events(self, after: int, limit: int) -> Sequence[NumberedEvent]:
        """Return events with higher numbers."""
        kept = (
            select(kept_happenings)
            .where(kept_happenings.c.number > after)
            .order_by(kept_happenings.c.number)
        )
        newest = select(happenings).where(happenings.c.number > after)
        rows = [read_event(row) for row in self._db.execute(kept.limit(limit)).mappings()]
        more = newest.order_by(happenings.c.number).limit(limit - len(rows))
        return [*rows, *(read_event(row) for row in self._db.execute(more).mappings())]

    def entries(self, after: int, limit: int) -> Sequence[tuple[int, AuditEntry]]:
        """Return audit entries with higher numbers."""
        query = select(audit).where(audit.c.id > after).order_by(audit.c.id).limit(limit)
        return [(row.id, read_entry(row)) for row in self._db.execute(query)]

    def numbers(self, kind: RecordType, after: int, limit: int) -> Sequence[int]:
        """Return the numbers alone."""
        columns = [kept_happenings.c.number, happenings.c.number]
        if kind is RecordType.AUDIT:
            columns = [audit.c.id]
        rows: list[int] = []
        for column in columns:
            query = select(column).where(column > after).order_by(column)
            rows += self._db.execute(query.limit(limit - len(rows))).scalars()
        return rows

    def newest_entry(self) -> int:
        """Return the highest number of a visible audit entry."""
        return int(self._db.execute(select(func.coalesce(func.max(audit.c.id), 0))).scalar_one())

    def oldest_entry(self) -> int | None:
        """Return the lowest number of an audit entry."""
        oldest: int | None = self._db.execute(select(func.min(audit.c.id))).scalar_one()
        return oldest

    def entry_writers(self) -> Collection[str]:
        """Return names of transactions that may have taken a number and go on."""
        if self._db.dialect.name != "postgresql":
            return []
        return list(self._db.execute(_WRITERS).scalars())
