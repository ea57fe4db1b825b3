"""Principals with their grants, and the tries that were denied."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True)
BIG_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
DOCUMENT = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "principals",
        sa.Column("name", NAME, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False, comment="argon2id, or sha256 of a token"),
        sa.Column("grants", DOCUMENT, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, comment="null: never"),
        sa.Column("revoked_at", TIME, comment="null: it may be used"),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_principals"),
    )
    op.create_table(
        "denied_tries",
        sa.Column("id", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("first_at", TIME, nullable=False),
        sa.Column("last_at", TIME, nullable=False),
        sa.Column("times", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_denied_tries"),
    )


def downgrade() -> None:
    op.drop_table("denied_tries")
    op.drop_table("principals")
