"""The schema of the metadata database on one page; the migrations in `alembic/versions` build it.

    supervisor_specs    spec versions, append-only
    committed_offsets   next offset not yet published        offset_gaps      declared gaps
    generations ─┬─ generation_partitions                    plans, audit     reasons, and actors
                 ├─ tasks                                    workers
                 └─ publications ── segments ── segment_spans      retention_rules, exports
                      │                └ column_sets        compactions, compaction_rules
                      └ dropped_files, folded_rejects       what old history became
    event_queues ── event_positions, events, events_failed         deferred work
    happenings ── happening_counter, kept_happenings   operations, supervisor_states, lag_samples
    request_keys, principals, denied_tries    idempotency keys; who may do what, and who was refused
    leader_term, leader_renewal   one row each: the leader's term, and its heartbeat (P1)

A value that is searched or guarded has a column.  A long list that is only shown is JSON.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    select,
    text,
    union_all,
)

import supervisor.metadata.schema.access
import supervisor.metadata.schema.compaction
import supervisor.metadata.schema.expiry
import supervisor.metadata.schema.history
import supervisor.metadata.schema.idempotency
import supervisor.metadata.schema.queue_events  # noqa: F401 -- they add their tables
from supervisor.core.model.rows import GapKind
from supervisor.core.values.export_formats import ExportFormat
from supervisor.database.column_types import NAME, UtcTime
from supervisor.metadata.schema.column_types import (
    BIG_ID,
    DOCUMENT,
    METADATA,
    AnyOf,
    FreeText,
    MaskedText,
    OffsetsJson,
    OneOf,
)

__all__ = ["METADATA"]

_ACTIVE = text("status = 'RUNNING'")
_LIVE = text("ended_at IS NULL")
_OPEN = text("open")
_DIVERGED = text("diverged IS NOT NULL")
_REJECTED = text("rejected > 0")
_DELETED = text("deleted_at IS NOT NULL")
_COMPACTED = text("compaction_id IS NOT NULL")
_AWAKE = text("awake IS NOT NULL")
_AT_REST = text("rests_since IS NOT NULL")

supervisor_specs = Table(
    "supervisor_specs",
    METADATA,
    Column("supervisor_id", NAME, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("created_at", UtcTime, nullable=False),
    Column("author", FreeText, nullable=False),
    Column("spec", DOCUMENT, comment="null: that of `same_as`; with neither: a tombstone"),
    Column("release", String, comment="of Tidegate, that wrote it; null: one before 0.2.0"),
    Column("same_as", Integer, comment="the version whose document it has; null: its own"),
    Column("suspended", Boolean, comment="in place of the document's; null: as it says"),
    Column("submitted", Boolean, comment="true: as a task"),
    Column("awake", Boolean, comment="true: the newest version, and passes look at it"),
    Column("rests_since", UtcTime, comment="of a newest version that has read all it names"),
    Column("reason", MaskedText, comment="of the author; null: none was given"),
    Index(
        "ix_supervisor_specs_awake",
        "supervisor_id",
        sqlite_where=_AWAKE,
        postgresql_where=_AWAKE,
    ),
    Index(
        "ix_supervisor_specs_at_rest",
        "rests_since",
        sqlite_where=_AT_REST,
        postgresql_where=_AT_REST,
    ),
)

_HEAD = select(
    supervisor_specs.c.supervisor_id,
    supervisor_specs.c.version,
    supervisor_specs.c.created_at,
    supervisor_specs.c.author,
    supervisor_specs.c.rests_since,
)
PRESENT = union_all(
    _HEAD.where(supervisor_specs.c.awake.is_not(None)),
    _HEAD.where(supervisor_specs.c.rests_since.is_not(None)),
).subquery("present")
"""The newest versions of supervisors that are not terminated.

