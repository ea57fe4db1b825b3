"""Event queues as data: events, queues with their positions, and the checks of stored rows.

    add ─► │ 7 │ 8 │ 9 │ 10 │ ─► one named consumer, batch by batch, in this order
               ▲           ▲
       processed_seq    next_seq - 1            outstanding: the events between them

A queue belongs to a container: one per supervisor, one for the cluster.

Source: Pravega's PDP-51, Segment Container Event Processor; protocol rules P23 and P24.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from supervisor.core.values.errors import (
    EmptyEvent,
    UndecodableEvent,
)

CLUSTER = "cluster"
"""The container of work that belongs to no single supervisor."""
_SUPERVISOR = "supervisor:"
_VERSION = 1
_MIB = 1 << 20


def container_of(supervisor_id: str) -> str:
    """Return the container of one supervisor, which never equals `CLUSTER`."""
    return f"{_SUPERVISOR}{supervisor_id}"


def owner_of(container: str) -> str | None:
    """Return the id of the supervisor that owns a container; None for any other container."""
    return container.removeprefix(_SUPERVISOR) if container.startswith(_SUPERVISOR) else None


@dataclass(frozen=True, order=True)
class QueueName:
    """The name of a queue: its container, and the name of its one consumer."""

    container: str
    name: str

    def __str__(self) -> str:
        return f"{self.container}/{self.name}"


FailedPlace = tuple[int, int]
"""Position of an event in the list of failed events: the id of its queue, and its number."""


class QueueMode(StrEnum):
    """CONSUMER: bounded and truncated.  DURABLE: append only, until a consumer opens the queue."""

    CONSUMER = "CONSUMER"
    DURABLE = "DURABLE"


class QueueHealth(StrEnum):
    """DEAD: rows of the queue are damaged; no event behind the damage is handled, none is added."""

    LIVE = "LIVE"
    DEAD = "DEAD"


@dataclass(frozen=True)
class QueueConfig:
    """Limits, timeouts and retries of one queue."""

    mode: QueueMode = QueueMode.CONSUMER
    delay: timedelta = timedelta(0)
    """Time from adding an event, or from its retry, until the event is due."""
    max_items_at_once: int = 10
    max_outstanding_bytes: int = 64 * _MIB
    """`add` is refused while more bytes than this are outstanding; one event may exceed it."""
    max_event_bytes: int = _MIB
    """Exclusive."""
    read_window_bytes: int = 2 * _MIB
    """Bytes of a batch at most, except that a batch has at least one event."""
    truncate_every_bytes: int = 128 * 1024
    segment_rollover_bytes: int = 4 * _MIB
    iteration_delay: timedelta = timedelta(seconds=1)
    """First wait after a failure; it doubles up to `backoff_cap`."""
    backoff_cap: timedelta = timedelta(seconds=60)
    handler_timeout: timedelta = timedelta(minutes=5)
    shutdown_timeout: timedelta = timedelta(seconds=10)
    decode_attempts: int = 3
    max_attempts: int = 3
    """Counted attempts of one event before the event goes to the failed queue."""


@dataclass(frozen=True)
class QueuedEvent:
    """One piece of deferred work, which is handled at least once."""

    kind: str
    key: str
    """The subject of the event; shown to people, and used to find an equal event in the queue."""
    body: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    attempts: int = 0
    """Counted attempts before this one."""


@dataclass(frozen=True)
class StoredEvent:
    """One row of a queue, as read from the database and not yet checked."""

    seq: int
    segment_no: int
    size_bytes: int
    checksum: int
    key: str
    payload: bytes
    due_at: datetime
    enqueued_at: datetime


@dataclass(frozen=True)
class FailedEvent:
    """An event that was set aside: undecodable, given up by its handler, or damaged."""

    queue: QueueName
    seq: int
    """The event's number in its queue."""
    key: str
    payload: bytes
    reason: str
    failed_at: datetime
    enqueued_at: datetime
    attempts: int = 0


