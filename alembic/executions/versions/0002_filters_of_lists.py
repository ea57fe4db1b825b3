"""What lists of executions are filtered by: labels, what started them, and the text of an error."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)
_FAILED = sa.text("error IS NOT NULL")
_INDEXES = {
    "executions": {
        "flow_state": ["flow", "state", "created_at", "id"],
        "started_by": ["started_by", "created_at", "id"],
        "flow_ended": ["flow", "ended_at", "id"],
        "ended": ["ended_at", "id"],
    },
    "labels": {"value": ["name", "value", "created_at", "execution"]},
}


def upgrade() -> None:
    op.add_column("executions", sa.Column("started_by", sa.String))
    op.add_column("executions", sa.Column("error", sa.String, comment="the first 300 characters"))
    op.create_table(
        "labels",
        sa.Column("execution", _NAME, primary_key=True),
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("value", _NAME, nullable=False),
        sa.Column("created_at", _TIME, nullable=False, comment="that of the execution"),
    )
    for table, indexes in _INDEXES.items():
        for name, columns in indexes.items():
            op.create_index(f"ix_{table}_{name}", table, columns)
    op.create_index(
        "ix_executions_error",
        "executions",
        ["created_at", "id", "error"],
        sqlite_where=_FAILED,
        postgresql_where=_FAILED,
    )


def downgrade() -> None:
    op.drop_table("labels")
    for name in ("error", *_INDEXES["executions"]):
        op.drop_index(f"ix_executions_{name}", "executions")
    op.drop_column("executions", "error")
    op.drop_column("executions", "started_by")
