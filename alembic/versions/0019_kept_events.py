"""Events of rare kinds are kept longer than those of handoffs."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

LOST = "changes of states, specs and offsets that are older than the newest 100,000 events"
"""What `tidegate metadata downgrade` says before it takes this step back."""

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)
_BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TABLE = "kept_happenings"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("number", _BIG_ID, autoincrement=False, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("supervisor_id", _NAME, nullable=False),
        sa.Column("group_number", sa.Integer()),
        sa.Column("generation_id", _NAME),
        sa.Column("task_id", _NAME),
        sa.Column("detail", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_kept_happenings"),
    )
    index = "ix_kept_happenings_supervisor_id_number"
    op.create_index(index, _TABLE, ["supervisor_id", "number"])


def downgrade() -> None:
    op.drop_table(_TABLE)
