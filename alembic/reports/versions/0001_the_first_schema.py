"""Reports, and where the pieces of logs are."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)
_INDEXES = {
    "reports": {
        "newest": ["at", "record_id"],
        "supervisor": ["supervisor", "at", "record_id"],
        "data_source": ["data_source", "at", "record_id"],
        "worker": ["worker", "at", "record_id"],
        "subject": ["subject", "at", "record_id"],
        "type": ["type", "at", "record_id"],
        "numbered": ["type", "seq"],
        "unusual": ["status", "at", "record_id"],
    },
    "log_chunks": {
        "subject": ["subject", "attempt", "offset"],
        "supervisor": ["supervisor"],
        "segment": ["segment"],
        "at": ["at"],
    },
    "grave_lines": {
        "newest": ["at", "subject", "attempt", "offset"],
        "supervisor": ["supervisor", "at", "subject", "attempt", "offset"],
        "data_source": ["data_source", "at", "subject", "attempt", "offset"],
    },
}
_PARTIAL = {"numbered": "type IN ('event', 'audit')", "unusual": "status <> 'SUCCESS'"}


def upgrade() -> None:
    _create_reports()
    _create_log_chunks()
    op.create_table(
        "log_contents",
        sa.Column("record_id", _NAME, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False, comment="compressed"),
    )
    op.create_table(
        "grave_lines",
        sa.Column("subject", _NAME, primary_key=True),
        sa.Column("attempt", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("offset", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("level", sa.SmallInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("supervisor", _NAME),
        sa.Column("data_source", _NAME),
        sa.Column("worker", _NAME),
    )
    for table, indexes in _INDEXES.items():
        for name, columns in indexes.items():
            where = sa.text(_PARTIAL[name]) if name in _PARTIAL else None
            op.create_index(
                f"ix_{table}_{name}", table, columns, sqlite_where=where, postgresql_where=where
            )


def _create_reports() -> None:
    op.create_table(
        "reports",
        sa.Column("record_id", _NAME, primary_key=True),
        sa.Column("type", sa.String, nullable=False),
        sa.Column("subject", _NAME, nullable=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("origin", sa.String, nullable=False),
        sa.Column("worker", _NAME),
        sa.Column("supervisor", _NAME),
        sa.Column("data_source", _NAME),
        sa.Column("status", sa.String),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("final", sa.Boolean, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="of the body: 16 bytes"),
        sa.Column("body", sa.Text, nullable=False, comment="the record's JSON"),
    )


def _create_log_chunks() -> None:
    op.create_table(
        "log_chunks",
        sa.Column("record_id", _NAME, primary_key=True),
        sa.Column("subject", _NAME, nullable=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("offset", sa.BigInteger, nullable=False, comment="of its first byte, in the log"),
        sa.Column("size", sa.BigInteger, nullable=False, comment="bytes of log"),
        sa.Column("ends", sa.Boolean, nullable=False, comment="nothing of the log follows"),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("supervisor", _NAME),
        sa.Column("data_source", _NAME),
        sa.Column("worker", _NAME),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="of the content: 16 bytes"),
        sa.Column("segment", _NAME, comment="file name; null: the content is in log_contents"),
        sa.Column("place", sa.BigInteger, comment="of its first byte, in the segment"),
        sa.Column("stored_bytes", sa.BigInteger, nullable=False, comment="compressed"),
    )


def downgrade() -> None:
    for table in ("grave_lines", "log_contents", "log_chunks", "reports"):
        op.drop_table(table)
