"""The archive of events and audit: how far it is, and what may leave its tables."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

LOST = "how far the archive of events and audit is: a later upgrade begins it anew, with repeats"
"""What `tidegate metadata downgrade` says before it takes this step back."""


def upgrade() -> None:
    op.create_table(
        "archive_positions",
        sa.Column("kind", sa.String, primary_key=True, comment="event or audit"),
        sa.Column("sent_to", sa.BigInteger, nullable=False, comment="number of the last one sent"),
        sa.Column(
            "stored_to",
            sa.BigInteger,
            nullable=False,
            comment="the report store has all up to this number",
        ),
        sa.Column(
            "whole_from",
            sa.BigInteger,
            nullable=False,
            comment="from this number on nothing is missing in the archive",
        ),
        sa.Column(
            "whole_since",
            sa.DateTime(timezone=True),
            comment="the time of that event; null: it is the first",
        ),
    )
    op.add_column(
        "happening_counter",
        sa.Column(
            "archived",
            sa.BigInteger,
            comment="up to this number events may be trimmed; null: there is no archive",
        ),
    )


def downgrade() -> None:
    op.drop_column("happening_counter", "archived")
    op.drop_table("archive_positions")
