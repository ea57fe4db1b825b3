"""What people did with inputs of executions that could not be worked in."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "letter_marks",
        sa.Column("source", _NAME, primary_key=True),
        sa.Column("partition", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("offset", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="of the letter: 16 bytes"),
        sa.Column("verb", sa.String, nullable=False),
        sa.Column("outcome", sa.String, comment="of a replay"),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("letter_marks")
