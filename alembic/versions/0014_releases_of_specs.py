"""Which release wrote a spec; and the tasks that a worker runs, without those that have ended."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

LOST = "which release wrote each version of a spec; and an index, without which syncs are slower"
"""What `tidegate metadata downgrade` says before it takes this step back."""

_LIVE = sa.text("ended_at IS NULL")


def upgrade() -> None:
    op.add_column(
        "supervisor_specs",
        sa.Column(
            "release", sa.String(), comment="of Tidegate, that wrote it; null: one before 0.2.0"
        ),
    )
    op.create_index(
        "ix_tasks_of_worker", "tasks", ["worker_id"], sqlite_where=_LIVE, postgresql_where=_LIVE
    )


def downgrade() -> None:
    op.drop_index("ix_tasks_of_worker", table_name="tasks")
    op.drop_column("supervisor_specs", "release")
