"""What old history becomes: folded publications, their rejects files, and what files held."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

LOST = (
    "what the deleted files and the rejects files of folded ranges held, so that a verification "
    "misses their records; and indexes, without which the overlord is slower"
)
"""What `tidegate metadata downgrade` says before it takes this step back."""

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_REJECTED = sa.text("rejected > 0")
_DELETED = sa.text("deleted_at IS NOT NULL")
_COMPACTED = sa.text("compaction_id IS NOT NULL")


def upgrade() -> None:
    _make_tables()
    _index_files()
    _index_audit()


def _make_tables() -> None:
    op.create_table(
        "dropped_files",
        sa.Column("generation_id", _NAME, nullable=False),
        sa.Column("data_source", _NAME, nullable=False, comment="the table, or its errors table"),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("spans", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"],
            ["publications.generation_id"],
            name="fk_dropped_files_generation_id",
        ),
        sa.PrimaryKeyConstraint("generation_id", "data_source", name="pk_dropped_files"),
    )
    op.create_table(
        "folded_rejects",
        sa.Column("path", _NAME, nullable=False),
        sa.Column("generation_id", _NAME, nullable=False),
        sa.Column("file", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"],
            ["publications.generation_id"],
            name="fk_folded_rejects_generation_id",
        ),
        sa.PrimaryKeyConstraint("path", name="pk_folded_rejects"),
    )
    op.create_index("ix_folded_rejects_generation_id", "folded_rejects", ["generation_id"])


def _index_files() -> None:
    op.add_column(
        "publications",
        sa.Column(
            "ranges", sa.Integer(), comment="that it is of, since old ones were folded; null: one"
        ),
    )
    op.create_index("ix_tasks_status_created_at", "tasks", ["status", "created_at"])
    op.create_index("ix_publications_recent", "publications", ["supervisor_id", "published_at"])
    op.create_index(
        "ix_publications_rejected",
        "publications",
        ["supervisor_id"],
        sqlite_where=_REJECTED,
        postgresql_where=_REJECTED,
    )
    op.create_index("ix_publications_task_id", "publications", ["task_id"])
    op.create_index("ix_segments_task_id", "segments", ["task_id"])
    op.create_index(
        "ix_segments_deleted",
        "segments",
        ["supervisor_id", "deleted_at"],
        sqlite_where=_DELETED,
        postgresql_where=_DELETED,
    )
    op.create_index(
        "ix_segments_compaction_id",
        "segments",
        ["compaction_id"],
        sqlite_where=_COMPACTED,
        postgresql_where=_COMPACTED,
    )


def _index_audit() -> None:
    op.add_column(
        "audit",
        sa.Column(
            "supervisor_id",
            sa.String(),
            comment="of its detail; null: none, or the subject is one",
        ),
    )
    _name_supervisors()
    op.create_index("ix_audit_subject_id", "audit", ["subject", "id"])
    op.create_index("ix_audit_supervisor_id_id", "audit", ["supervisor_id", "id"])


def _name_supervisors() -> None:
    """Write the supervisor of each audit entry's detail into its new column."""
    audit = sa.table(
        "audit", sa.column("detail", sa.JSON()), sa.column("supervisor_id", sa.String())
    )
    of_detail = audit.c.detail["supervisor"].as_string()
    op.execute(sa.update(audit).where(of_detail.is_not(None)).values(supervisor_id=of_detail))


def downgrade() -> None:
    op.drop_index("ix_audit_supervisor_id_id", table_name="audit")
    op.drop_index("ix_audit_subject_id", table_name="audit")
    op.drop_column("audit", "supervisor_id")
    op.drop_index("ix_segments_compaction_id", table_name="segments")
    op.drop_index("ix_segments_deleted", table_name="segments")
    op.drop_index("ix_segments_task_id", table_name="segments")
    op.drop_index("ix_publications_task_id", table_name="publications")
    op.drop_index("ix_publications_rejected", table_name="publications")
    op.drop_index("ix_publications_recent", table_name="publications")
    op.drop_index("ix_tasks_status_created_at", table_name="tasks")
    op.drop_column("publications", "ranges")
    op.drop_table("folded_rejects")
    op.drop_table("dropped_files")
