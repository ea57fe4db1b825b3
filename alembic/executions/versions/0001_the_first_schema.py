"""Executions, their task runs and gates, and what runners and listeners get of them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)
_INDEXES = {
    "executions": {
        "due": ["due_at"],
        "newest": ["created_at", "id"],
        "flow": ["flow", "created_at", "id"],
        "state": ["state", "created_at", "id"],
        "parent": ["parent"],
    },
    "calls": {"execution": ["execution"]},
    "claims": {"runner": ["runner", "incarnation"], "execution": ["execution"]},
    "triggers": {"next": ["next_at"]},
    "firings": {"number": ["flow", "trigger", "number"]},
}


def upgrade() -> None:
    _create_entities()
    _create_outgoing()
    op.create_table(
        "flows",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("document", sa.Text, comment="null: this version deletes the flow"),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("at", _TIME, nullable=False),
    )
    _create_triggers()
    writer = op.create_table(
        "writer",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("term", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(writer, [{"id": 1, "term": 0}])
    op.create_table(
        "log_topics",
        sa.Column("topic", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("partitions", sa.Integer, nullable=False),
        sa.Column(
            "id", sa.String, nullable=False, comment="Kafka's own: one made anew has another"
        ),
    )
    for table, indexes in _INDEXES.items():
        for name, columns in indexes.items():
            op.create_index(f"ix_{table}_{name}", table, columns)
    op.create_index("ix_calls_place", "calls", ["run", "attempt", "look"], unique=True)


def _create_entities() -> None:
    op.create_table(
        "executions",
        sa.Column("id", _NAME, primary_key=True),
        sa.Column("flow", _NAME, nullable=False),
        sa.Column("flow_version", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("ended_at", _TIME),
        sa.Column("due_at", _TIME, comment="when it has to be looked at next"),
        sa.Column("parent", _NAME),
        sa.Column("head", sa.Text, nullable=False, comment="without its plan and task runs"),
        sa.Column("plan", sa.Text, nullable=False),
    )
    op.create_table(
        "task_runs",
        sa.Column("execution", _NAME, primary_key=True),
        sa.Column("id", _NAME, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "gates",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
    )


def _create_outgoing() -> None:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "calls",
        sa.Column("number", number, primary_key=True, autoincrement=True),
        sa.Column("execution", _NAME, nullable=False),
        sa.Column("run", _NAME, nullable=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("look", sa.BigInteger, nullable=False, comment="0: the call itself"),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "claims",
        sa.Column("run", _NAME, primary_key=True),
        sa.Column("execution", _NAME, nullable=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("runner", _NAME, nullable=False),
        sa.Column("incarnation", _NAME, nullable=False),
        sa.Column("cancelled", sa.Boolean, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("execution", _NAME, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False),
    )


def _create_triggers() -> None:
    op.create_table(
        "triggers",
        sa.Column("flow", _NAME, primary_key=True),
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("definition", sa.Text, nullable=False, comment="as the flow has it, JSON"),
        sa.Column(
            "version", sa.BigInteger, nullable=False, comment="of the flow that has defined it"
        ),
        sa.Column("paused", sa.Boolean, nullable=False),
        sa.Column("paused_by", sa.String),
        sa.Column("watches", sa.Boolean, nullable=False),
        sa.Column("position", _TIME, comment="up to here all slots are done with"),
        sa.Column("next_at", _TIME),
        sa.Column(
            "waiting", sa.BigInteger, nullable=False, comment="publishes without an execution"
        ),
        sa.Column("numbered", sa.BigInteger, nullable=False),
        sa.Column("fired", sa.BigInteger, nullable=False),
        sa.Column("passed", sa.BigInteger, nullable=False),
        sa.Column("last_at", _TIME),
        sa.Column("last_execution", _NAME),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("problem_at", _TIME),
    )
    op.create_table(
        "firings",
        sa.Column("flow", _NAME, primary_key=True),
        sa.Column("trigger", _NAME, primary_key=True),
        sa.Column("slot", _NAME, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("execution", _NAME, comment="null: it waits for the execution before to end"),
        sa.Column("about", sa.Text, nullable=False),
    )


def downgrade() -> None:
    for table in (
        "log_topics",
        "writer",
        "firings",
        "triggers",
        "flows",
        "events",
        "claims",
        "calls",
        "gates",
        "task_runs",
        "executions",
    ):
        op.drop_table(table)
