"""Executions on Kafka: which engine runs them, letters on their way, and who works partitions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)
_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "engine",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String, nullable=False, comment="sql or kafka"),
        sa.Column("since", _TIME, nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("entity", _NAME, nullable=False, comment="the id of the execution"),
        sa.Column("body", sa.Text, nullable=False, comment="a letter of the history, JSON"),
        sa.Column("at", _TIME, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "projected",
        sa.Column("topic", sa.String, primary_key=True, comment="state or results"),
        sa.Column("partition", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("next", sa.BigInteger, nullable=False, comment="the offset that is read next"),
    )
    op.create_table(
        "executors",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("incarnation", _NAME, nullable=False),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("renewed_at", _TIME, nullable=False, comment="by the clock of the database"),
        sa.Column("partitions", sa.Text, nullable=False, comment="those that it works, JSON"),
    )


def downgrade() -> None:
    for name in ("executors", "projected", "outbox", "engine"):
        op.drop_table(name)
