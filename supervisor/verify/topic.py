"""The topic's side of the proof: which offsets hold records now, read by a separate consumer.

It reads like a read-committed consumer, joins no group, commits nothing, and shares no code with
the workers.  Every wait has a deadline.

    per partition   start ─► low watermark above it? ─► unreadable up to there
                      │
                      ▼ messages: add each offset       deleted meanwhile: look again
                    end ◄── a message at or past it, or the end of the partition

Control records and aborted transactions leave holes, so an end is a position, never a record.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
)
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigEntry, ConfigResource
from confluent_kafka.admin._topic import TopicDescription

from supervisor.core.values.errors import StreamUnavailable
from supervisor.verify.runs import RunBuilder, Runs
from tasks.contract.kafka_client import KafkaClient, ReadSecret, librdkafka_properties
from tasks.contract.offsets import TopicPartition

SILENCE = timedelta(seconds=60)
"""How long Kafka may be silent before the verification gives up."""

_ASK_S = 15.0
_BATCH = 5_000
_POLL_S = 0.5


@dataclass
class TopicRead:
    """The result of reading the topics, by partition."""

    records: dict[TopicPartition, Runs] = field(default_factory=dict)
    unreadable: dict[TopicPartition, Runs] = field(default_factory=dict)
    compacted: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def read_topic(
    client: KafkaClient,
    read_secret: ReadSecret,
    wanted: Mapping[TopicPartition, tuple[int, int]],
    *,
    topic_ids: Mapping[str, str],
    progress: Callable[[int], None],
    silence: timedelta = SILENCE,
) -> TopicRead:
    """Return which offsets of `[first, end)` hold a record; `progress` counts offsets passed.

    Raises:
        StreamUnavailable: Kafka cannot be reached, or has gone silent.
    """
    properties = librdkafka_properties(client, read_secret)
    reading = _TopicReading(properties, wanted, progress, silence)
    try:
        reading.prepare(topic_ids)
        reading.run()
        return reading.result()
    except KafkaException as error:
        raise StreamUnavailable(_format_error(error, client.bootstrap_servers)) from error
    finally:
        reading.close()


class _TopicReading:
    def __init__(
        self,
        properties: Mapping[str, str],
        wanted: Mapping[TopicPartition, tuple[int, int]],
        progress: Callable[[int], None],
        silence: timedelta,
    ) -> None:
        self._properties = dict(properties) | {"log_level": "0"}
        self._last_error = ""
        self._consumer = Consumer(
            {
                **self._properties,
                "group.id": f"tidegate-verify-{uuid.uuid4()}",  # assigned by hand, never committed
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                "queued.max.messages.kbytes": 32_768,
                "error_cb": self._note_error,
            }
        )
        self._progress = progress
        self._passed = 0
        """Offsets not yet passed to `progress`, which is called once a batch."""
        self._silence_s = silence.total_seconds()
        self._end = {p: end for p, (first, end) in wanted.items() if first < end}
        self._position = {p: wanted[p][0] for p in self._end}
        self._found = {p: RunBuilder() for p in self._end}
        self._holes: dict[TopicPartition, list[tuple[int, int]]] = {}
        self._open = set(self._end)
        self._compacted: set[str] = set()
        self._notes: list[str] = []

    def close(self) -> None:
        self._consumer.close()

    def prepare(self, topic_ids: Mapping[str, str]) -> None:
        """Look up which partitions exist, and begin to read them."""
        cluster = self._consumer.list_topics(timeout=_ASK_S)
        admin = AdminClient(dict(self._properties))
        for topic in sorted({p.topic for p in self._open}):
            metadata = cluster.topics.get(topic)
            if metadata is None or metadata.error is not None:
                self._give_up(topic, f"the topic {topic} is not there any more")
            elif _changed(admin, topic, topic_ids.get(topic)):
                self._give_up(topic, f"the topic {topic} was deleted and made anew")
            else:
                if _is_compacted(admin, topic):
                    self._compacted.add(topic)
                for partition in [p for p in self._open if p.topic == topic]:
                    if partition.partition not in metadata.partitions:
                        self._skip_to(partition, self._end[partition])
        for partition in sorted(self._open):
            self._skip_expired(partition)
        self._consumer.assign([Place(*p, self._position[p]) for p in sorted(self._open)])

    def run(self) -> None:
        """Read until every partition has ended."""
        heard = time.monotonic()
        while self._open:
            messages = self._consumer.consume(_BATCH, _POLL_S)
            if messages:
                heard = time.monotonic()
            elif time.monotonic() - heard > self._silence_s:
                raise StreamUnavailable(
                    f"Kafka said nothing for {self._silence_s:.0f} s, with "
                    f"{len(self._open)} partitions to read. {self._last_error}".strip()
                )
            for message in messages:
                self._take(message)
            self._progress(self._passed)
            self._passed = 0

    def result(self) -> TopicRead:
        return TopicRead(
            {p: found.runs() for p, found in self._found.items()},
            {p: Runs.unsorted(holes) for p, holes in self._holes.items()},
            frozenset(self._compacted),
            tuple(self._notes),
        )

    def _take(self, message: Message) -> None:
        topic, number, offset = message.topic(), message.partition(), message.offset()
        error = message.error()
        if topic is None or number is None or number < 0:
            if error is not None and error.fatal():
                raise KafkaException(error)
            return  # about a broker: the client goes on trying, and `run` watches the silence
        at = TopicPartition(topic, number)
        if at not in self._open:
            return
        if error is not None:
            self._take_error(at, error, offset or 0)
            return
        assert offset is not None
        if offset < self._end[at]:
            self._found[at].add(offset)
        self._pass(at, min(offset + 1, self._end[at]))
        if self._position[at] >= self._end[at]:
            self._finish(at)

    def _take_error(self, at: TopicPartition, error: KafkaError, offset: int) -> None:
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 -- its public name
            self._take_end(at, offset)
        elif error.code() in {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}:  # noqa: SLF001 -- same
            before = self._position[at]
            self._skip_expired(at)
            if at not in self._open:
                return
            if self._position[at] == before:
                self._finish(at)  # beyond the topic's end
            else:
                # After such an error the partition is stopped, and cannot be sought in.
                self._consumer.incremental_unassign([Place(*at)])
                self._consumer.incremental_assign([Place(*at, self._position[at])])
        elif error.code() in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION}:  # noqa: SLF001 -- same
            self._skip_to(at, self._end[at])
        elif not error.retriable():
            raise KafkaException(error)

    def _take_end(self, at: TopicPartition, reached: int) -> None:
        """End the partition here for now; go on only if the broker has more to show.

        A new leader shows less for a moment: its watermark comes late.
        """
        _, high = self._consumer.get_watermark_offsets(Place(*at), timeout=_ASK_S)
        if reached >= self._end[at] or high < self._end[at]:
            self._finish(at)

    def _skip_expired(self, at: TopicPartition) -> None:
        low, _ = self._consumer.get_watermark_offsets(Place(*at), timeout=_ASK_S)
        if low > self._position[at]:
            self._skip_to(at, min(low, self._end[at]))

    def _skip_to(self, at: TopicPartition, offset: int) -> None:
        self._holes.setdefault(at, []).append((self._position[at], offset))
        self._pass(at, offset)
        if offset >= self._end[at]:
            self._finish(at)

    def _give_up(self, topic: str, note: str) -> None:
        self._notes.append(note)
        for at in [p for p in self._open if p.topic == topic]:
            self._skip_to(at, self._end[at])

    def _pass(self, at: TopicPartition, position: int) -> None:
        self._passed += position - self._position[at]
        self._position[at] = position

    def _finish(self, at: TopicPartition) -> None:
        self._open.discard(at)
        if any(
            place.topic == at.topic and place.partition == at.partition
            for place in self._consumer.assignment()
        ):
            self._consumer.pause([Place(*at)])

    def _note_error(self, error: KafkaError) -> None:
        self._last_error = error.str()


def _changed(admin: AdminClient, topic: str, expected: str | None) -> bool:
    """Whether the topic's id differs from that of the committed offsets; False on an old broker."""
    if expected is None:
        return False
    futures: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection([topic]), request_timeout=_ASK_S
    )
    try:
        actual = str(futures[topic].result(_ASK_S).topic_id)
    except (KafkaException, TimeoutError):
        return False
    return actual != expected


def _is_compacted(admin: AdminClient, topic: str) -> bool:
    """Whether the topic is compacted; also False if the broker does not say."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    futures: Mapping[ConfigResource, Future[dict[str, ConfigEntry]]] = admin.describe_configs(
        [resource], request_timeout=_ASK_S
    )
    try:
        policy = futures[resource].result(_ASK_S)["cleanup.policy"].value
    except (KafkaException, TimeoutError, KeyError):
        return False
    return "compact" in str(policy)


def _format_error(error: KafkaException, servers: str) -> str:
    first = error.args[0] if error.args else error
    text = first.str() if isinstance(first, KafkaError) else str(first)
    return f"Kafka at {servers}: {text}"
