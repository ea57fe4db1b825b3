"""Event queues, the end of segments' life, retention rules, the name of the installation.

Tasks that had ended and whose folders were not yet found empty get their cleanup event here: the
pass that looked for them is gone.
"""

import json
import uuid
import zlib

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    _installation()
    _retention_rules()
    _event_queues()
    _event_positions()
    _events()
    _events_failed()
    op.add_column(
        "tasks",
        sa.Column("lost", sa.Boolean(), comment="ended through no fault of its own; null: no"),
    )
    op.add_column("segments", sa.Column("unused_at", TIME, comment="null: part of its table"))
    op.add_column(
        "segments", sa.Column("deleted_at", TIME, comment="its file is gone, or about to go")
    )
    op.add_column(
        "publications",
        sa.Column("forgotten_at", TIME, comment="its supervisor was forgotten since"),
    )
    _queue_what_ended()


def downgrade() -> None:
    op.drop_column("publications", "forgotten_at")
    op.drop_column("segments", "deleted_at")
    op.drop_column("segments", "unused_at")
    op.drop_column("tasks", "lost")
    for table in ("events_failed", "events", "event_positions", "event_queues", "retention_rules"):
        op.drop_table(table)
    op.drop_table("installation")


def _installation() -> None:
    op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_installation_one_row")),
        sa.PrimaryKeyConstraint("id", name="pk_installation"),
    )
    row = sa.table("installation", sa.column("id"), sa.column("name"))
    op.execute(sa.insert(row).values(id=1, name=str(uuid.uuid4())))


def _retention_rules() -> None:
    op.create_table(
        "retention_rules",
        sa.Column("data_source", NAME, nullable=False),
        sa.Column("keep_seconds", sa.BigInteger(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("set_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("data_source", name="pk_retention_rules"),
    )


def _event_queues() -> None:
    op.create_table(
        "event_queues",
        sa.Column("id", BIG_ID, autoincrement=True, nullable=False),
        sa.Column("container", NAME, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("next_seq", sa.BigInteger(), nullable=False),
        sa.Column("enqueued_bytes", sa.BigInteger(), nullable=False),
        sa.Column("segment_no", sa.BigInteger(), nullable=False),
        sa.Column("segment_bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_event_queues"),
    )
    op.create_index(
        "uq_event_queues_container_name", "event_queues", ["container", "name"], unique=True
    )


def _event_positions() -> None:
    op.create_table(
        "event_positions",
        sa.Column("queue_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("processed_seq", sa.BigInteger(), nullable=False),
        sa.Column("processed_bytes", sa.BigInteger(), nullable=False),
        sa.Column("truncated_seq", sa.BigInteger(), nullable=False),
        sa.Column("truncated_bytes", sa.BigInteger(), nullable=False),
        sa.Column("failed_iterations", sa.BigInteger(), nullable=False),
        sa.Column("last_error", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("dead_seq", sa.BigInteger()),
        sa.Column("dead_why", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("queue_id", name="pk_event_positions"),
        sa.ForeignKeyConstraint(
            ["queue_id"], ["event_queues.id"], name="fk_event_positions_queue_id"
        ),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("queue_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("segment_no", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("enqueued_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("queue_id", "seq", name="pk_events"),
        sa.ForeignKeyConstraint(["queue_id"], ["event_queues.id"], name="fk_events_queue_id"),
    )


def _events_failed() -> None:
    op.create_table(
        "events_failed",
        sa.Column("queue_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failed_at", TIME, nullable=False),
        sa.Column("enqueued_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("queue_id", "seq", name="pk_events_failed"),
        sa.ForeignKeyConstraint(
            ["queue_id"], ["event_queues.id"], name="fk_events_failed_queue_id"
        ),
    )


# -- data ------------------------------------------------------------------------------------------
# The form of an event as this revision knew it; later code may write another.

_tasks = sa.table(
    "tasks",
    sa.column("id", sa.String()),
    sa.column("supervisor_id", sa.String()),
    sa.column("ended_at", TIME),
    sa.column("outcome", sa.String()),
    sa.column("folder_deleted_at", TIME),
)
_queues = sa.table(
    "event_queues",
    *(
        sa.column(name)
        for name in ("id", "container", "name", "mode", "next_seq", "enqueued_bytes")
    ),
    sa.column("segment_no"),
    sa.column("segment_bytes"),
)
_positions = sa.table(
    "event_positions",
    *(sa.column(name) for name in ("queue_id", "processed_seq", "processed_bytes")),
    *(sa.column(name) for name in ("truncated_seq", "truncated_bytes", "failed_iterations")),
    *(sa.column(name) for name in ("last_error", "state", "dead_why")),
)
_stored = sa.table(
    "events",
    *(sa.column(name) for name in ("queue_id", "seq", "segment_no", "size_bytes", "checksum")),
    sa.column("key"),
    sa.column("payload", sa.LargeBinary()),
    sa.column("due_at", TIME),
    sa.column("enqueued_at", TIME),
)


def _queue_what_ended() -> None:
    db = op.get_bind()
    found: dict[str, list[sa.Row[tuple[object, ...]]]] = {}
    for row in db.execute(
        sa.select(_tasks.c.id, _tasks.c.supervisor_id, _tasks.c.ended_at)
        .where(_tasks.c.ended_at.is_not(None), _tasks.c.folder_deleted_at.is_(None))
        .where(sa.func.coalesce(_tasks.c.outcome, "") != "stale")
        .order_by(_tasks.c.ended_at, _tasks.c.id)
    ):
        found.setdefault(row.supervisor_id, []).append(row)
    for number, (supervisor_id, ended) in enumerate(sorted(found.items()), start=1):
        rows = [_event(number, seq, task) for seq, task in enumerate(ended, start=1)]
        size = sum(len(row["payload"]) for row in rows)
        db.execute(sa.insert(_queues), [_queue(number, supervisor_id, len(rows), size)])
        db.execute(sa.insert(_positions), [_position(number)])
        db.execute(sa.insert(_stored), rows)
    if found and db.dialect.name == "postgresql":  # we drew its numbers: it goes on behind them
        db.execute(
            sa.text(
                "SELECT setval(pg_get_serial_sequence('event_queues', 'id'), "
                "(SELECT max(id) FROM event_queues))"
            )
        )


def _queue(number: int, supervisor_id: str, events: int, size: int) -> dict[str, object]:
    return {
        "id": number,
        "container": f"supervisor:{supervisor_id}",
        "name": "task-output",
        "mode": "CONSUMER",
        "next_seq": events + 1,
        "enqueued_bytes": size,
        "segment_no": 1,
        "segment_bytes": size,
    }


def _position(number: int) -> dict[str, object]:
    zeros = ("processed_seq", "processed_bytes", "truncated_seq", "truncated_bytes")
    return {
        "queue_id": number,
        **dict.fromkeys((*zeros, "failed_iterations"), 0),
        "last_error": "",
        "state": "LIVE",
        "dead_why": "",
    }


def _event(number: int, seq: int, task: sa.Row[tuple[object, ...]]) -> dict[str, object]:
    document = {"v": 1, "kind": "task_output", "key": task.id, "attempts": 0, "body": {}}
    payload = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
    return {
        "queue_id": number,
        "seq": seq,
        "segment_no": 1,
        "size_bytes": len(payload),
        "checksum": zlib.crc32(payload, zlib.crc32(str(seq).encode())),
        "key": task.id,
        "payload": payload,
        "due_at": task.ended_at,
        "enqueued_at": task.ended_at,
    }
