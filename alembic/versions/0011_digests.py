"""What the records of a published range came to, and replicas that came to something else."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

DIVERGED = sa.text("diverged IS NOT NULL")


def upgrade() -> None:
    op.add_column(
        "publications",
        sa.Column("digest", sa.String(), comment="what its records came to; null: not known"),
    )
    op.add_column(
        "publications",
        sa.Column(
            "diverged",
            sa.JSON(none_as_null=True),
            comment="replicas that came to something else; null: none",
        ),
    )
    op.create_index(
        "ix_publications_diverged",
        "publications",
        ["supervisor_id"],
        sqlite_where=DIVERGED,
        postgresql_where=DIVERGED,
    )


def downgrade() -> None:
    op.drop_index("ix_publications_diverged", "publications")
    op.drop_column("publications", "diverged")
    op.drop_column("publications", "digest")
