"""Sessions of browsers, and an index for pages of a supervisor's tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

LOST = "sessions of browsers, so that people log in again"
"""What `tidegate metadata downgrade` says before it takes this step back."""

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("digest", _NAME, nullable=False, comment="sha256 of the cookie's secret"),
        sa.Column("principal", _NAME, nullable=False),
        sa.Column("begun_at", _TIME, nullable=False),
        sa.Column("used_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_sessions"),
    )
    op.create_index("ix_sessions_principal_used_at", "sessions", ["principal", "used_at"])
    op.create_index("ix_tasks_supervisor_id_created_at", "tasks", ["supervisor_id", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_tasks_supervisor_id_created_at", table_name="tasks")
    op.drop_index("ix_sessions_principal_used_at", table_name="sessions")
    op.drop_table("sessions")
