"""The settings of the topics as they were when executions began on them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_COMMENT = "what is asked of it, as it was when it was kept, JSON; null: not known"


def upgrade() -> None:
    op.add_column("log_topics", sa.Column("settings", sa.Text, comment=_COMMENT))


def downgrade() -> None:
    op.drop_column("log_topics", "settings")
