"""The tables of compaction: one row per compaction, and one rule per compacted table."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, text

from supervisor.database.column_types import NAME, UtcTime
from supervisor.metadata.schema.column_types import (
    BIG_ID,
    DOCUMENT,
    METADATA,
    AnyOf,
    FreeText,
    MaskedText,
)

_LIVE = text("ended_at IS NULL")
_UNSETTLED = text("folder_deleted_at IS NULL")

compactions = Table(
    "compactions",
    METADATA,
    Column("number", BIG_ID, primary_key=True, autoincrement=True),
    Column("id", NAME, nullable=False, unique=True),
    Column("data_source", NAME, nullable=False),
    Column("supervisor_id", NAME, nullable=False),
    Column("interval_start", UtcTime, nullable=False),
    Column("interval_end", UtcTime, nullable=False),
    Column("inputs", DOCUMENT, nullable=False),
    Column("columns", DOCUMENT, nullable=False),
    Column("shares", DOCUMENT, nullable=False),
    Column("reason", MaskedText, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("status", AnyOf, nullable=False),
    Column("worker_id", NAME, nullable=False, comment="empty: it waits for one"),
    Column("incarnation", BigInteger, nullable=False),
    Column("token", String, nullable=False),
    Column("assigned_at", UtcTime),
    Column("ended_at", UtcTime, comment="null: it waits or runs"),
    Column("detail", MaskedText, nullable=False),
    Column("blamed", Boolean, nullable=False, comment="it failed by itself"),
    Column("folder_deleted_at", UtcTime),
    Index("ix_compactions_live", "number", sqlite_where=_LIVE, postgresql_where=_LIVE),
    Index(
        "ix_compactions_unsettled", "number", sqlite_where=_UNSETTLED, postgresql_where=_UNSETTLED
    ),
    Index("ix_compactions_data_source", "data_source", "number"),
)

compaction_rules = Table(
    "compaction_rules",
    METADATA,
    Column("data_source", NAME, primary_key=True),
    Column("skip_seconds", BigInteger, nullable=False),
    Column("target_rows", BigInteger, nullable=False),
    Column("target_bytes", BigInteger, nullable=False),
    Column("files_min", Integer, nullable=False),
    Column("author", FreeText, nullable=False),
    Column("set_at", UtcTime, nullable=False),
)
