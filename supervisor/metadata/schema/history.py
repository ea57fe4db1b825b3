"""The tables of history: events, operations, states, lag samples, plans, and the audit log."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Integer, String, Table

from supervisor.core.history.lifecycle_events import EventKind
from supervisor.database.column_types import NAME, UtcTime
from supervisor.metadata.schema.column_types import (
    BIG_ID,
    DOCUMENT,
    METADATA,
    FreeText,
    MaskedDocument,
    MaskedText,
    OneOf,
)

happenings = Table(
    "happenings",
    METADATA,
    Column("number", BIG_ID, primary_key=True, autoincrement=False),
    Column("at", UtcTime, nullable=False),
    Column("kind", OneOf(EventKind, otherwise=EventKind.UNKNOWN), nullable=False),
    Column("supervisor_id", NAME, nullable=False),
    Column("group_number", Integer),
    Column("generation_id", NAME),
    Column("task_id", NAME),
    Column("detail", MaskedDocument(), nullable=False),
    Index("ix_happenings_supervisor_id_number", "supervisor_id", "number"),
)

kept_happenings = Table(
    "kept_happenings",
    METADATA,
    Column("number", BIG_ID, primary_key=True, autoincrement=False),
    Column("at", UtcTime, nullable=False),
    Column("kind", OneOf(EventKind, otherwise=EventKind.UNKNOWN), nullable=False),
    Column("supervisor_id", NAME, nullable=False),
    Column("group_number", Integer),
    Column("generation_id", NAME),
    Column("task_id", NAME),
    Column("detail", MaskedDocument(), nullable=False),
    Index("ix_kept_happenings_supervisor_id_number", "supervisor_id", "number"),
)
"""Trimmed events of the kinds that are kept longer.

A table of its own: `happenings` has no hole for a reader, and an earlier release trims it as ever.
"""

happening_counter = Table(
    "happening_counter",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("newest", BigInteger, nullable=False),
    Column("trimmed", BigInteger, nullable=False),
    Column(
        "archived",
        BigInteger,
        comment="up to this number events may be trimmed; null: there is no archive",
    ),
    CheckConstraint("id = 1", name="one_row"),
)
"""The counter of lifecycle events.

Its lock is held from the numbering to the commit.  So numbers follow the order of the commits,
without a gap.
"""

archive_positions = Table(
    "archive_positions",
    METADATA,
    Column("kind", String, primary_key=True, comment="event or audit"),
    Column("sent_to", BigInteger, nullable=False, comment="number of the last one sent"),
    Column(
        "stored_to",
        BigInteger,
        nullable=False,
        comment="the report store has all up to this number",
    ),
    Column(
        "whole_from",
        BigInteger,
        nullable=False,
        comment="from this number on nothing is missing in the archive",
    ),
    Column("whole_since", UtcTime, comment="the time of that event; null: it is the first"),
)
"""How far the archive is in the report store; without rows there is none."""

operations = Table(
    "operations",
    METADATA,
    Column("number", BIG_ID, primary_key=True, autoincrement=True),
    Column("supervisor_id", NAME, nullable=False),
    Column("kind", FreeText, nullable=False),
    Column("asked_by", FreeText, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("spec_version", Integer, comment="that it stored; null: it stored none"),
    Column("ranges", DOCUMENT, nullable=False, comment="generations that it is about"),
    Column("disturbs", Boolean, nullable=False, comment="ranges of older versions have to end"),
    Column("last_ordinal", BigInteger, comment="of the newest generation then; null: not known"),
    Column("reason", MaskedText, comment="of the person who asked; null: none was given"),
    Column("replay", DOCUMENT, comment="what is sent where; null: it is no replay"),
    Column("outcome", MaskedDocument, comment="of a replay; null: it is not over"),
    Column("finished_at", UtcTime, comment="when the outcome was stored"),
    Index("ix_operations_supervisor_id_number", "supervisor_id", "number"),
)

supervisor_states = Table(
    "supervisor_states",
    METADATA,
    Column("supervisor_id", NAME, primary_key=True),
    Column("state", FreeText, nullable=False),
    Column("detailed", FreeText, nullable=False),
    Column("why", MaskedText, nullable=False),
    Column("since", UtcTime, nullable=False),
)
"""The state that the leader's last pass saw; written only when the state changes."""

lag_samples = Table(
    "lag_samples",
    METADATA,
    Column("supervisor_id", NAME, primary_key=True),
    Column("at", UtcTime, primary_key=True),
    Column("records", BigInteger, comment="null: not known then"),
    Column("millis", BigInteger, comment="null: not known then"),
    Index("ix_lag_samples_at", "at"),
)

plans = Table(
    "plans",
    METADATA,
    Column("id", BIG_ID, primary_key=True, autoincrement=True),
    Column("supervisor_id", NAME, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("term", BigInteger, nullable=False),
    Column("actions", MaskedDocument(), nullable=False),
    Column("error", MaskedText, nullable=False),
    Index("ix_plans_supervisor_id_id", "supervisor_id", "id"),
)

audit = Table(
    "audit",
    METADATA,
    Column("id", BIG_ID, primary_key=True, autoincrement=True),
    Column("at", UtcTime, nullable=False),
    Column("actor", FreeText, nullable=False),
    Column("action", FreeText, nullable=False),
    Column("subject", FreeText, nullable=False),
    Column("detail", DOCUMENT, nullable=False),
    Column("supervisor_id", FreeText, comment="of its detail; null: none, or the subject is one"),
    Column("reason", MaskedText, comment="of the person who acted; null: none was given"),
    Index("ix_audit_subject_id", "subject", "id"),
    Index("ix_audit_supervisor_id_id", "supervisor_id", "id"),
)
