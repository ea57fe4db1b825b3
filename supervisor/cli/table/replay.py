"""Replay of quarantined records to another topic, each at most once, one transaction per call.

    fence ─► which origins does the topic have? ─► send the others ─► commit
      └ an earlier replay to this topic has committed by now, or never will

Each record names its origin in a header.  A topic is refused if some of its origins cannot be read,
because records were deleted or are behind another producer's open transaction.
"""

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as Place

from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.errors import StreamUnavailable

ORIGIN = "tidegate-origin"
"""Header with the origin of a record: `topic:partition:offset`."""
SILENCE_S = 30.0
"""Timeout for an answer of Kafka."""
TRANSACTION_S = 300.0
_BATCH_ROWS = 1_000
_ASK_S = 15.0
_COLUMNS = ["__time", "topic", "partition", "offset", "reason", "key", "value", "headers"]


@dataclass(frozen=True)
class Replay:
    """The input of one replay: files of records, target topic, limits."""

    files: Sequence[Path]
    topic: str
    client: Mapping[str, str]
    """Properties of librdkafka."""
    reason: str | None = None
    most: int = 10_000
    keep_time: bool = False
    """Whether records keep their time in Kafka; a topic may delete old records at once."""


@dataclass
class Sent:
    """The result of one replay."""

    sent: int = 0
    there: int = 0
    """Records that the topic had already."""
    more: bool = False
    """Whether there are more records than one call sends."""
    ends: dict[int, int] = field(default_factory=dict)
    """Partition -> end offset of the topic after the replay."""


def replay(job: Replay) -> Sent:
    """Send the records that the topic does not have yet.

    Raises:
        CommandFailed: the topic does not exist, or not all of its origins can be read.
        StreamUnavailable: Kafka does not answer; a repeat sends nothing twice.
    """
    producer = Producer(
        {
            **job.client,
            "transactional.id": f"tidegate-replay-{job.topic}",
            "transaction.timeout.ms": int(TRANSACTION_S * 1000),
            "log_level": 0,
        }
    )
    try:
        producer.init_transactions(SILENCE_S)  # before reading: fences any earlier replay
        done = _send(producer, job, _origins(job))
        done.ends = {partition: high for partition, (_, high) in _watermarks(job).items()}
    except KafkaException as error:
        raise StreamUnavailable(
            f"Kafka failed the replay: {error.args[0] if error.args else error}. "
            "Run it again: what was sent is found, and nothing is sent twice"
        ) from error
    return done


def _send(producer: Producer, job: Replay, had: frozenset[str]) -> Sent:
    done = Sent()
    producer.begin_transaction()
    try:
        for row in _rows(job):
            origin = f"{row['topic']}:{row['partition']}:{row['offset']}"
            if origin in had:
                done.there += 1
            elif done.sent >= job.most:
                done.more = True
                break
            else:
                _produce(producer, job, row, origin)
                done.sent += 1
    except BaseException:
        producer.abort_transaction(SILENCE_S)
        raise
    producer.commit_transaction(SILENCE_S)  # flushes first, and fails if a record was not sent
    return done


def _produce(producer: Producer, job: Replay, row: Mapping[str, object], origin: str) -> None:
    at, key, value, headers = (row[name] for name in ("__time", "key", "value", "headers"))
    assert isinstance(at, datetime)
    assert isinstance(key, bytes | None)
    assert isinstance(value, bytes | None)
    kept = [(h["key"], h["value"]) for h in headers] if isinstance(headers, list) else []
    now = int(time.time() * 1000)
    deadline = time.monotonic() + SILENCE_S
    while True:
        try:
            producer.produce(
                job.topic,
                value,
                key,
                headers=[*kept, (ORIGIN, origin.encode())],
                timestamp=int(at.timestamp() * 1000) if job.keep_time else now,
            )
        except BufferError:
            if time.monotonic() > deadline:
                raise _silent() from None
            producer.poll(0.1)
        else:
            producer.poll(0)
            return


def _rows(job: Replay) -> Iterator[Mapping[str, object]]:
    for path in job.files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH_ROWS, columns=_COLUMNS):
                for row in batch.to_pylist():
                    if job.reason in {None, row["reason"]}:
                        yield row


def _origins(job: Replay) -> frozenset[str]:
    """Return the origins of the topic's committed records."""
    marks = _watermarks(job)
    if any(low for low, _ in marks.values()):
        raise CommandFailed(
            f"records were deleted from {job.topic}: what was sent cannot be known",
            "make a new topic that keeps its records (retention.ms -1), and send to that",
        )
    origins: set[str] = set()
    with _consumer(job, "read_committed") as consumer:
        unread = {partition for partition, (_, high) in marks.items() if high}
        consumer.assign([Place(job.topic, partition, 0) for partition in unread])
        deadline = time.monotonic() + SILENCE_S
        while unread:
            for message in consumer.consume(_BATCH_ROWS, 0.5):
                deadline = time.monotonic() + SILENCE_S
                if message.error() is None:
                    origins.update(_origin_of(message))
                else:
                    unread.discard(_ended(message, job, marks))
            if time.monotonic() > deadline:
                raise _silent()
    return frozenset(origins)


def _ended(message: Message, job: Replay, marks: Mapping[int, tuple[int, int]]) -> int:
    """Return the partition that was read to its end; refuse it behind an open transaction."""
    error, partition, offset = message.error(), message.partition(), message.offset()
    if error is None or error.code() != KafkaError._PARTITION_EOF or partition is None:  # noqa: SLF001 -- its public name
        raise KafkaException(error)
    if offset is None or offset < marks[partition][1]:
        raise CommandFailed(
            f"a transaction is open in {job.topic}:{partition}: records behind it cannot be read",
            "send to a topic that nobody else writes to, or wait until it has ended",
        )
    return partition


def _origin_of(message: Message) -> list[str]:
    """Return the last origin header of a record, in a list; a record replayed twice has two."""
    headers: object = message.headers() or []
    assert isinstance(headers, list)
    named = [value for key, value in headers if key == ORIGIN and isinstance(value, bytes)]
    return [value.decode("utf-8", "replace") for value in named[-1:]]


def _watermarks(job: Replay) -> dict[int, tuple[int, int]]:
    """Return partition -> (first offset, end offset), open transactions included."""
    with _consumer(job, "read_uncommitted") as consumer:
        # All topics are requested, because a request by name would create one on some brokers.
        topics = consumer.list_topics(timeout=_ASK_S).topics
        if job.topic not in topics:
            raise CommandFailed(
                f"there is no topic {job.topic}", "create it first, so that it keeps its records"
            )
        return {
            p: consumer.get_watermark_offsets(Place(job.topic, p), timeout=_ASK_S)
            for p in sorted(topics[job.topic].partitions)
        }


@contextmanager
def _consumer(job: Replay, isolation: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            **job.client,
            "group.id": f"tidegate-replay-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "auto.offset.reset": "error",
            "log_level": 0,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _silent() -> KafkaException:
    return KafkaException(KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001 -- its public name
