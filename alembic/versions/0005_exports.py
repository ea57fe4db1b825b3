"""Tables that are exported in other formats, and how far each export is."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "exports",
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column(
            "version", sa.BigInteger(), comment="the format's own; null: there is no table yet"
        ),
        sa.Column("location", sa.String(), nullable=False),
        sa.Column("exported_at", TIME),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("behind_since", TIME),
        sa.PrimaryKeyConstraint("data_source", "format", name="pk_exports"),
    )


def downgrade() -> None:
    op.drop_table("exports")
