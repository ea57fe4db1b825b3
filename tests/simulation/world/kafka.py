"""A simulated Kafka topic: records with ids, control records, aborted ones, holes, open ends."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from supervisor.adapters.kafka.streams import FRESH_FOR_S, GONE_AFTER
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.clock import Clock
from tasks.contract.kafka_client import KafkaClient, librdkafka_properties
from tasks.contract.messages import FailureCode
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.kafka.stream import environment_secret
from tasks.ports import BatchJob, StreamTimeout, StreamView, TaskError

DATA, ABORTED, CONTROL, HOLE = "data", "aborted", "control", "hole"
BROKEN = "broken"
"""A record that nobody can decode: it becomes an entry of the rejects, not a row (P25)."""
_COMMITTED = {DATA, BROKEN}

Record = tuple[int, int | None, str]
"""Offset, id of the record (None: a control record or a hole), kind."""


@dataclass(frozen=True)
class Curse:
    """A record that fails every batch it is in, until a spec has the right bound."""

    partition: TopicPartition
    offset: int
    cured_by: int
    """`maxRowsPerSegment` that, for once, helps."""

    def strikes(self, job: BatchJob) -> bool:
        """Tell whether the batch reads it under a spec that does not help."""
        first = job.start.get(self.partition, math.inf)
        is_read = first <= self.offset < job.end.get(self.partition, 0)
        return is_read and job.spec.tuning.segment_rows_max < self.cured_by


@dataclass
class Log:
    """One partition; `records[i]` has offset i, whether Kafka still holds it or not."""

    records: list[Record] = field(default_factory=list)
    start: int = 0
    """Below it everything was deleted."""
    open_from: int | None = None
    """First offset of a transaction that is not decided."""

    @property
    def end(self) -> int:
        """The high watermark."""
        return len(self.records)

    @property
    def stable(self) -> int:
        """The last stable offset: where retention has passed an open transaction, the start."""
        return self.end if self.open_from is None else max(self.start, self.open_from)


@dataclass
class Topic:
    """One topic under one id."""

    id: str
    logs: list[Log]


class Rejects:
    """Draws which records cannot be decoded, from a stream of chance of its own."""

    def __init__(self, random: Random, share: float) -> None:
        self._random = random
        self._share = share

    def of(self, kind: str) -> str:
        """Return what a record that was to be of `kind` is."""
        if not self._share or kind != DATA:
            return kind
        return BROKEN if self._random.random() < self._share else DATA


class Kafka:
    """All topics, past ones too: what a checker compares the table with."""

    def __init__(self, random: Random, now: Callable[[], float], rejects: Rejects) -> None:
        self._random = random
        self._rejects = rejects
        self._now = now
        self.curse: Curse | None = None
        self.failing: set[str] = set()
        """Topics of which no batch ends well."""
        self._topics: dict[str, Topic] = {}
        self._every: dict[str, Topic] = {}
        self._next_id = 1
        self.down_until = -1.0
        self.password = ""
        """What a client has to know."""

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

    @property
    def names(self) -> list[str]:
        """Return the topics that there are, sorted."""
        return sorted(self._topics)

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
                log.records.append((log.end, self._next_id, self._rejects.of(kind)))
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
        topic_found = self._every.get(topic_id)
        if (
            topic_found is None
            or not topic_id.startswith(topic)
            or partition >= len(topic_found.logs)
        ):
            return []
        return topic_found.logs[partition].records

    def holds(self, topic: str, partition: int, topic_id: str, offset: int) -> bool:
        """Tell whether a reader of this topic id can go on at an offset now."""
        topic_found = self._topics.get(topic)
        if topic_found is None or topic_found.id != topic_id or partition >= len(topic_found.logs):
            return False
        return topic_found.logs[partition].start <= offset <= topic_found.logs[partition].end

    # -- the product's side --------------------------------------------------------------------

    def look(self, client: KafkaClient, partitions: Sequence[tuple[str, int]]) -> StreamView:
        """Answer a worker; see `tasks.ports.Stream`."""
        self._answer()
        self.log_in(librdkafka_properties(client, environment_secret)["sasl.password"])
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
        """Return the committed records of a range, those that become no row too.

        Raises:
            StreamUnavailable: no broker answers.
            TaskError: the log does not hold the range any more.
        """
        self._answer()
        records = {}
        for partition, first in start.items():
            if partition.topic not in self._topics:
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{partition} does not exist")
            if partition.partition >= self.partitions(partition.topic):
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{partition} does not exist")
            log, to = self.log(partition), end[partition]
            if to > first and (first < log.start or to > log.end):
                raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{partition}: {first} is gone")
            records[partition] = [r for r in log.records[first:to] if r[2] in _COMMITTED]
        return records

    def log_in(self, properties: str) -> None:
        """Let a client in whose properties hold the password.

        Raises:
            StreamUnavailable: they do not.
        """
        if self.password not in properties:
            raise StreamTimeout("SASL authentication failed: invalid credentials")

    def _answer(self) -> None:
        if self.down:
            raise StreamTimeout("the brokers are down")

    def topic_view(self, name: str) -> tuple[str, Mapping[TopicPartition, Log]] | None:
        """Return a topic as an overlord sees it; None if there is none."""
        topic = self._topics.get(name)
        if topic is None:
            return None
        return topic.id, {TopicPartition(name, n): log for n, log in enumerate(topic.logs)}


Later = Callable[[Callable[[], None]], None]
Listener = Callable[[str], None]


def _nobody(_: str) -> None:
    """Hear of it and do nothing."""


class PatientStreams:
    """The streams of a verb that waits for a look: simulated, it takes no time."""

    def __init__(self, streams: "OverlordStreams") -> None:
        self._streams = streams

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Look now."""
        return self._streams.look(supervisor_id, spec)

    def last(self, supervisor_id: str) -> StreamState | None:
        """Return what the last look saw."""
        return self._streams.last(supervisor_id)

    def forget(self, supervisor_id: str) -> None:
        """Forget what was seen for a supervisor."""
        self._streams.forget(supervisor_id)


