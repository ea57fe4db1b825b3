"""Portable column types of all our databases: a read returns what was written."""

from datetime import UTC, datetime
from typing import Any, TypeAlias

from sqlalchemy import DateTime, Dialect, String, TypeDecorator
from sqlalchemy.types import TypeEngine

__all__ = ["NAME", "UtcTime"]

_Impl: TypeAlias = TypeEngine[Any] | type[TypeEngine[Any]]


class UtcTime(TypeDecorator[datetime]):
    """An aware time, stored and returned in UTC; SQLite would drop the zone."""

    impl: _Impl = DateTime(timezone=True)
    cache_ok: bool | None = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Convert to UTC; a time without a zone is a bug."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Give SQLite's naive times their zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


NAME = String().with_variant(String(collation="C"), "postgresql")
"""An id or a name: sorted by code point on every database, as Python sorts."""
