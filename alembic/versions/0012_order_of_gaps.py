"""Which generations were there when a break in the offsets was declared."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "offset_gaps",
        sa.Column(
            "last_ordinal",
            sa.BigInteger(),
            comment="of the newest generation then; null: not known",
        ),
    )


def downgrade() -> None:
    op.drop_column("offset_gaps", "last_ordinal")