class OverlordStreams:
    """What one overlord process knows of Kafka; implements `ports.Streams`."""

    def __init__(
        self,
        kafka: Kafka,
        clock: Clock,
        later: Later | None = None,
        *,
        on_news: Listener = _nobody,
        reached: Listener = _nobody,
    ) -> None:
        """`later` lets a look be made beside: till then the last one answers, as in the product.

        `reached` is told of each crash point, and may raise.
        """
        self._kafka = kafka
        self._clock = clock
        self._later = later
        self._on_news = on_news
        self._reached = reached
        self._last: dict[str, StreamState] = {}
        self._looked_at: dict[str, float] = {}

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Return what the last look saw; a failed one keeps what the last good one saw."""
        self._reached("kafka:before state")
        if self._later is None or supervisor_id not in self._last:
            return self.look(supervisor_id, spec)
        now = self._clock.monotonic()
        if now - self._looked_at.get(supervisor_id, -math.inf) >= FRESH_FOR_S:
            self._looked_at[supervisor_id] = now
            self._later(lambda: self._look_beside(supervisor_id, spec))
        return self._last[supervisor_id]

    def last(self, supervisor_id: str) -> StreamState | None:
        """Return what the last look saw, and look at nothing."""
        return self._last.get(supervisor_id)

    def look(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Look now."""
        before = self._last.get(supervisor_id, StreamState())
        self._reached("kafka:before look")
        self._last[supervisor_id] = found = self._look(spec, before)
        self._reached("kafka:after look")
        return found

    def _look_beside(self, supervisor_id: str, spec: SupervisorSpec) -> None:
        before = self._last.get(supervisor_id, StreamState())
        found = self.look(supervisor_id, spec)
        same = (before.trouble, before.topic_ids) == (found.trouble, found.topic_ids)
        if not same or before.earliest.keys() != found.earliest.keys():
            self._on_news(supervisor_id)

    def forget(self, supervisor_id: str) -> None:
        """Forget what was seen for a supervisor."""
        self._reached("kafka:before forget")
        self._last.pop(supervisor_id, None)

    def _look(self, spec: SupervisorSpec, before: StreamState) -> StreamState:
        if self._kafka.down:
            return self._failed(before, StreamTrouble.UNREACHABLE)
        reads = spec.io_config.reads
        views = {n: v for n in self._kafka.names if reads(n) and (v := self._kafka.topic_view(n))}
        gone = before.topic_ids.keys() - views.keys()
        if not views or (gone and before.failures + 1 < GONE_AFTER):
            return self._failed(before, StreamTrouble.NO_TOPIC)
        logs = {p: log for _, seen in views.values() for p, log in seen.items()}
        return StreamState(
            topic_ids={name: topic_id for name, (topic_id, _) in views.items()},
            earliest={p: log.start for p, log in logs.items()},
            latest={p: log.end for p, log in logs.items()},
            stable={p: log.stable for p, log in logs.items()},
            read_at=self._clock.now(),
        )

    def _failed(self, before: StreamState, trouble: StreamTrouble) -> StreamState:
        now = self._clock.now()
        return before.after_failure(trouble, str(trouble), before.failures + 1, now)
