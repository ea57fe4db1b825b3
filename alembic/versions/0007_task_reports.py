"""Tasks keep what they had counted when they ended; a worker can be disabled."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON(none_as_null=True)
UNKNOWN = "when it ended; null: it did not tell"


def upgrade() -> None:
    op.add_column("tasks", sa.Column("counters", DOCUMENT, comment=UNKNOWN))
    op.add_column("tasks", sa.Column("position", DOCUMENT, comment=UNKNOWN))
    op.add_column(
        "workers", sa.Column("disabled", sa.Boolean(), comment="it is given nothing new; null: no")
    )


def downgrade() -> None:
    op.drop_column("workers", "disabled")
    op.drop_column("tasks", "position")
    op.drop_column("tasks", "counters")
