"""What an overlord answers about event queues, as far as the command line reads it."""

from datetime import datetime

from pydantic import JsonValue

from supervisor.cli.shell.answers import Lenient


class Oldest(Lenient):
    """The first event that waits."""

    seq: int
    kind: str = ""
    key: str = ""
    enqueued_at: datetime
    due_at: datetime


class QueueLatency(Lenient):
    """Seconds from `add` to done."""

    average: float
    p99: float
    count: int


class Queue(Lenient):
    """One queue as it stands."""

    container: str
    name: str
    state: str
    mode: str = ""
    outstanding_events: int = 0
    outstanding_bytes: int = 0
    max_outstanding_bytes: int = 0
    oldest: Oldest | None = None
    latency: QueueLatency | None = None
    failed_iterations: int = 0
    last_error: str = ""
    failed_events: int = 0
    segments: int = 0
    dead_seq: int | None = None
    dead_why: str = ""
    healthy: bool = True
    why: str = ""


class Failed(Lenient):
    """One event that was set aside; payloads only where one is asked for."""

    container: str
    name: str
    seq: int
    key: str = ""
    reason: str = ""
    attempts: int = 0
    size_bytes: int = 0
    enqueued_at: datetime | None = None
    failed_at: datetime | None = None
    payload: JsonValue = None
    payload_base64: str | None = None


class FailedEvents(Lenient):
    """Events that were set aside."""

    failed: tuple[Failed, ...]


class ReplayResult(Lenient):
    """What a replay of all did."""

    replayed: int
    left: int = 0


class RepairResult(Lenient):
    """What a repair did."""

    again: int
    set_aside: int = 0
    missing: int = 0
