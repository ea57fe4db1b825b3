"""Deferred work as data: an event, the queue it stands in, and what is true of both.

    add ─► │ 7 │ 8 │ 9 │ 10 │ ─► one named consumer, batch by batch, in this order
               ▲           ▲
       processed_seq    next_seq - 1            outstanding = what lies between

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
"""The container of work that is no single supervisor's."""
_SUPERVISOR = "supervisor:"
_VERSION = 1
_MIB = 1 << 20


def container_of(supervisor_id: str) -> str:
    """Return the container of one supervisor; none is called `cluster`."""
    return f"{_SUPERVISOR}{supervisor_id}"


def owner_of(container: str) -> str | None:
    """Return the supervisor a container belongs to; None for the cluster's."""
    return container.removeprefix(_SUPERVISOR) if container.startswith(_SUPERVISOR) else None


@dataclass(frozen=True, order=True)
class QueueName:
    """Which queue: its container, and the one consumer it is for."""

    container: str
    name: str

    def __str__(self) -> str:
        return f"{self.container}/{self.name}"


FailedPlace = tuple[int, int]
"""Where an event stands among those set aside: its queue's id, its number."""


class QueueMode(StrEnum):
    """CONSUMER: bounded and truncated.  DURABLE: append only, until somebody consumes it."""

    CONSUMER = "CONSUMER"
    DURABLE = "DURABLE"


class QueueHealth(StrEnum):
    """DEAD: its rows are damaged; nothing behind the damage is handled, and nothing is added."""

    LIVE = "LIVE"
    DEAD = "DEAD"


@dataclass(frozen=True)
class QueueConfig:
    """How one queue is filled and emptied."""

    mode: QueueMode = QueueMode.CONSUMER
    delay: timedelta = timedelta(0)
    """An event is due so long after it was added, and so long after each retry."""
    max_items_at_once: int = 10
    max_outstanding_bytes: int = 64 * _MIB
    """`add` is refused while more than this waits; one event may overshoot."""
    max_event_bytes: int = _MIB
    """Exclusive."""
    read_window_bytes: int = 2 * _MIB
    """A batch ends before the event that would go beyond; it has one event at least."""
    truncate_every_bytes: int = 128 * 1024
    segment_rollover_bytes: int = 4 * _MIB
    iteration_delay: timedelta = timedelta(seconds=1)
    """First wait after a failure; it doubles up to `backoff_cap`."""
    backoff_cap: timedelta = timedelta(seconds=60)
    handler_timeout: timedelta = timedelta(minutes=5)
    shutdown_timeout: timedelta = timedelta(seconds=10)
    decode_attempts: int = 3
    max_attempts: int = 3
    """Counted retries of one event, before it goes to the failed queue."""


@dataclass(frozen=True)
class QueuedEvent:
    """One piece of deferred work; handlers take it at least once."""

    kind: str
    key: str
    """What it is about; shown, and looked up by who would queue it twice."""
    body: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    attempts: int = 0
    """Counted tries that came before."""


@dataclass(frozen=True)
class StoredEvent:
    """One row of a queue, as it was read: not yet known to be sound."""

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
    """Where it stood in its queue."""
    key: str
    payload: bytes
    reason: str
    failed_at: datetime
    enqueued_at: datetime
    attempts: int = 0


@dataclass(frozen=True)
class QueueRow:
    """One queue with its position."""

    id: int
    queue: QueueName
    mode: QueueMode
    next_seq: int = 1
    enqueued_bytes: int = 0
    """Of all events ever added."""
    segment_no: int = 1
    segment_bytes: int = 0
    processed_seq: int = 0
    processed_bytes: int = 0
    truncated_seq: int = 0
    truncated_bytes: int = 0
    failed_iterations: int = 0
    """In a row, at the present position."""
    last_error: str = ""
    state: QueueHealth = QueueHealth.LIVE
    dead_seq: int | None = None
    """The first damaged event."""
    dead_why: str = ""

    @property
    def outstanding_events(self) -> int:
        """How many wait."""
        return self.next_seq - 1 - self.processed_seq

    @property
    def outstanding_bytes(self) -> int:
        """How much waits."""
        return self.enqueued_bytes - self.processed_bytes


@dataclass(frozen=True)
class WaitingQueue:
    """A live queue with something in it, and when its first event is due.

    `due_at` and `enqueued_at` are None if that row is missing: the next look declares it DEAD.
    """

    row: QueueRow
    due_at: datetime | None
    enqueued_at: datetime | None


# -- encoding --------------------------------------------------------------------------------------


def encode(event: QueuedEvent) -> bytes:
    """Return an event as it is stored.

    Raises:
        EmptyEvent: it has no kind or no key.
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
    """Read what `encode` wrote.

    Raises:
        UndecodableEvent: it is something else, or of a newer version.
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
    """Return what is stored beside a payload; the number is in it, so that no two change places."""
    return zlib.crc32(payload, zlib.crc32(str(seq).encode()))


# -- soundness -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Damage:
    """What is wrong with the rows of a queue, and where."""

    seq: int
    why: str


def damage_of(row: QueueRow, read: Sequence[StoredEvent]) -> Damage | None:
    """Return the first thing that cannot be; `read` are the rows behind the position, in order.

    An empty `read` means: there is no row behind the position.
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
    """Say what is wrong with one row; None if it is what was written."""
    if len(event.payload) != event.size_bytes:
        return f"event {event.seq} has {len(event.payload)} bytes, {event.size_bytes} were written"
    if checksum(event.seq, event.payload) != event.checksum:
        return f"the checksum of event {event.seq} does not fit its {event.size_bytes} bytes"
    return None
