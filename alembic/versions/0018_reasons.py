"""The reason of a change, beside its author: of versions, operations and audit entries."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

LOST = "the reasons that people gave for their changes"
"""What `tidegate metadata downgrade` says before it takes this step back."""

_COMMENTS = {
    "supervisor_specs": "of the author; null: none was given",
    "operations": "of the person who asked; null: none was given",
    "audit": "of the person who acted; null: none was given",
}


def upgrade() -> None:
    for table, comment in _COMMENTS.items():
        op.add_column(table, sa.Column("reason", sa.String(), comment=comment))


def downgrade() -> None:
    for table in _COMMENTS:
        op.drop_column(table, "reason")
