"""Which columns a segment has, with their types."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "column_sets",
        sa.Column("id", _NAME, primary_key=True),
        sa.Column("columns", sa.JSON(none_as_null=True), nullable=False),
    )
    op.add_column(
        "segments",
        sa.Column("column_set", _NAME, comment="null: from before columns were recorded"),
    )


def downgrade() -> None:
    op.drop_column("segments", "column_set")
    op.drop_table("column_sets")
