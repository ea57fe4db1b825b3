"""What happened is kept: happenings, operations, states, lag."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True)
BIG_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
DOCUMENT = sa.JSON(none_as_null=True)


def upgrade() -> None:
    _happenings()
    op.create_table(
        "operations",
        sa.Column("number", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("spec_version", sa.Integer(), comment="that it stored; null: it stored none"),
        sa.Column("ranges", DOCUMENT, nullable=False, comment="generations that it is about"),
        sa.Column(
            "disturbs",
            sa.Boolean(),
            nullable=False,
            comment="ranges of older versions have to end",
        ),
        sa.PrimaryKeyConstraint("number", name="pk_operations"),
    )
    op.create_index("ix_operations_supervisor_id_number", "operations", ["supervisor_id", "number"])
    op.create_table(
        "supervisor_states",
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("detailed", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.PrimaryKeyConstraint("supervisor_id", name="pk_supervisor_states"),
    )
    op.create_table(
        "lag_samples",
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("records", sa.BigInteger(), comment="null: not known then"),
        sa.Column("millis", sa.BigInteger(), comment="null: not known then"),
        sa.PrimaryKeyConstraint("supervisor_id", "at", name="pk_lag_samples"),
    )
    op.create_index("ix_lag_samples_at", "lag_samples", ["at"])
    op.add_column(
        "generations",
        sa.Column("first_finished_at", TIME, comment="when a replica first asked to publish"),
    )


def _happenings() -> None:
    op.create_table(
        "happenings",
        sa.Column("number", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("supervisor_id", NAME, nullable=False),
        sa.Column("group_number", sa.Integer()),
        sa.Column("generation_id", NAME),
        sa.Column("task_id", NAME),
        sa.Column("detail", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_happenings"),
    )
    op.create_index("ix_happenings_supervisor_id_number", "happenings", ["supervisor_id", "number"])
    counter = op.create_table(
        "happening_counter",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("newest", sa.BigInteger(), nullable=False),
        sa.Column("trimmed", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_happening_counter_one_row")),
        sa.PrimaryKeyConstraint("id", name="pk_happening_counter"),
    )
    op.bulk_insert(counter, [{"id": 1, "newest": 0, "trimmed": 0}])


def downgrade() -> None:
    op.drop_column("generations", "first_finished_at")
    for table in (
        *("lag_samples", "supervisor_states", "operations"),
        *("happening_counter", "happenings"),
    ):
        op.drop_table(table)
