"""Replays of bad records as operations: what is sent where, and the outcome."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

LOST = "what replays of bad records were to send, and what they did; those under way never end"
"""What `tidegate metadata downgrade` says before it takes this step back."""

_DOCUMENT = sa.JSON(none_as_null=True)


def upgrade() -> None:
    for name, of_type, comment in (
        ("replay", _DOCUMENT, "what is sent where; null: it is no replay"),
        ("outcome", _DOCUMENT, "of a replay; null: it is not over"),
        ("finished_at", sa.DateTime(timezone=True), "when the outcome was stored"),
    ):
        op.add_column("operations", sa.Column(name, of_type, comment=comment))


def downgrade() -> None:
    for name in ("replay", "outcome", "finished_at"):
        op.drop_column("operations", name)
