"""What executors say of themselves: calls that they make, troubles, results that they have."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "executors",
        sa.Column(
            "doing",
            sa.Text,
            nullable=False,
            server_default="{}",
            comment="its calls, why it is not well, lives whose results it has; JSON",
        ),
    )


def downgrade() -> None:
    op.drop_column("executors", "doing")
