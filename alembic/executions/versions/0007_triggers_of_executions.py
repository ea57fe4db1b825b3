"""By which trigger an execution was started, for lists."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_STARTED = sa.text("trigger IS NOT NULL")
_COMMENT = "the name of the one that started it; null: none has"
_OLD = sa.table("executions", *map(sa.column, ("id", "flow", "trigger", "started_by")))
_REST = sa.func.substr(_OLD.c.id, sa.func.length(_OLD.c.flow) + 2)
"""Behind the flow: the id of what a trigger started is flow:trigger:slot."""
_NAMES = {
    "sqlite": sa.func.substr(_REST, 1, sa.func.instr(_REST, ":") - 1),
    "postgresql": sa.func.split_part(_REST, ":", 1),
}
_BY_TRIGGER = ("schedule", "published", "webhook")


def upgrade() -> None:
    op.add_column("executions", sa.Column("trigger", _NAME, comment=_COMMENT))
    started = sa.update(_OLD).where(_OLD.c.started_by.in_(_BY_TRIGGER))
    op.execute(started.values(trigger=_NAMES[op.get_bind().dialect.name]))
    op.create_index(
        "ix_executions_trigger",
        "executions",
        ["trigger", "flow", "created_at", "id"],
        sqlite_where=_STARTED,
        postgresql_where=_STARTED,
    )


def downgrade() -> None:
    op.drop_index("ix_executions_trigger", "executions")
    op.drop_column("executions", "trigger")
