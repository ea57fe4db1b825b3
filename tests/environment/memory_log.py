"""The topics of executions in memory, for what shows without a broker; it can abort and refuse."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

from supervisor.core.executions.records import StateRecord
from supervisor.ports.flows.execution_log import (
    LogAborted,
    LogEntry,
    LogFenced,
    LogRecord,
    LogTooLarge,
    LogTopic,
)

__all__ = ["MemoryLog", "MemoryTopics"]


@dataclass
class MemoryTopics:
    """Committed records by topic and partition; offsets are places in the lists."""

    records: dict[tuple[LogTopic, int], list[LogEntry]] = field(default_factory=dict)
    owners: dict[int, "MemoryLog"] = field(default_factory=dict)
    largest: int = 1_000_000
    """Bytes of a record."""
    aborts: int = 0
    """How many transactions fail from now on."""
    goes_on: Event = field(default_factory=Event)
    """A transaction waits for it; it is set unless a test clears it."""
    comes: Event = field(default_factory=Event)
    """Until it is set, a read of the history finds nothing; it is, unless a test clears it."""
    commits: list[int] = field(default_factory=list)
    """Partition of each transaction."""

    def __post_init__(self) -> None:
        """Let nothing wait."""
        self.goes_on.set()
        self.comes.set()

    def of(self, topic: LogTopic, partition: int = 0) -> list[LogEntry]:
        """Return the records of a partition."""
        return self.records.setdefault((topic, partition), [])

    def append(self, topic: LogTopic, partition: int, key: str, value: bytes | None) -> None:
        """Append a record of somebody without transactions."""
        self.of(topic, partition).append(LogEntry(topic, partition, key.encode(), value))


@dataclass
class MemoryLog:
    """Implements `ports.flows.execution_log.PartitionLog`."""

    topics: MemoryTopics
    partition: int = 0
    idle_s: float = 0.0
    """How long a read waits that finds nothing."""
    _next: int = 0
    _woken: Event = field(default_factory=Event)

    def take_over(self) -> Sequence[StateRecord]:
        """Fence, and return the newest of each key."""
        self.topics.owners[self.partition] = self
        return self.look()

    def look(self) -> Sequence[StateRecord]:
        """Return the newest of each key."""
        state = self.topics.of(LogTopic.STATE, self.partition)
        newest = {each.key.decode(): each.value for each in state}
        return [StateRecord(key, value) for key, value in newest.items()]

    def read_from(self, offset: int | None) -> None:
        """Let `read` begin there."""
        self._next = offset or 0

    def read(self, limit: int, within_s: float) -> Sequence[LogRecord]:
        """Return what is there."""
        del within_s
        history = self.topics.of(LogTopic.HISTORY, self.partition)
        some = history[self._next : self._next + limit] if self.topics.comes.is_set() else []
        first = self._next
        self._next += len(some)
        if not some and self.idle_s:
            self._woken.wait(self.idle_s)
        self._woken.clear()
        return [LogRecord(first + n, each.key, each.value) for n, each in enumerate(some)]

    def wake(self) -> None:
        """Let a read return."""
        self._woken.set()

    def behind(self) -> int | None:
        """Return how many were not read yet."""
        return len(self.topics.of(LogTopic.HISTORY, self.partition)) - self._next

    def end_seen(self) -> int | None:
        """Return the end, if it was reached."""
        return self._next if self.behind() == 0 else None

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Append all, or nothing."""
        self.topics.goes_on.wait(60)
        if self.topics.owners[self.partition] is not self:
            raise LogFenced("another owner")
        if self.topics.aborts:
            self.topics.aborts -= 1
            raise LogAborted("on purpose")
        if any(len(each.value or b"") > self.topics.largest for each in entries):
            raise LogTooLarge("on purpose")
        for each in entries:
            self.topics.of(each.topic, each.partition).append(each)
        self.topics.commits.append(self.partition)

    def close(self) -> None:
        """Do nothing: there is no connection."""
