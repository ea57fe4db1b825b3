"""The topics of executions in memory, as a projector reads them; they can be compacted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.projection import Place, ProjectedRecord
from tests.environment.memory_log import MemoryTopics

__all__ = ["MemoryFeed"]


@dataclass
class MemoryFeed:
    """Implements `ports.flows.projection.ProjectionFeed`."""

    topics: MemoryTopics
    compacted: dict[int, int] = field(default_factory=dict)
    """Partition of STATE -> offset before which only the newest of each key is left."""
    at_once: int = 1_000_000
    """How many records come at once."""
    _next: dict[Place, int] = field(default_factory=dict)

    def read_from(self, starts: Mapping[Place, int | None]) -> None:
        """Read these partitions and no others."""
        self._next = {place: at or 0 for place, at in starts.items()}

    def read(self, limit: int, within_s: float) -> Sequence[ProjectedRecord]:
        """Return what is there, and the ends that are met."""
        del within_s
        read: list[ProjectedRecord] = []
        for place, start in self._next.items():
            end = min(self.end(place), start + min(limit, self.at_once))
            left = self._left(place)
            entries = self.topics.of(*place)
            for offset in range(start, end):
                one = entries[offset]
                if offset in left:
                    read.append(ProjectedRecord(place, offset, one.key.decode(), one.value))
            if end == self.end(place):
                read.append(ProjectedRecord(place, end, is_end=True))
            self._next[place] = end
        return read

    def end(self, place: Place) -> int:
        """Return the offset behind the last record."""
        return len(self.topics.of(*place))

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _left(self, place: Place) -> frozenset[int]:
        """Return the offsets that compaction has left."""
        entries = self.topics.of(*place)
        compacted = self.compacted.get(place[1], 0) if place[0] is LogTopic.STATE else 0
        newest = {one.key: offset for offset, one in enumerate(entries[:compacted])}
        return frozenset(newest.values()) | frozenset(range(compacted, len(entries)))
