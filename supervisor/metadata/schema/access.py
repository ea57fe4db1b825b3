"""The tables of access control: principals, sessions of browsers, and denied tries."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table

from supervisor.core.values.permissions import Kind
from supervisor.database.column_types import NAME, UtcTime
from supervisor.metadata.schema.column_types import BIG_ID, DOCUMENT, METADATA, FreeText, OneOf

principals = Table(
    "principals",
    METADATA,
    Column("name", NAME, primary_key=True),
    Column("kind", OneOf(Kind), nullable=False),
    Column("secret", FreeText, nullable=False, comment="argon2id, or sha256 of a token"),
    Column("grants", DOCUMENT, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, comment="null: never"),
    Column("revoked_at", UtcTime, comment="null: it may be used"),
    Column("version", Integer, nullable=False),
)

sessions = Table(
    "sessions",
    METADATA,
    Column("digest", NAME, primary_key=True, comment="sha256 of the cookie's secret"),
    Column("principal", NAME, nullable=False),
    Column("begun_at", UtcTime, nullable=False),
    Column("used_at", UtcTime, nullable=False),
    Index("ix_sessions_principal_used_at", "principal", "used_at"),
)
"""Bounded: only the newest of each principal are kept, and ended ones are deleted."""

denied_tries = Table(
    "denied_tries",
    METADATA,
    Column("id", BIG_ID, primary_key=True, autoincrement=True),
    Column("first_at", UtcTime, nullable=False),
    Column("last_at", UtcTime, nullable=False),
    Column("times", BigInteger, nullable=False),
    Column("name", FreeText, nullable=False),
    Column("address", FreeText, nullable=False),
    Column("what", FreeText, nullable=False),
    Column("why", FreeText, nullable=False),
)
"""Bounded: only the newest rows are kept."""
