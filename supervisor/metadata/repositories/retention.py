"""The repository of retention rules: how long the rows of each table are kept."""

from datetime import timedelta

from sqlalchemy import Connection, RowMapping, delete, select, update

from supervisor.core.model.rows import RetentionRule
from supervisor.metadata.schema.rows import insert_unless_taken
from supervisor.metadata.schema.tables import retention_rules

_AT = retention_rules.c


class SqlRetention:
    """See `ports.tables.segments.Retention`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def put(self, rule: RetentionRule) -> None:
        """Set the rule of a table; it replaces the rule before.  Stored in whole seconds."""
        row = {
            "data_source": rule.data_source,
            "keep_seconds": rule.keep_for // timedelta(seconds=1),
            "author": rule.author,
            "set_at": rule.set_at,
        }
        if not insert_unless_taken(self._db, (retention_rules, [row])):
            mine = _AT.data_source == rule.data_source
            self._db.execute(update(retention_rules).where(mine).values(**row))

    def drop(self, data_source: str) -> bool:
        """Delete the rule, so that rows are kept for ever; False: there was no rule."""
        dropped = self._db.execute(
            delete(retention_rules).where(_AT.data_source == data_source).returning(_AT.data_source)
        ).one_or_none()
        return dropped is not None

    def of(self, data_source: str) -> RetentionRule | None:
        """Return the rule of a table."""
        rows = self._db.execute(select(retention_rules).where(_AT.data_source == data_source))
        return next((_read(row) for row in rows.mappings()), None)

    def all(self) -> list[RetentionRule]:
        """Return every rule, by table."""
        rows = self._db.execute(select(retention_rules).order_by(_AT.data_source))
        return [_read(row) for row in rows.mappings()]


def _read(row: RowMapping) -> RetentionRule:
    return RetentionRule(
        data_source=row["data_source"],
        keep_for=timedelta(seconds=row["keep_seconds"]),
        author=row["author"],
        set_at=row["set_at"],
    )