@dataclass(frozen=True)
class QueueRow:
    """One queue with its position; byte counts are totals since the queue was created."""

    id: int
    queue: QueueName
    mode: QueueMode
    next_seq: int = 1
    enqueued_bytes: int = 0
    """Bytes of all events ever added."""
    segment_no: int = 1
    segment_bytes: int = 0
    processed_seq: int = 0
    processed_bytes: int = 0
    truncated_seq: int = 0
    truncated_bytes: int = 0
    failed_iterations: int = 0
    """Consecutive failures at the present position."""
    last_error: str = ""
    state: QueueHealth = QueueHealth.LIVE
    dead_seq: int | None = None
    """The number of the first damaged event."""
    dead_why: str = ""

    @property
    def outstanding_events(self) -> int:
        """The number of events that were added and not handled yet."""
        return self.next_seq - 1 - self.processed_seq

    @property
    def outstanding_bytes(self) -> int:
        """The bytes of the events that were added and not handled yet."""
        return self.enqueued_bytes - self.processed_bytes


@dataclass(frozen=True)
class WaitingQueue:
    """A live queue that is not empty, and the times of its first event.

    `due_at` and `enqueued_at` are None if the row of that event is missing; the next run of the
    queue then declares the queue DEAD.
    """

    row: QueueRow
    due_at: datetime | None
    enqueued_at: datetime | None


# -- encoding --------------------------------------------------------------------------------------


def encode(event: QueuedEvent) -> bytes:
    """Return the stored form of an event: compact JSON in UTF-8.

    Raises:
        EmptyEvent: the event has no kind or no key.
    """
    if not event.kind or not event.key:
        raise EmptyEvent("an event has a kind and a key")
    document = {
        "v": _VERSION,
        "kind": event.kind,
        "key": event.key,
        "attempts": event.attempts,
        "body": dict(event.body),
    }
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()


def decode(payload: bytes) -> QueuedEvent:
    """Return the event in a payload of `encode`.

    Raises:
        UndecodableEvent: the payload is no event, or an event of another version.
    """
    try:
        envelope = json.loads(payload)
        if envelope["v"] != _VERSION:
            raise UndecodableEvent(f"events of version {envelope['v']!r} are not known here")
        body = envelope["body"]
        if not isinstance(body, dict):
            raise UndecodableEvent("the body is no object")
        return QueuedEvent(
            str(envelope["kind"]), str(envelope["key"]), body, int(envelope["attempts"])
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UndecodableEvent(f"not an event: {error!r}") from error


def checksum(seq: int, payload: bytes) -> int:
    """Return the CRC-32 of an event's number and payload, so that swapped payloads are found."""
    return zlib.crc32(payload, zlib.crc32(str(seq).encode()))


# -- soundness -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Damage:
    """Damage in the rows of a queue: the number of the event, and the reason."""

    seq: int
    why: str


def damage_of(row: QueueRow, read: Sequence[StoredEvent]) -> Damage | None:
    """Return the first damage of a queue; None: its rows are sound.

    `read` has the rows behind the position, in order; empty: there is no row behind it.
    """
    expected = row.processed_seq + 1
    if row.outstanding_events < 0 or row.outstanding_bytes < 0:
        return Damage(expected, "the queue counts fewer events than were processed")
    if row.truncated_seq > row.processed_seq:
        return Damage(expected, "events were deleted that had not been processed")
    if row.outstanding_events > 0 and not read:
        return Damage(expected, f"event {expected} is missing")
    for event in read:
        if event.seq != expected:
            return Damage(expected, f"event {expected} is missing, {event.seq} follows")
        if event.seq >= row.next_seq:
            return Damage(expected, f"event {expected} was never counted as added")
        if (why := unsound(event)) is not None:
            return Damage(event.seq, why)
        expected += 1
    return None


def unsound(event: StoredEvent) -> str | None:
    """Return the reason why a row is damaged; None: size and checksum fit."""
    if len(event.payload) != event.size_bytes:
        return f"event {event.seq} has {len(event.payload)} bytes, {event.size_bytes} were written"
    if checksum(event.seq, event.payload) != event.checksum:
        return f"the checksum of event {event.seq} does not fit its {event.size_bytes} bytes"
    return None
