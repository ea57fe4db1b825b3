"""The first schema: specs, offsets, generations, tasks, publications, plans, the lease."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True)


def upgrade() -> None:
    _supervisor_specs()
    _committed_offsets()
    _offset_gaps()
    _generations()
    _generation_partitions()
    _tasks()
    _workers()
    _publications()
    _segments()
    _segment_spans()
    _plans()
    _audit()
    _leader_term()
    _leader_renewal()


def downgrade() -> None:
    for table in (
        "leader_renewal",
        "leader_term",
        "audit",
        "plans",
        "segment_spans",
        "segments",
        "publications",
        "workers",
        "tasks",
        "generation_partitions",
        "generations",
        "offset_gaps",
        "committed_offsets",
        "supervisor_specs",
    ):
        op.drop_table(table)  # its indexes go with it


def _index(
    name: str, table: str, columns: list[str], condition: str, *, unique: bool = False
) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, unique=unique, sqlite_where=where, postgresql_where=where)


def _supervisor_specs() -> None:
    op.create_table(
        "supervisor_specs",
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("spec", DOCUMENT, comment="null: a tombstone"),
        sa.PrimaryKeyConstraint("supervisor_id", "version", name="pk_supervisor_specs"),
    )


def _committed_offsets() -> None:
    op.create_table(
        "committed_offsets",
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("topic", NAME, nullable=False),
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.Column("first_offset", sa.BigInteger(), nullable=False),
        sa.Column("topic_id", sa.String(), nullable=False),
        sa.Column("reset_epoch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("supervisor_id", "topic", "partition", name="pk_committed_offsets"),
    )


def _offset_gaps() -> None:
    op.create_table(
        "offset_gaps",
        sa.Column("id", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("topic", NAME, nullable=False),
        sa.Column("partition", sa.Integer(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_offset_gaps"),
    )
    op.create_index("ix_offset_gaps_supervisor_id", "offset_gaps", ["supervisor_id"])


def _generations() -> None:
    op.create_table(
        "generations",
        sa.Column("id", NAME, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("layout_version", sa.Integer(), nullable=False),
        sa.Column("task_count", sa.Integer(), nullable=False),
        sa.Column("partition_count", sa.Integer(), nullable=False),
        sa.Column("group_number", sa.Integer(), nullable=False),
        sa.Column("spec_version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("opened_at", TIME, nullable=False),
        sa.Column("timer_started_at", TIME, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("handoff_why", sa.String(), nullable=False),
        sa.Column("must_end", sa.Boolean(), nullable=False),
        sa.Column("paused_at", TIME),
        sa.Column("end_fixed_at", TIME),
        sa.Column("ended_at", TIME, comment="null: live"),
        sa.PrimaryKeyConstraint("id", name="pk_generations"),
    )
    _index(
        "ix_generations_live",
        "generations",
        ["supervisor_id", "ordinal"],
        "ended_at IS NULL",
    )
    op.create_index(
        "ix_generations_supervisor_id_ordinal", "generations", ["supervisor_id", "ordinal"]
    )


def _generation_partitions() -> None:
    op.create_table(
        "generation_partitions",
        sa.Column("generation_id", NAME, nullable=False),
        sa.Column("topic", NAME, nullable=False),
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False, comment="for the rule below"),
        sa.Column("start_offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger()),
        sa.Column("open", sa.Boolean(), nullable=False, comment="the end is not fixed yet"),
        sa.CheckConstraint(
            "end_offset IS NULL OR end_offset >= start_offset",
            name=op.f("ck_generation_partitions_range"),
        ),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name="fk_generation_partitions_generation_id"
        ),
        sa.PrimaryKeyConstraint(
            "generation_id", "topic", "partition", name="pk_generation_partitions"
        ),
    )
    _index(
        "uq_generation_partitions_open",
        "generation_partitions",
        ["supervisor_id", "topic", "partition"],
        "open",
        unique=True,
    )


def _tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", NAME, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("generation_id", NAME, nullable=False),
        sa.Column("replica", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker_id", NAME, nullable=False),
        sa.Column("incarnation", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("ended_at", TIME, comment="null: active"),
        sa.Column("taken_up", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.String()),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("folder_deleted_at", TIME),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name="fk_tasks_generation_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
    )
    op.create_index("ix_tasks_created_at", "tasks", ["created_at"])
    op.create_index("ix_tasks_generation_id", "tasks", ["generation_id"])
    _index("ix_tasks_live", "tasks", ["supervisor_id"], "ended_at IS NULL")
    op.create_index(
        "ix_tasks_supervisor_id_ended_at", "tasks", ["supervisor_id", "status", "ended_at"]
    )
    _index(
        "ix_tasks_unsettled",
        "tasks",
        ["ended_at"],
        "folder_deleted_at IS NULL",
    )
    _index(
        "uq_tasks_active", "tasks", ["generation_id", "replica"], "status = 'RUNNING'", unique=True
    )


def _workers() -> None:
    op.create_table(
        "workers",
        sa.Column("id", NAME, nullable=False),
        sa.Column("incarnation", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("registered_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )


def _publications() -> None:
    op.create_table(
        "publications",
        sa.Column("generation_id", NAME, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("task_id", NAME, nullable=False),
        sa.Column("published_at", TIME, nullable=False),
        sa.Column("start_offsets", DOCUMENT, nullable=False),
        sa.Column("end_offsets", DOCUMENT, nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("rejected", sa.BigInteger(), nullable=False),
        sa.Column("rejects", DOCUMENT),
        sa.Column("samples", DOCUMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name="fk_publications_generation_id"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_publications_task_id"),
        sa.PrimaryKeyConstraint("generation_id", name="pk_publications"),
    )
    op.create_index("ix_publications_data_source", "publications", ["data_source"])
    op.create_index("ix_publications_supervisor_id", "publications", ["supervisor_id"])


def _segments() -> None:
    op.create_table(
        "segments",
        sa.Column("id", NAME, nullable=False),
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("generation_id", NAME, nullable=False),
        sa.Column("task_id", NAME, nullable=False),
        sa.Column("published_at", TIME, nullable=False),
        sa.Column("path", NAME, nullable=False),
        sa.Column("interval_start", TIME, nullable=False),
        sa.Column("interval_end", TIME, nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("time_min", TIME, nullable=False),
        sa.Column("time_max", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["publications.generation_id"], name="fk_segments_generation_id"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_segments_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_segments"),
        sa.UniqueConstraint("path", name="uq_segments_path"),
    )
    op.create_index(
        "ix_segments_data_source_interval", "segments", ["data_source", "interval_start"]
    )
    op.create_index("ix_segments_generation_id", "segments", ["generation_id"])
    op.create_index("ix_segments_supervisor_id", "segments", ["supervisor_id"])


def _segment_spans() -> None:
    op.create_table(
        "segment_spans",
        sa.Column("segment_id", NAME, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("topic", NAME, nullable=False),
        sa.Column("partition", sa.Integer(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["segment_id"], ["segments.id"], name="fk_segment_spans_segment_id"
        ),
        sa.PrimaryKeyConstraint("segment_id", "position", name="pk_segment_spans"),
    )


def _plans() -> None:
    op.create_table(
        "plans",
        sa.Column("id", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("actions", DOCUMENT, nullable=False),
        sa.Column("error", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_plans"),
    )
    op.create_index("ix_plans_supervisor_id_id", "plans", ["supervisor_id", "id"])


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )


def _leader_term() -> None:
    op.create_table(
        "leader_term",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False, comment="empty: released"),
        sa.Column("url", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_leader_term_one_row")),
        sa.PrimaryKeyConstraint("id", name="pk_leader_term"),
    )


def _leader_renewal() -> None:
    op.create_table(
        "leader_renewal",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("renewals", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_leader_renewal_one_row")),
        sa.PrimaryKeyConstraint("id", name="pk_leader_renewal"),
    )
