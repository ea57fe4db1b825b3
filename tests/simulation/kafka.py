"""A simulated Kafka topic: records with ids, control records, aborted ones, holes, open ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from supervisor.core.model import StreamState, StreamTrouble
from supervisor.core.spec import SupervisorSpec
from supervisor.ports import Clock
from tasks.contract import FailureCode
from tasks.kafka_client import KafkaClient
from tasks.offsets import Offsets, TopicPartition
from tasks.ports import StreamUnavailable, StreamView, TaskError

DATA, ABORTED, CONTROL, HOLE = "data", "aborted", "control", "hole"

Record = tuple[int, int | None, str]
"""Offset, id of the record (None: a control record or a hole), kind."""


@dataclass
class Log:
    """One partition; `records[i]` has offset i, whether Kafka still holds it or not."""

    records: list[Record] = field(default_factory=list)
    start: int = 0
    """Below it everything was deleted."""
    open_from: int | None = None
    """First offset of a transaction that is not decided: the last stable offset."""

    @property
    def end(self) -> int:
        """The high watermark."""
        return len(self.records)

    @property
    def stable(self) -> int:
        """The last stable offset."""
        return self.end if self.open_from is None else self.open_from


@dataclass
class Topic:
    """One topic under one id."""

    id: str
    logs: list[Log]


class Kafka:
    """All topics, past ones too: what a checker compares the table with."""

    def __init__(self, random: Random, now: Callable[[], float]) -> None:
        self._random = random
        self._now = now
        self._topics: dict[str, Topic] = {}
        self._every: dict[str, Topic] = {}
        self._next_id = 1
        self.down_until = -1.0

    @property
    def down(self) -> bool:
        """Whether no broker answers now."""
        return self._now() < self.down_until

    # -- the world's side ----------------------------------------------------------------------

    def create(self, name: str, partitions: int) -> None:
        """Make a topic, or replace it by an empty one with another id."""
        topic = Topic(f"{name}-id-{len(self._every) + 1}", [Log() for _ in range(partitions)])
        self._topics[name] = self._every[topic.id] = topic

    def delete(self, name: str) -> None:
        """Delete a topic."""
        self._topics.pop(name, None)

    def topic_id(self, name: str) -> str:
        """Return the id of a topic; empty if there is none."""
        return self._topics[name].id if name in self._topics else ""

    def exists(self, name: str) -> bool:
        """Tell whether there is such a topic now."""
        return name in self._topics

    def partitions(self, name: str) -> int:
        """Return the number of partitions now."""
        return len(self._topics[name].logs)

    def add_partition(self, name: str) -> None:
        """Add an empty partition."""
        self._topics[name].logs.append(Log())

    def log(self, partition: TopicPartition) -> Log:
        """Return one partition of the present topic."""
        return self._topics[partition.topic].logs[partition.partition]

    def produce(self, partition: TopicPartition, number: int, kind: str = DATA) -> None:
        """Append records; behind an open transaction they wait for its end as well."""
        log = self.log(partition)
        for _ in range(number):
            if kind in {CONTROL, HOLE}:
                log.records.append((log.end, None, kind))
            else:
                log.records.append((log.end, self._next_id, kind))
                self._next_id += 1

    def begin(self, partition: TopicPartition, number: int) -> None:
        """Write records of a transaction that is not decided yet."""
        log = self.log(partition)
        if log.open_from is None:
            log.open_from = log.end
            self.produce(partition, number, "open")

    def decide(self, partition: TopicPartition, *, commit: bool) -> None:
        """Commit or abort the open transaction, with a control record behind it."""
        log = self.log(partition)
        if log.open_from is None:
            return
        kind = DATA if commit else ABORTED
        log.records = [(o, i, kind if k == "open" else k) for o, i, k in log.records]
        log.open_from = None
        self.produce(partition, 1, CONTROL)

    def compact(self, partition: TopicPartition) -> None:
        """Punch holes of the size of a few records, anywhere but at the end."""
        # A record that was read before its hole came is in the table rightly: only new records,
        # in a place that no reader has reached, may vanish.  The producer calls this right after
        # it wrote, within the same moment.
        log = self.log(partition)
        if log.open_from is None and log.end > 3:
            self.produce(partition, self._random.randint(1, 3), HOLE)

    def truncate(self, partition: TopicPartition, start: int) -> None:
        """Delete records below `start`: retention."""
        log = self.log(partition)
        log.start = max(log.start, min(start, log.end))

    def records(self, topic: str, partition: int, topic_id: str) -> list[Record]:
        """Return all that was ever written to a partition of one topic id."""
        found = self._every.get(topic_id)
        if found is None or not topic_id.startswith(topic) or partition >= len(found.logs):
            return []
        return found.logs[partition].records

    def count(self, start: Offsets, end: Offsets) -> int:
        """Return how many committed data records the logs hold in a range now."""
        return sum(
            record[2] == DATA
            for partition, first in start.items()
            if partition.topic in self._topics
            and partition.partition < self.partitions(partition.topic)
            for record in self.log(partition).records[first : end[partition]]
        )

    # -- the product's side --------------------------------------------------------------------

    def look(self, client: KafkaClient, partitions: Sequence[tuple[str, int]]) -> StreamView:
        """Answer a worker; see `tasks.ports.Stream`."""
        del client
        self._answer()
        names = [TopicPartition(*p) for p in partitions]
        for name in names:
            if name.topic not in self._topics or name.partition >= self.partitions(name.topic):
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{name} does not exist")
        return StreamView(
            {p: self.log(p).start for p in names},
            {p: self.log(p).stable for p in names},
            {p.topic: self._topics[p.topic].id for p in names},
        )

    def read(self, start: Offsets, end: Offsets) -> dict[TopicPartition, list[Record]]:
        """Return the committed data records of a range.

        Raises:
            StreamUnavailable: no broker answers.
            TaskError: the log does not hold the range any more.
        """
        self._answer()
        found = {}
        for partition, first in start.items():
            if partition.topic not in self._topics:
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{partition} does not exist")
            if partition.partition >= self.partitions(partition.topic):
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{partition} does not exist")
            log, to = self.log(partition), end[partition]
            if to > first and (first < log.start or to > log.end):
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{partition}: {first} is gone")
            found[partition] = [r for r in log.records[first:to] if r[2] == DATA]
        return found

    def _answer(self) -> None:
        if self.down:
            raise StreamUnavailable("the brokers are down")

    def topic_view(self, name: str) -> tuple[str, Mapping[TopicPartition, Log]] | None:
        """Return a topic as an overlord sees it; None if there is none."""
        topic = self._topics.get(name)
        if topic is None:
            return None
        return topic.id, {TopicPartition(name, n): log for n, log in enumerate(topic.logs)}


class OverlordStreams:
    """What one overlord process knows of Kafka; implements `ports.Streams`."""

    def __init__(self, kafka: Kafka, clock: Clock) -> None:
        self._kafka = kafka
        self._clock = clock
        self._last: dict[str, StreamState] = {}

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Look now; a failed look keeps what the last good one saw."""
        before = self._last.get(supervisor_id, StreamState())
        self._last[supervisor_id] = found = self._look(spec.io_config.stream, before)
        return found

    def forget(self, supervisor_id: str) -> None:
        """Forget what was seen for a supervisor."""
        self._last.pop(supervisor_id, None)

    def _look(self, name: str, before: StreamState) -> StreamState:
        if self._kafka.down:
            return self._failed(before, StreamTrouble.UNREACHABLE)
        seen = self._kafka.topic_view(name)
        if seen is None:
            return self._failed(before, StreamTrouble.NO_TOPIC)
        topic_id, logs = seen
        return StreamState(
            topic_ids={name: topic_id},
            earliest={p: log.start for p, log in logs.items()},
            latest={p: log.end for p, log in logs.items()},
            stable={p: log.stable for p, log in logs.items()},
            read_at=self._clock.now(),
        )

    def _failed(self, before: StreamState, trouble: StreamTrouble) -> StreamState:
        return replace(before, trouble=trouble, detail=str(trouble), failures=before.failures + 1)
