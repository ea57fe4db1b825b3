"""Artifacts: outputs of steps that are too large for a record."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("id", _NAME, primary_key=True),
        sa.Column("execution", _NAME, nullable=False, comment="whose step gave it"),
        sa.Column("at", _TIME, nullable=False, comment="by the clock of who stored it"),
        sa.Column("size", sa.BigInteger, nullable=False, comment="bytes"),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("form", sa.String, nullable=False, comment="text or json"),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_artifacts_execution", "artifacts", ["execution"])
    op.create_index("ix_artifacts_at", "artifacts", ["at"])
    op.create_table(
        "artifact_uses",
        sa.Column("execution", _NAME, primary_key=True),
        sa.Column("artifact", _NAME, primary_key=True),
    )
    op.create_index("ix_artifact_uses_artifact", "artifact_uses", ["artifact"])


def downgrade() -> None:
    for name in ("artifact_uses", "artifacts"):
        op.drop_table(name)
