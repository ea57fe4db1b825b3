"""What lists of reports show beside the payload, and lines by their worker and by their task."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_INDEXES = {
    "worker": ["worker", "at", "subject", "attempt", "offset"],
    "subject": ["subject", "at", "attempt", "offset"],
}


def upgrade() -> None:
    # Columns without a default: no row is written for them.
    why = "null: by a release that did not keep it; so the next two"
    columns = (
        sa.Column("stored_at", sa.DateTime(timezone=True), comment=why),
        sa.Column("size", sa.BigInteger, comment="of the body, in bytes"),
        sa.Column("error", sa.Text, comment="the first line of what went wrong"),
    )
    for column in columns:
        op.add_column("reports", column)
    for name, indexed in _INDEXES.items():
        op.create_index(f"ix_grave_lines_{name}", "grave_lines", indexed)


def downgrade() -> None:
    for name in _INDEXES:
        op.drop_index(f"ix_grave_lines_{name}", "grave_lines")
    for column in ("error", "size", "stored_at"):
        op.drop_column("reports", column)
