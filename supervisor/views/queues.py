"""Response models of event queues and failed events."""

from pydantic import JsonValue

from tasks.contract.wire import Instant, Seconds, Wire


class OldestView(Wire):
    """The first event that waits; `kind` is empty if it cannot be decoded."""

    seq: int
    kind: str
    key: str
    enqueued_at: Instant
    due_at: Instant


class LatencyView(Wire):
    """Seconds from `add` to done, of the newest events that this overlord handled."""

    average: float
    p99: float
    count: int


class QueueState(Wire):
    """The state of one queue; sizes in bytes, ages in seconds."""

    container: str
    name: str
    state: str
    mode: str
    outstanding_events: int
    outstanding_bytes: int
    max_outstanding_bytes: int
    oldest_age: Seconds | None
    """Age of the first waiting event, since it was added."""
    oldest: OldestView | None
    latency: LatencyView | None
    """Absent before this overlord has handled an event of the queue."""
    failed_iterations: int
    """Consecutive failures at the present position."""
    last_error: str
    failed_events: int
    segments: int
    dead_seq: int | None
    dead_why: str
    healthy: bool
    why: str
    """The problem of the queue; empty: there is none."""


class FailedRow(Wire):
    """One event that was set aside."""

    container: str
    name: str
    seq: int
    key: str
    reason: str
    attempts: int
    size_bytes: int
    enqueued_at: Instant
    failed_at: Instant


class FailedPage(Wire):
    """A page of events that were set aside, by queue and oldest first."""

    failed: list[FailedRow]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


class FailedView(FailedRow):
    """One event that was set aside, with its payload: as JSON if it is some, else in base64."""

    payload: JsonValue
    payload_base64: str | None


class Replayed(Wire):
    """Which event was queued again."""

    container: str
    name: str
    seq: int


class ReplayedView(Wire):
    """How many failed events were queued again, and how many are left."""

    replayed: int
    left: int


class Dropped(Wire):
    """Which event was dropped."""

    container: str
    name: str
    seq: int


class RepairedView(Wire):
    """What became of the events of a dead queue."""

    again: int
    """Events that were queued again, in their order."""
    set_aside: int
    """Damaged or undecodable events, which are failed events now."""
    missing: int
    """Events that were counted as added, but have no row."""
