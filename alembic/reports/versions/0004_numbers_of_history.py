"""The archive of events and audit: lists by number, of an installation and of a supervisor."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NUMBERED = sa.text("type IN ('event', 'audit')")
_INDEXES = {
    "ix_reports_numbered": ["subject", "type", "seq"],
    "ix_reports_numbered_supervisor": ["supervisor", "type", "seq"],
}


def upgrade() -> None:
    op.drop_index("ix_reports_numbered", "reports")
    for name, columns in _INDEXES.items():
        _create(name, columns)


def _create(name: str, columns: list[str]) -> None:
    op.create_index(name, "reports", columns, sqlite_where=_NUMBERED, postgresql_where=_NUMBERED)


def downgrade() -> None:
    for name in _INDEXES:
        op.drop_index(name, "reports")
    _create("ix_reports_numbered", ["type", "seq"])
