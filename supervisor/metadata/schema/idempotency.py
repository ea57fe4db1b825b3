"""The table of idempotency keys."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, String, Table

from supervisor.database.column_types import NAME, UtcTime
from supervisor.metadata.schema.column_types import BIG_ID, DOCUMENT, METADATA

request_keys = Table(
    "request_keys",
    METADATA,
    Column("number", BIG_ID, primary_key=True, autoincrement=True),
    Column("caller", String, nullable=False),
    Column("key", NAME, nullable=False),
    Column("digest", String, nullable=False),
    Column("claim", String, nullable=False, unique=True),
    Column("term", BigInteger, nullable=False),
    Column("claimed_at", UtcTime, nullable=False, index=True),
    Column("acted", Boolean, nullable=False),
    Column("status", Integer, comment="null: not answered yet"),
    Column("headers", DOCUMENT),
    Column("body", LargeBinary),
    Index("uq_request_keys_caller_key", "caller", "key", unique=True),
)
