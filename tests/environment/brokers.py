"""Real brokers for tests: jars from a cache shared by all runs, data below the test's folder."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from supervisor.dev import topics
from supervisor.dev.broker import Broker
from tasks.runtime.jars import KAFKA, JarGroup, ensure_jars
from tasks.runtime.java import Java, find_java

__all__ = [
    "Record",
    "create_topic",
    "new_broker",
    "produce",
    "read_all",
    "read_records",
    "shared_cache_dir",
    "shared_jars",
    "shared_jars_dir",
    "shared_java",
    "start_test_broker",
]

_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Record:
    """What is sent, or was: the value and what stands beside it."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = 0
    """To be sent with; 0: now.  What is read has none."""


def shared_cache_dir() -> Path:
    """What may stay from run to run: TIDEGATE_TEST_CACHE, or a folder that git ignores."""
    named = os.environ.get("TIDEGATE_TEST_CACHE")
    return Path(named) if named else Path(__file__).parents[2] / ".tidegate-cache"


def shared_jars_dir() -> Path:
    """The jars' cache of all tests."""
    return shared_cache_dir() / "jars"


def shared_java() -> Java:
    """The Java of this run: TIDEGATE_JAVA, or what is found."""
    return find_java(os.environ.get("TIDEGATE_JAVA", "auto"), shared_cache_dir() / "truststore")


def shared_jars(part: JarGroup) -> list[Path]:
    """The jars of SPARK or KAFKA, fetched if this machine has none yet."""
    return ensure_jars(shared_jars_dir(), shared_java(), part)


def create_topic(
    bootstrap: str, topic: str, *, partitions: int = 1, config: Mapping[str, str] | None = None
) -> None:
    """Create a topic that nobody else has made on this broker, or fail.

    Two tests with one topic would read each other's records, in some orders of the tests alone.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    assert topic not in admin.list_topics(timeout=_TIMEOUT_S).topics, f"{topic} exists already"
    topics.create_topic(bootstrap, topic, partitions=partitions, config=config)


def new_broker(folder: Path) -> Broker:
    """A broker with its data in `folder`, not yet started."""
    return Broker(folder, shared_java(), shared_jars(KAFKA))


@contextmanager
def start_test_broker(folder: Path) -> Iterator[Broker]:
    """Run a broker with its data in `folder`; it answers when the body starts."""
    broker = new_broker(folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def produce(
    bootstrap: str,
    topic: str,
    values: Iterable[bytes | str | Record],
    *,
    partition: int | None = None,
    config: Mapping[str, str | int | bool] | None = None,
) -> int:
    """Send records and return their number when the broker has acknowledged each of them.

    Without `partition`, record n goes to partition n modulo their number.
    """
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 3}
        | dict(config or {})
    )
    partitions = len(producer.list_topics(topic, timeout=_TIMEOUT_S).topics[topic].partitions)
    assert partitions, f"there is no topic {topic}"
    failed: list[KafkaError] = []
    note = _noting(failed)
    sent = 0
    for value in values:
        to = sent % partitions if partition is None else partition
        while not _sent(producer, topic, value, to, note):
            producer.poll(0.1)
        sent += 1
        if sent % 1000 == 0:
            producer.poll(0)
    left = producer.flush(_TIMEOUT_S)
    assert not left, f"{left} records of {topic} not acknowledged within {_TIMEOUT_S} s"
    assert not failed, f"{len(failed)} records of {topic} refused, the first: {failed[0]}"
    return sent


def read_all(bootstrap: str, topic: str) -> dict[int, list[bytes]]:
    """The values of a topic as it ends now, by partition, in order; committed records only."""
    found = _messages(bootstrap, topic)
    return {p: [message.value() or b"" for message in held] for p, held in found.items()}


def read_records(bootstrap: str, topic: str) -> dict[tuple[int, int], tuple[Record, int]]:
    """(Partition, offset) -> the record there and its time in milliseconds; committed ones only."""
    return {
        (partition, message.offset() or 0): (_record(message), message.timestamp()[1])
        for partition, held in _messages(bootstrap, topic).items()
        for message in held
    }


def _record(message: Message) -> Record:
    headers: list[tuple[str, bytes | None]] = []
    for header in message.headers() or []:
        assert isinstance(header, tuple)
        name, value = header
        assert not isinstance(value, str)
        headers.append((name, value))
    return Record(message.value(), message.key(), tuple(headers))


def _messages(bootstrap: str, topic: str) -> dict[int, list[Message]]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"tests-read-all-{topic}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    try:
        seen = consumer.list_topics(topic, timeout=_TIMEOUT_S).topics[topic].partitions
        messages: dict[int, list[Message]] = {p: [] for p in seen}
        consumer.assign([TopicPartition(topic, p, 0) for p in seen])
        unread = set(seen)
        while unread:
            message = consumer.poll(_TIMEOUT_S)
            assert message is not None, f"{topic}: no answer within {_TIMEOUT_S} s"
            partition = message.partition()
            assert partition is not None
            if (error := message.error()) is None:
                messages[partition].append(message)
            else:
                assert error.code() == KafkaError._PARTITION_EOF, str(error)
                unread.discard(partition)
        return messages
    finally:
        consumer.close()


def _noting(failed: list[KafkaError]) -> Callable[[KafkaError | None, Message], None]:
    def note(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    return note


def _sent(
    producer: Producer,
    topic: str,
    value: bytes | str | Record,
    partition: int,
    note: Callable[[KafkaError | None, Message], None],
) -> bool:
    sent = value if isinstance(value, Record) else Record(_bytes(value))
    try:
        producer.produce(
            topic,
            sent.value,
            sent.key,
            partition=partition,
            headers=list(sent.headers),
            timestamp=sent.timestamp_ms,
            on_delivery=note,
        )
    except BufferError:
        return False
    return True


def _bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value