Each part has an index; with both conditions in one, SQLite would read all versions.
"""

committed_offsets = Table(
    "committed_offsets",
    METADATA,
    Column("supervisor_id", NAME, primary_key=True),
    Column("topic", NAME, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("next_offset", BigInteger, nullable=False),
    Column("first_offset", BigInteger, nullable=False),
    Column("topic_id", String, nullable=False),
    Column("reset_epoch", Integer, nullable=False),
)

offset_gaps = Table(
    "offset_gaps",
    METADATA,
    Column("id", BIG_ID, primary_key=True, autoincrement=True),
    Column("supervisor_id", NAME, nullable=False, index=True),
    Column("topic", NAME, nullable=False),
    Column("partition", Integer, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("kind", OneOf(GapKind), nullable=False),
    Column("author", FreeText, nullable=False),
    Column("why", MaskedText, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("last_ordinal", BigInteger, comment="of the newest generation then; null: not known"),
)

generations = Table(
    "generations",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("supervisor_id", NAME, nullable=False),
    Column("data_source", NAME, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("layout_version", Integer, nullable=False),
    Column("task_count", Integer, nullable=False),
    Column("partition_count", Integer, nullable=False),
    Column("group_number", Integer, nullable=False),
    Column("spec_version", Integer, nullable=False),
    Column("state", AnyOf, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("timer_started_at", UtcTime, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("asked", MaskedText, comment="why its handoff is wanted now; null: it is not"),
    Column("handoff_why", MaskedText, nullable=False),
    Column("must_end", Boolean, nullable=False),
    Column("paused_at", UtcTime),
    Column("end_fixed_at", UtcTime),
    Column("ended_at", UtcTime, comment="null: live"),
    Column("first_finished_at", UtcTime, comment="when a replica first asked to publish"),
    Index("ix_generations_supervisor_id_ordinal", "supervisor_id", "ordinal"),
    Index(
        "ix_generations_live",
        "supervisor_id",
        "ordinal",
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    ),
)

generation_partitions = Table(
    "generation_partitions",
    METADATA,
    Column("generation_id", NAME, ForeignKey(generations.c.id), primary_key=True),
    Column("topic", NAME, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("supervisor_id", NAME, nullable=False, comment="for the rule below"),
    Column("start_offset", BigInteger, nullable=False),
    Column("end_offset", BigInteger),
    Column("open", Boolean, nullable=False, comment="the end is not fixed yet"),
    Column("reset_epoch", Integer, comment="of the committed offset at opening; null: 0"),
    CheckConstraint("end_offset IS NULL OR end_offset >= start_offset", name="range"),
    Index(
        "uq_generation_partitions_open",
        "supervisor_id",
        "topic",
        "partition",
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    ),
)
"""At most one open generation holds a partition of a supervisor (P3)."""

tasks = Table(
    "tasks",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("supervisor_id", NAME, nullable=False),
    Column("data_source", NAME, nullable=False),
    Column("generation_id", NAME, ForeignKey(generations.c.id), nullable=False, index=True),
    Column("replica", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker_id", NAME, nullable=False),
    Column("incarnation", BigInteger, nullable=False),
    Column("token", String, nullable=False),
    Column("status", AnyOf, nullable=False),
    Column("created_at", UtcTime, nullable=False, index=True),
    Column("reason", MaskedText, nullable=False),
    Column("ended_at", UtcTime, comment="null: active"),
    Column("taken_up", Boolean, nullable=False),
    Column("outcome", AnyOf),
    Column("published", Boolean, nullable=False),
    Column("folder_deleted_at", UtcTime),
    Column("lost", Boolean, comment="ended through no fault of its own; null: no"),
    Column("counters", DOCUMENT, comment="when it ended; null: it did not tell"),
    Column("position", OffsetsJson, comment="when it ended; null: it did not tell"),
    Index("ix_tasks_live", "supervisor_id", sqlite_where=_LIVE, postgresql_where=_LIVE),
    Index("ix_tasks_of_worker", "worker_id", sqlite_where=_LIVE, postgresql_where=_LIVE),
    Index("ix_tasks_supervisor_id_ended_at", "supervisor_id", "status", "ended_at"),
    Index("ix_tasks_supervisor_id_created_at", "supervisor_id", "created_at"),
    Index("ix_tasks_status_created_at", "status", "created_at"),
    Index(
        "ix_tasks_unsettled",
        "ended_at",
        sqlite_where=text("folder_deleted_at IS NULL"),
        postgresql_where=text("folder_deleted_at IS NULL"),
    ),
    Index(
        "uq_tasks_active",
        "generation_id",
        "replica",
        unique=True,
        sqlite_where=_ACTIVE,
        postgresql_where=_ACTIVE,
    ),
)
"""At most one active task per (generation, replica) (P3)."""

workers = Table(
    "workers",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("incarnation", BigInteger, nullable=False),
    Column("url", String, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("registered_at", UtcTime, nullable=False),
    Column("disabled", Boolean, comment="it is given nothing new; null: no"),
)

publications = Table(
    "publications",
    METADATA,
    Column("generation_id", NAME, ForeignKey(generations.c.id), primary_key=True),
    Column("supervisor_id", NAME, nullable=False, index=True),
    Column("data_source", NAME, nullable=False, index=True),
    Column("task_id", NAME, ForeignKey(tasks.c.id), nullable=False, index=True),
    Column("published_at", UtcTime, nullable=False),
    Column("start_offsets", OffsetsJson, nullable=False),
    Column("end_offsets", OffsetsJson, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("rejected", BigInteger, nullable=False),
    Column("rejects", DOCUMENT),
    Column("samples", DOCUMENT, nullable=False),
    Column("forgotten_at", UtcTime, comment="its supervisor was forgotten since"),
    Column("digest", String, comment="what its records came to; null: not known"),
    Column("diverged", DOCUMENT, comment="replicas that came to something else; null: none"),
    Column("ranges", Integer, comment="that it is of, since old ones were folded; null: one"),
    Index("ix_publications_recent", "supervisor_id", "published_at"),
    Index(
        "ix_publications_rejected",
        "supervisor_id",
        sqlite_where=_REJECTED,
        postgresql_where=_REJECTED,
    ),
    Index(
        "ix_publications_diverged",
        "supervisor_id",
        sqlite_where=_DIVERGED,
        postgresql_where=_DIVERGED,
    ),
)

column_sets = Table(
    "column_sets",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("columns", DOCUMENT, nullable=False),
)

segments = Table(
    "segments",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("data_source", NAME, nullable=False),
    Column("supervisor_id", NAME, nullable=False, index=True),
    Column(
        "generation_id",
        NAME,
        ForeignKey(publications.c.generation_id),
        nullable=False,
        index=True,
    ),
    Column("task_id", NAME, ForeignKey(tasks.c.id), nullable=False, index=True),
    Column("published_at", UtcTime, nullable=False),
    Column("path", NAME, nullable=False, unique=True),
    Column("interval_start", UtcTime, nullable=False),
    Column("interval_end", UtcTime, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("sha256", String, nullable=False),
    Column("time_min", UtcTime, nullable=False),
    Column("time_max", UtcTime, nullable=False),
    Column("column_set", NAME, comment="null: from before columns were recorded"),
    Column("unused_at", UtcTime, comment="null: part of its table"),
    Column("deleted_at", UtcTime, comment="its file is gone, or about to go"),
    Column("compaction_id", NAME, comment="it was compacted, from files of these ranges"),
    Column("replaced_by", NAME, comment="the compaction that took it out, for good"),
    Index("ix_segments_data_source_interval", "data_source", "interval_start"),
    Index(
        "ix_segments_deleted",
        "supervisor_id",
        "deleted_at",
        sqlite_where=_DELETED,
        postgresql_where=_DELETED,
    ),
    Index(
        "ix_segments_compaction_id",
        "compaction_id",
        sqlite_where=_COMPACTED,
        postgresql_where=_COMPACTED,
    ),
)

segment_spans = Table(
    "segment_spans",
    METADATA,
    Column("segment_id", NAME, ForeignKey(segments.c.id), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("topic", NAME, nullable=False),
    Column("partition", Integer, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
)

retention_rules = Table(
    "retention_rules",
    METADATA,
    Column("data_source", NAME, primary_key=True),
    Column("keep_seconds", BigInteger, nullable=False),
    Column("author", FreeText, nullable=False),
    Column("set_at", UtcTime, nullable=False),
)

exports = Table(
    "exports",
    METADATA,
    Column("data_source", NAME, primary_key=True),
    Column("format", OneOf(ExportFormat), primary_key=True),
    Column("enabled", Boolean, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("version", BigInteger, comment="the format's own; null: there is no table yet"),
    Column("location", FreeText, nullable=False),
    Column("exported_at", UtcTime),
    Column("problem", MaskedText, nullable=False),
    Column("behind_since", UtcTime),
)

installation = Table(
    "installation",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", String, nullable=False),
    CheckConstraint("id = 1", name="one_row"),
)
"""The name of this database; the marker file of the warehouse holds the same name."""

leader_term = Table(
    "leader_term",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("term", BigInteger, nullable=False),
    Column("holder", String, nullable=False, comment="empty: released"),
    Column("url", String, nullable=False),
    CheckConstraint("id = 1", name="one_row"),
)
"""Read with a share lock by every transaction of a leader (P1)."""

leader_renewal = Table(
    "leader_renewal",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("term", BigInteger, nullable=False),
    Column("holder", String, nullable=False),
    Column("renewals", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="one_row"),
)
"""Counted up by the leader; a table of its own, so that a renewal never waits for a share lock."""
