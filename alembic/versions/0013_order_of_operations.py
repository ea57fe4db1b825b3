"""Which generations were there when something was asked of a supervisor."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "operations",
        sa.Column(
            "last_ordinal",
            sa.BigInteger(),
            comment="of the newest generation then; null: not known",
        ),
    )


def downgrade() -> None:
    op.drop_column("operations", "last_ordinal")
