"""In-memory topics as supervisors see them, for simulation and tests."""

import threading
from dataclasses import dataclass, field

from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.clock import Clock
from tasks.contract.offsets import TopicPartition


@dataclass
class _Topic:
    id: str
    ends: list[int]
    starts: dict[int, int] = field(default_factory=dict)
    """Partition -> its first offset, for partitions whose first records were deleted."""


class MemoryStreams:
    """Implements `ports.store.Streams`; each look is fresh, and fails while there is a trouble."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._topics: dict[str, _Topic] = {}
        self._last: dict[str, StreamState] = {}
        self._trouble: tuple[StreamTrouble, str] | None = None

    def create(self, topic: str, partitions: int, topic_id: str = "id-1") -> None:
        """Create a topic, or replace it by a new and empty topic with another id."""
        with self._lock:
            self._topics[topic] = _Topic(topic_id, [0] * partitions)

    def add_partitions(self, topic: str, partitions: int) -> None:
        """Add so many empty partitions to a topic."""
        with self._lock:
            self._topics[topic].ends += [0] * partitions

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        with self._lock:
            del self._topics[topic]

    def append(self, topic: str, partition: int, records: int) -> None:
        """Add committed records to a partition."""
        with self._lock:
            self._topics[topic].ends[partition] += records

    def expire(self, topic: str, partition: int, earliest: int) -> None:
        """Delete the records before `earliest`, as retention does."""
        with self._lock:
            self._topics[topic].starts[partition] = earliest

    def cut(self, topic: str, partition: int, end: int) -> None:
        """Cut a partition off at `end`, as after an unclean leader election."""
        with self._lock:
            self._topics[topic].ends[partition] = end

    def fail(self, trouble: StreamTrouble, detail: str) -> None:
        """Make every look fail until `heal`."""
        with self._lock:
            self._trouble = (trouble, detail)

    def heal(self) -> None:
        """Make looks succeed again."""
        with self._lock:
            self._trouble = None

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Look now; a failed look keeps the offsets of the last good look."""
        with self._lock:
            before = self._last.get(supervisor_id, StreamState())
            found = self._look(spec.io_config, before)
            self._last[supervisor_id] = found
            return found

    def last(self, supervisor_id: str) -> StreamState | None:
        """Return what the last look of a supervisor saw; None: there was none."""
        with self._lock:
            return self._last.get(supervisor_id)

    def forget(self, supervisor_id: str) -> None:
        """Delete the remembered state of a supervisor."""
        with self._lock:
            self._last.pop(supervisor_id, None)

    def seen(self, source: KafkaIoConfig) -> StreamState:
        """Look now, without remembering the result."""
        with self._lock:
            return self._look(source, StreamState())

    def _look(self, source: KafkaIoConfig, before: StreamState) -> StreamState:
        topics = {name: topic for name, topic in self._topics.items() if source.reads(name)}
        missing = (StreamTrouble.NO_TOPIC, f"topic {source.stream} does not exist")
        trouble, detail = self._trouble or missing
        if not topics or self._trouble is not None:
            failures = before.failures + 1
            return before.after_failure(trouble, detail, failures, self._clock.now())
        ends = {
            TopicPartition(name, number): end
            for name, topic in topics.items()
            for number, end in enumerate(topic.ends)
        }
        return StreamState(
            topic_ids={name: topic.id for name, topic in topics.items()},
            earliest={p: topics[p.topic].starts.get(p.partition, 0) for p in ends},
            latest=ends,
            stable=dict(ends),
            read_at=self._clock.now(),
        )
