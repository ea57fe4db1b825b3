"""Small files are rewritten as one."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True)
BIG_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
DOCUMENT = sa.JSON(none_as_null=True)
LIVE = sa.text("ended_at IS NULL")
UNSETTLED = sa.text("folder_deleted_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "compactions",
        sa.Column("number", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("id", NAME, nullable=False),
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("interval_start", TIME, nullable=False),
        sa.Column("interval_end", TIME, nullable=False),
        sa.Column("inputs", DOCUMENT, nullable=False),
        sa.Column("columns", DOCUMENT, nullable=False),
        sa.Column("shares", DOCUMENT, nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("worker_id", NAME, nullable=False, comment="empty: it waits for one"),
        sa.Column("incarnation", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("assigned_at", TIME),
        sa.Column("ended_at", TIME, comment="null: it waits or runs"),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("blamed", sa.Boolean(), nullable=False, comment="it failed by itself"),
        sa.Column("folder_deleted_at", TIME),
        sa.PrimaryKeyConstraint("number", name="pk_compactions"),
        sa.UniqueConstraint("id", name="uq_compactions_id"),
    )
    for name, columns, where in (
        ("ix_compactions_live", ["number"], LIVE),
        ("ix_compactions_unsettled", ["number"], UNSETTLED),
        ("ix_compactions_data_source", ["data_source", "number"], None),
    ):
        op.create_index(name, "compactions", columns, sqlite_where=where, postgresql_where=where)
    op.create_table(
        "compaction_rules",
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("skip_seconds", sa.BigInteger(), nullable=False),
        sa.Column("target_rows", sa.BigInteger(), nullable=False),
        sa.Column("target_bytes", sa.BigInteger(), nullable=False),
        sa.Column("files_min", sa.Integer(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("set_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("data_source", name="pk_compaction_rules"),
    )
    _tell_segments_of_it()


def _tell_segments_of_it() -> None:
    op.add_column(
        "segments",
        sa.Column("compaction_id", NAME, comment="it was compacted, from files of these ranges"),
    )
    op.add_column(
        "segments",
        sa.Column("replaced_by", NAME, comment="the compaction that took it out, for good"),
    )


def downgrade() -> None:
    op.drop_column("segments", "replaced_by")
    op.drop_column("segments", "compaction_id")
    op.drop_table("compaction_rules")
    op.drop_table("compactions")
