"""Requests with an Idempotency-Key act once."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "request_keys",
        sa.Column("number", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("claim", sa.String(), nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("acted", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Integer(), comment="null: not answered yet"),
        sa.Column("headers", sa.JSON(none_as_null=True)),
        sa.Column("body", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("number", name="pk_request_keys"),
        sa.UniqueConstraint("claim", name="uq_request_keys_claim"),
    )
    op.create_index("ix_request_keys_claimed_at", "request_keys", ["claimed_at"])
    op.create_index("uq_request_keys_caller_key", "request_keys", ["caller", "key"], unique=True)


def downgrade() -> None:
    op.drop_table("request_keys")
