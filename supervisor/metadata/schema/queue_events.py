"""The tables of the event queues.

event_queues ── event_positions, events, events_failed
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
)

from supervisor.core.queue.events import QueueHealth, QueueMode
from supervisor.database.column_types import NAME, UtcTime
from supervisor.metadata.schema.column_types import BIG_ID, METADATA, MaskedText, OneOf

event_queues = Table(
    "event_queues",
    METADATA,
    Column("id", BIG_ID, primary_key=True, autoincrement=True),
    Column("container", NAME, nullable=False),
    Column("name", NAME, nullable=False),
    Column("mode", OneOf(QueueMode), nullable=False),
    Column("next_seq", BigInteger, nullable=False),
    Column("enqueued_bytes", BigInteger, nullable=False),
    Column("segment_no", BigInteger, nullable=False),
    Column("segment_bytes", BigInteger, nullable=False),
    Index("uq_event_queues_container_name", "container", "name", unique=True),
)
"""Written by producers; its lock is held to the end of a transaction, so numbers have no gap."""


def _of_queue() -> Column[int]:
    return Column(
        "queue_id", BIG_ID, ForeignKey(event_queues.c.id), primary_key=True, autoincrement=False
    )


event_positions = Table(
    "event_positions",
    METADATA,
    _of_queue(),
    Column("processed_seq", BigInteger, nullable=False),
    Column("processed_bytes", BigInteger, nullable=False),
    Column("truncated_seq", BigInteger, nullable=False),
    Column("truncated_bytes", BigInteger, nullable=False),
    Column("failed_iterations", BigInteger, nullable=False),
    Column("last_error", MaskedText, nullable=False),
    Column("state", OneOf(QueueHealth), nullable=False),
    Column("dead_seq", BigInteger),
    Column("dead_why", MaskedText, nullable=False),
)
"""Written by the consumer; a table of its own, so that a consumer never waits for a producer."""

events = Table(
    "events",
    METADATA,
    _of_queue(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("segment_no", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("key", NAME, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("enqueued_at", UtcTime, nullable=False),
)

events_failed = Table(
    "events_failed",
    METADATA,
    _of_queue(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("key", NAME, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("reason", MaskedText, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("failed_at", UtcTime, nullable=False),
    Column("enqueued_at", UtcTime, nullable=False),
)
"""The failed queue: events that were set aside until somebody replays or drops them."""
