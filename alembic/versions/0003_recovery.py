"""What recovery needs: a handoff that was asked for, and the epoch of resets a range belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "generations",
        sa.Column("asked", sa.String(), comment="why its handoff is wanted now; null: it is not"),
    )
    op.add_column(
        "generation_partitions",
        sa.Column(
            "reset_epoch", sa.Integer(), comment="of the committed offset at opening; null: 0"
        ),
    )


def downgrade() -> None:
    op.drop_column("generation_partitions", "reset_epoch")
    op.drop_column("generations", "asked")
