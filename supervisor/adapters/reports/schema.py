"""The schema of the database of reports; the migrations in `alembic/reports/versions` build it.

    reports        one row per record that is no log chunk; its body is the record's JSON
    log_chunks     one row per piece of a log: where its bytes are
    log_contents   the bytes themselves, in the log store of kind `sql` alone
    grave_lines    warnings and errors of logs, for the search
    letter_marks   what people did with dead letters; the letters are kept elsewhere

On PostgreSQL the tables lie in the schema `reports`, which each connection has as its search path.
Each index costs the rate of inserts, so there is none that no list or deletion needs.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    text,
)

from supervisor.database.column_types import NAME, UtcTime

__all__ = ["GRAVE_LINES", "LETTER_MARKS", "LOG_CHUNKS", "LOG_CONTENTS", "NUMBERED", "REPORTS"]
__all__ += ["REPORT_TABLES", "UNUSUAL"]

NUMBERED = "type IN ('event', 'audit')"
"""Records that are read by their number; a query that says so is answered from an index."""
UNUSUAL = "status <> 'SUCCESS'"
"""Records that say how an attempt ended, but well; the same holds for a query."""

REPORT_TABLES = MetaData()
"""The SQLAlchemy metadata of this database."""

REPORTS = Table(
    "reports",
    REPORT_TABLES,
    Column("record_id", NAME, primary_key=True),
    Column("type", String, nullable=False),
    Column("subject", NAME, nullable=False),
    Column("attempt", BigInteger, nullable=False),
    Column("origin", String, nullable=False),
    Column("worker", NAME),
    Column("supervisor", NAME),
    Column("data_source", NAME),
    Column("status", String),
    Column("at", UtcTime, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("final", Boolean, nullable=False),
    Column("digest", LargeBinary, nullable=False, comment="of the body: 16 bytes"),
    Column(
        "stored_at", UtcTime, comment="null: by a release that did not keep it; so the next two"
    ),
    Column("size", BigInteger, comment="of the body, in bytes"),
    Column("error", Text, comment="the first line of what went wrong"),
    Column("body", Text, nullable=False, comment="the record's JSON"),
    Index("ix_reports_newest", "at", "record_id"),
    Index("ix_reports_supervisor", "supervisor", "at", "record_id"),
    Index("ix_reports_data_source", "data_source", "at", "record_id"),
    Index("ix_reports_worker", "worker", "at", "record_id"),
    Index("ix_reports_subject", "subject", "at", "record_id"),
    Index("ix_reports_type", "type", "at", "record_id"),
    Index(
        "ix_reports_numbered",
        "subject",
        "type",
        "seq",
        sqlite_where=text(NUMBERED),
        postgresql_where=text(NUMBERED),
    ),
    Index(
        "ix_reports_numbered_supervisor",
        "supervisor",
        "type",
        "seq",
        sqlite_where=text(NUMBERED),
        postgresql_where=text(NUMBERED),
    ),
    Index(
        "ix_reports_unusual",
        "status",
        "at",
        "record_id",
        sqlite_where=text(UNUSUAL),
        postgresql_where=text(UNUSUAL),
    ),
)

LOG_CHUNKS = Table(
    "log_chunks",
    REPORT_TABLES,
    Column("record_id", NAME, primary_key=True),
    Column("subject", NAME, nullable=False),
    Column("attempt", BigInteger, nullable=False),
    Column("offset", BigInteger, nullable=False, comment="of its first byte, in the log"),
    Column("size", BigInteger, nullable=False, comment="bytes of log"),
    Column("ends", Boolean, nullable=False, comment="nothing of the log follows"),
    Column("at", UtcTime, nullable=False),
    Column("supervisor", NAME),
    Column("data_source", NAME),
    Column("worker", NAME),
    Column("digest", LargeBinary, nullable=False, comment="of the content: 16 bytes"),
    Column("segment", NAME, comment="file name; null: the content is in log_contents"),
    Column("place", BigInteger, comment="of its first byte, in the segment"),
    Column("stored_bytes", BigInteger, nullable=False, comment="compressed"),
    Index("ix_log_chunks_subject", "subject", "attempt", "offset"),
    Index("ix_log_chunks_supervisor", "supervisor"),
    Index("ix_log_chunks_segment", "segment"),
    Index("ix_log_chunks_at", "at"),
)

LOG_CONTENTS = Table(
    "log_contents",
    REPORT_TABLES,
    Column("record_id", NAME, primary_key=True),
    Column("content", LargeBinary, nullable=False, comment="compressed"),
)

GRAVE_LINES = Table(
    "grave_lines",
    REPORT_TABLES,
    Column("subject", NAME, primary_key=True),
    Column("attempt", BigInteger, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, primary_key=True, autoincrement=False),
    Column("at", UtcTime, nullable=False),
    Column("level", SmallInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("supervisor", NAME),
    Column("data_source", NAME),
    Column("worker", NAME),
    Index("ix_grave_lines_newest", "at", "subject", "attempt", "offset"),
    Index("ix_grave_lines_supervisor", "supervisor", "at", "subject", "attempt", "offset"),
    Index("ix_grave_lines_data_source", "data_source", "at", "subject", "attempt", "offset"),
    Index("ix_grave_lines_worker", "worker", "at", "subject", "attempt", "offset"),
    Index("ix_grave_lines_subject", "subject", "at", "attempt", "offset"),
)

LETTER_MARKS = Table(
    "letter_marks",
    REPORT_TABLES,
    Column("source", NAME, primary_key=True),
    Column("partition", BigInteger, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, comment="of the letter: 16 bytes"),
    Column("verb", String, nullable=False),
    Column("outcome", String, comment="of a replay"),
    Column("detail", Text, nullable=False, comment="why a replay was refused"),
    Column("by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
)
