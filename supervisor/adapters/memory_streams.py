"""Topics in memory, as supervisors see them: for simulation and tests."""

import threading
from dataclasses import dataclass, replace

from supervisor.core.model import StreamState, StreamTrouble
from supervisor.core.spec import SupervisorSpec
from supervisor.ports import Clock
from tasks.offsets import TopicPartition


@dataclass
class _Topic:
    id: str
    ends: list[int]


class MemoryStreams:
    """Implements `ports.Streams`; every look is fresh, and fails while there is a trouble."""

    def __init__(self, clock: Clock) -> None:
        """Have no topics."""
        self._clock = clock
        self._lock = threading.Lock()
        self._topics: dict[str, _Topic] = {}
        self._last: dict[str, StreamState] = {}
        self._trouble: tuple[StreamTrouble, str] | None = None

    def create(self, topic: str, partitions: int, topic_id: str = "id-1") -> None:
        """Make a topic, or replace it by a new and empty one with another id."""
        with self._lock:
            self._topics[topic] = _Topic(topic_id, [0] * partitions)

    def append(self, topic: str, partition: int, records: int) -> None:
        """Add committed records to a partition."""
        with self._lock:
            self._topics[topic].ends[partition] += records

    def fail(self, trouble: StreamTrouble, detail: str) -> None:
        """Let every look fail, until `heal`."""
        with self._lock:
            self._trouble = (trouble, detail)

    def heal(self) -> None:
        """Let looks succeed again."""
        with self._lock:
            self._trouble = None

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Look now; a failed look keeps what the last good one saw."""
        with self._lock:
            before = self._last.get(supervisor_id, StreamState())
            found = self._look(spec.io_config.topic, before)
            self._last[supervisor_id] = found
            return found

    def forget(self, supervisor_id: str) -> None:
        """Forget what was seen for a supervisor."""
        with self._lock:
            self._last.pop(supervisor_id, None)

    def _look(self, name: str, before: StreamState) -> StreamState:
        topic = self._topics.get(name)
        trouble, detail = self._trouble or (StreamTrouble.NO_TOPIC, f"topic {name} does not exist")
        if topic is None or self._trouble is not None:
            failures = before.failures + 1
            return replace(before, trouble=trouble, detail=detail, failures=failures)
        ends = {TopicPartition(name, number): end for number, end in enumerate(topic.ends)}
        return StreamState(
            topic_ids={name: topic.id},
            earliest=dict.fromkeys(ends, 0),
            latest=ends,
            stable=dict(ends),
            read_at=self._clock.now(),
        )
