"""Versions of specs without a copy of the document; and the supervisors that passes look at.

The way back writes every document whole again, one at a time.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

LOST = "which supervisors were submitted as tasks: these stay until somebody terminates them"
"""What `tidegate metadata downgrade` says before it takes this step back."""

_AT_ONCE = 1_000
_SPECS = sa.table(
    "supervisor_specs",
    sa.column("supervisor_id", sa.String),
    sa.column("version", sa.Integer),
    sa.column("spec", sa.JSON),
    sa.column("same_as", sa.Integer),
    sa.column("suspended", sa.Boolean),
    sa.column("awake", sa.Boolean),
)
_AT = _SPECS.c
_COLUMNS = (
    sa.Column("same_as", sa.Integer(), comment="the version whose document it has; null: its own"),
    sa.Column("suspended", sa.Boolean(), comment="in place of the document's; null: as it says"),
    sa.Column("submitted", sa.Boolean(), comment="true: as a task"),
    sa.Column("awake", sa.Boolean(), comment="true: the newest version, and passes look at it"),
    sa.Column(
        "rests_since",
        sa.DateTime(timezone=True),
        comment="of a newest version that has read all it names",
    ),
)


def upgrade() -> None:
    _comment("null: that of `same_as`; with neither: a tombstone")
    for column in _COLUMNS:
        op.add_column("supervisor_specs", column)
    _add_index("ix_supervisor_specs_awake", "supervisor_id", "awake IS NOT NULL")
    _add_index("ix_supervisor_specs_at_rest", "rests_since", "rests_since IS NOT NULL")
    others = _SPECS.alias("others")
    newest = (
        sa.select(sa.func.max(others.c.version))
        .where(others.c.supervisor_id == _AT.supervisor_id)
        .scalar_subquery()
    )
    op.execute(
        _SPECS.update()
        .where(_AT.version == newest, sa.cast(_AT.spec, sa.Text).is_not(None))
        .values(awake=True)
    )


def _add_index(name: str, column: str, where: str) -> None:
    rows = sa.text(where)
    op.create_index(name, "supervisor_specs", [column], sqlite_where=rows, postgresql_where=rows)


def _comment(text: str) -> None:
    """Say what the column of documents holds; SQLite keeps no comments."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"COMMENT ON COLUMN supervisor_specs.spec IS '{text}'")


def downgrade() -> None:
    _write_documents()
    _comment("null: a tombstone")
    op.drop_index("ix_supervisor_specs_at_rest", table_name="supervisor_specs")
    op.drop_index("ix_supervisor_specs_awake", table_name="supervisor_specs")
    for column in reversed(_COLUMNS):
        op.drop_column("supervisor_specs", column.name)


def _write_documents() -> None:
    """Give each version a document of its own; one document at a time is in memory."""
    bind = op.get_bind()
    left = (
        sa.select(_AT.supervisor_id, _AT.version, _AT.same_as, _AT.suspended)
        .where(_AT.suspended.is_not(None))
        .order_by(_AT.supervisor_id, _AT.version)
        .limit(_AT_ONCE)
    )
    while rows := bind.execute(left).all():
        for row in rows:
            mine = _AT.supervisor_id == row.supervisor_id
            source = row.version if row.same_as is None else row.same_as
            text = bind.execute(
                sa.select(sa.cast(_AT.spec, sa.Text)).where(mine, _AT.version == source)
            ).scalar_one()
            document = json.loads(text) | {"suspended": row.suspended}
            bind.execute(
                _SPECS.update()
                .where(mine, _AT.version == row.version)
                .values(spec=document, same_as=None, suspended=None)
            )
