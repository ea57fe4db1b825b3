"""Topics of executions for one test, and a reader of them that shares nothing with their owner."""

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)

from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import FILLER_KEY, LogTopic
from tests.environment.brokers import create_topic

__all__ = ["ReadRecord", "TopicsOfTest", "make_execution_topics"]

_WITHIN_S = 60.0
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class ReadRecord:
    """A committed record."""

    partition: int
    offset: int
    key: str
    value: bytes | None
    headers: Mapping[str, str]


def make_execution_topics(bootstrap: str, entities: int = 1) -> "TopicsOfTest":
    """Make topics that no other test has, with as many partitions for entities."""
    topics = ExecutionTopics(f"tidegate.test{next(_NUMBERS)}.executions.", entities, 1)
    for topic in topics.all.values():
        create_topic(bootstrap, topic.name, partitions=topic.partitions, config=topic.config)
    return TopicsOfTest(bootstrap, topics)


@dataclass
class TopicsOfTest:
    """Reads what is committed, from the first record on, and sends records of its own."""

    bootstrap: str
    topics: ExecutionTopics
    _read: dict[str, list[ReadRecord]] = field(default_factory=dict)
    _ends: dict[tuple[str, int], int] = field(default_factory=dict)
    _reader: Consumer | None = None

    def __post_init__(self) -> None:
        """Open the producer, and the consumer that is asked where partitions end."""
        self._producer = Producer({**self.client, "linger.ms": 0, "log_level": 0})
        self._peek = self._consumer("read_uncommitted")

    @property
    def client(self) -> Mapping[str, str]:
        """Where the topics are."""
        return {"bootstrap.servers": self.bootstrap}

    def send(self, topic: LogTopic, partition: int, key: str | bytes, value: bytes | None) -> int:
        """Append a record, and return its offset when it is there."""
        there: list[int] = []

        def note(error: KafkaError | None, message: Message) -> None:
            assert error is None, error
            there.append(message.offset() or 0)

        name = self.topics.name(topic)
        self._producer.produce(name, value, key, partition, on_delivery=note)
        assert self._producer.flush(_WITHIN_S) == 0
        return there[0]

    def read(self, topic: LogTopic, *, open_ones: bool = False) -> list[ReadRecord]:
        """Return every committed record of a topic, in order of its partitions' offsets.

        A commit is answered before all of it can be read: this waits for it.  `open_ones`: some
        transaction stays open, so what is behind its first record is not waited for.
        """
        if self._reader is None:
            self._reader = self._open()
        asked = self._reader if open_ones else self._peek
        wanted = self.topics.all[topic]
        places = [TopicPartition(wanted.name, part) for part in range(wanted.partitions)]
        ends = {
            (place.topic, place.partition): asked.get_watermark_offsets(
                place, _WITHIN_S, cached=False
            )[1]
            for place in places
        }
        deadline = time.monotonic() + _WITHIN_S
        while any(self._ends.get(place, 0) < end for place, end in ends.items()):
            assert time.monotonic() < deadline, f"{topic} is not read to its end"
            first = self._reader.poll(0.05)
            for message in () if first is None else (first, *self._reader.consume(500, 0)):
                self._take(message)
        records = self._read.get(wanted.name, ())
        return sorted(records, key=lambda one: (one.partition, one.offset))

    def _take(self, message: Message) -> None:
        error = message.error()
        offset, part, name = message.offset() or 0, message.partition() or 0, message.topic() or ""
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            self._ends[name, part] = offset
            return
        headers = {
            header: (value if isinstance(value, str) else (value or b"").decode())
            for header, value in dict(message.headers() or {}).items()
        }
        key = (message.key() or b"").decode(errors="replace")
        if message.key() != FILLER_KEY:
            record = ReadRecord(part, offset, key, message.value(), headers)
            self._read.setdefault(name, []).append(record)
        self._ends[name, part] = offset + 1

    def look_anew(self) -> None:
        """Look for ends by a new client: one of librdkafka asks a leader that has died for ever."""
        self._peek.close()
        self._peek = self._consumer("read_uncommitted")

    def end(self, topic: LogTopic, partition: int) -> int:
        """Return where a partition ends, behind what is no record too."""
        place = TopicPartition(self.topics.name(topic), partition)
        return self._peek.get_watermark_offsets(place, _WITHIN_S, cached=False)[1]

    def newest(self, topic: LogTopic, partition: int = 0) -> dict[str, bytes]:
        """Return the newest value of each key that has one."""
        values = {one.key: one.value for one in self.read(topic) if one.partition == partition}
        return {key: value for key, value in values.items() if value is not None}

    def close(self) -> None:
        """Close every consumer."""
        self._peek.close()
        if self._reader is not None:
            self._reader.close()

    def _open(self) -> Consumer:
        reader = self._consumer("read_committed")
        reader.assign(
            [
                TopicPartition(topic.name, part, OFFSET_BEGINNING)
                for topic in self.topics.all.values()
                for part in range(topic.partitions)
            ]
        )
        return reader

    def _consumer(self, isolation: str) -> Consumer:
        return Consumer(
            {
                **self.client,
                "group.id": "reader",
                "enable.auto.commit": False,
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,
                "log_level": 0,
            }
        )
