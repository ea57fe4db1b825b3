"""Replay of bad records to another topic, each at most once, one transaction per replay.

    fence ─► which origins does the topic have? ─► send the others ─► commit
      └ an earlier replay to this topic has committed by now, or never will

Each record names its origin in a header, and in another one the replay that sent it.  So a replay
that is repeated after a crash knows what it has sent.  A topic is refused if some of its origins
cannot be read, because records were deleted or are behind another producer's open transaction.
Arrow is imported at the first replay, so an overlord without replays does not need its memory.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as Place

from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.values.errors import (
    SourceUnreadable,
    StorageUnavailable,
    StreamUnavailable,
    TooManyLooks,
)
from tasks.contract.connection_policy import ConnectionPolicy
from tasks.contract.kafka_client import KafkaClient, ReadSecret, librdkafka_properties
from tasks.runtime.secrets import without_secrets

ORIGIN = "tidegate-origin"
"""Header with the origin of a record: `topic:partition:offset`."""
MARK = "tidegate-replay"
"""Header with the mark of the replay that sent a record, if that has one."""
SILENCE_S = 30.0
"""Timeout for an answer of Kafka."""
TRANSACTION_S = 300.0
SCANNED_MAX = 500_000
"""Offsets of a topic that an overlord looks through, to bound its memory."""
LOOKED_MAX, LOOKED_S, LOOKS_MAX = 50_000, 5.0, 2
"""Offsets, seconds and callers at once of a look for a waiting caller."""
_BATCH_ROWS, _BATCH_BYTES = 1_000, 32 * 1024 * 1024
_ASK_S = 15.0
_PLACE = ["topic", "partition", "offset", "reason"]
_COLUMNS = ["__time", *_PLACE, "key", "value", "headers"]
_HOPELESS = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "the user of the spec may not write to the topic",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the user of the spec may not write with the "
    "transactional id tidegate-replay-<topic>",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "the user of the spec may not write here",
    KafkaError.MSG_SIZE_TOO_LARGE: "a record is larger than the topic or its broker allows",
    KafkaError.INVALID_TIMESTAMP: "the topic does not accept the records' time",
    KafkaError.POLICY_VIOLATION: "a rule of the broker forbids it",
}
"""Error of Kafka -> why a repeat fails as well."""


@dataclass(frozen=True)
class ReplayJob:
    """The input of one replay: files of records, connection, limits."""

    files: Sequence[Path]
    client: Mapping[str, str]
    """Properties of librdkafka."""
    wanted: ReplayRequest
    """An empty mark: records get no header with it."""
    scanned_max: int | None = None
    """Offsets of the topic that are looked through at most; None: any number."""
    silence_s: float = SILENCE_S
    stopping: Callable[[], bool] = lambda: False

    @property
    def topic(self) -> str:
        """The target."""
        return self.wanted.topic

    def go_on(self) -> None:
        """Return unless the process is about to end.

        Raises:
            StreamUnavailable: a repeat, perhaps by another process, goes on.
        """
        if self.stopping():
            raise StreamUnavailable("the overlord stops: the next leader sends them")


@dataclass(frozen=True)
class _Present:
    """The origins of a topic's committed records."""

    origins: frozenset[str]
    mine: frozenset[str]
    """Those that an earlier try of this replay has sent."""


class KafkaReplays:
    """Implements `ports.tables.replays.ReplaySender`."""

    def __init__(self, warehouse: Path, read_secret: ReadSecret, policy: ConnectionPolicy) -> None:
        """Paths of files are relative to `warehouse`; `policy` says where it may connect."""
        self._root = warehouse
        self._read_secret = read_secret
        self._policy = policy
        self._looks = threading.BoundedSemaphore(LOOKS_MAX)

    def there(self, client: KafkaClient, wanted: ReplayRequest, paths: Sequence[str]) -> int | None:
        """Return how many of the wanted records the topic has; see the port."""
        job = self._job(client, wanted, paths, lambda: False, LOOKED_S)
        if not self._looks.acquire(blocking=False):
            raise TooManyLooks(LOOKS_MAX)
        try:
            with _reported(job), _readable():
                marks = _watermarks(job)
                if sum(high for _, high in marks.values()) > LOOKED_MAX:
                    return None
                had = _present(job, marks, time.monotonic() + LOOKED_S).origins
                return len(had.intersection(_origin(row) for row in _rows(job, _PLACE)))
        finally:
            self._looks.release()

    def send(
        self,
        client: KafkaClient,
        wanted: ReplayRequest,
        paths: Sequence[str],
        stopping: Callable[[], bool],
    ) -> ReplayOutcome:
        """Send the records that the topic does not have yet; see the port."""
        return replay(self._job(client, wanted, paths, stopping))

    def _job(
        self,
        client: KafkaClient,
        wanted: ReplayRequest,
        paths: Sequence[str],
        stopping: Callable[[], bool],
        silence_s: float = SILENCE_S,
    ) -> ReplayJob:
        if refused := [each.text for each in self._policy.client_refusals(client)]:
            raise SourceUnreadable(
                f"the operator's rules forbid this connection: {'; '.join(refused)}"
            )
        properties = librdkafka_properties(client, self._read_secret)
        files = [self._root / path for path in paths]
        return ReplayJob(files, properties, wanted, SCANNED_MAX, silence_s, stopping)


def replay(job: ReplayJob) -> ReplayOutcome:
    """Send the records that the topic does not have yet.

    Raises:
        SourceUnreadable: the topic does not exist, or not all of its origins can be read.
        StreamUnavailable: Kafka does not answer; a repeat sends nothing twice.
        StorageUnavailable: a file cannot be read; nothing was sent.
    """
    with _reported(job):
        try:
            producer = Producer(
                {
                    **job.client,
                    "transactional.id": f"tidegate-replay-{job.topic}",
                    "transaction.timeout.ms": int(TRANSACTION_S * 1000),
                    "log_level": 0,
                }
            )
            producer.init_transactions(job.silence_s)  # before reading: fences any earlier replay
            marks = _watermarks(job)
            outcome = _send(producer, job, _present(job, marks))
            ends = {partition: high for partition, (_, high) in _watermarks(job).items()}
        except KafkaException as error:
            raise StreamUnavailable(
                f"Kafka failed the replay: {_reason(error)}. "
                "Run it again: what was sent is found, and nothing is sent twice"
            ) from error
    return ReplayOutcome(outcome.sent, outcome.there, outcome.more, ends)


@contextmanager
def _reported(job: ReplayJob) -> Iterator[None]:
    """Turn errors of Kafka's client into ours."""
    try:
        yield
    except (KafkaException, StreamUnavailable) as error:
        cause = error if isinstance(error, KafkaException) else error.__cause__
        reason = cause.args[0] if isinstance(cause, KafkaException) and cause.args else None
        code = reason.code() if isinstance(reason, KafkaError) else None
        if (why := _HOPELESS.get(code or 0)) is not None:
            raise SourceUnreadable(f"{job.topic}: {why}; nothing was sent") from error
        if isinstance(error, StreamUnavailable):
            raise
        raise StreamUnavailable(f"no answer about {job.topic}: {_reason(error)}") from error


@contextmanager
def _readable() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise StorageUnavailable(f"errors files cannot be read: {error}") from error


def _reason(error: KafkaException) -> str:
    reason: object = error.args[0] if error.args else error
    return without_secrets(reason.str() if isinstance(reason, KafkaError) else str(reason))


def _send(producer: Producer, job: ReplayJob, present: _Present) -> ReplayOutcome:
    sent, there, more, seen = len(present.mine), 0, False, set(present.mine)
    producer.begin_transaction()
    try:
        with _readable():
            for row in _rows(job, _COLUMNS):
                origin = _origin(row)
                if origin in seen:
                    continue  # sent by this replay, or quarantined twice: it was read again
                if origin in present.origins:
                    there += 1
                elif sent >= job.wanted.most:
                    more = True
                    break
                else:
                    job.go_on()
                    _produce(producer, job, row, origin)
                    sent += 1
                seen.add(origin)
    except BaseException:
        producer.abort_transaction(job.silence_s)
        raise
    try:
        producer.commit_transaction(job.silence_s)  # flushes first, fails if a record was not sent
    except KafkaException as error:
        if error.args[0].txn_requires_abort():  # else readers wait for its end
            with suppress(KafkaException):
                producer.abort_transaction(job.silence_s)
        raise
    return ReplayOutcome(sent, there, more)


def _origin(row: Mapping[str, object]) -> str:
    return f"{row['topic']}:{row['partition']}:{row['offset']}"


def _produce(producer: Producer, job: ReplayJob, row: Mapping[str, object], origin: str) -> None:
    at, key, value, headers = (row[name] for name in ("__time", "key", "value", "headers"))
    assert isinstance(at, datetime)
    assert isinstance(key, bytes | None)
    assert isinstance(value, bytes | None)
    kept = [(h["key"], h["value"]) for h in headers] if isinstance(headers, list) else []
    ours = [(ORIGIN, origin.encode()), (MARK, job.wanted.mark.encode())]
    now = int(time.time() * 1000)
    deadline = time.monotonic() + job.silence_s
    while True:
        try:
            producer.produce(
                job.topic,
                value,
                key,
                headers=[*kept, *(each for each in ours if each[1])],
                timestamp=int(at.timestamp() * 1000) if job.wanted.keep_time else now,
            )
        except BufferError:
            if time.monotonic() > deadline:
                raise _silent() from None
            producer.poll(0.1)
        else:
            producer.poll(0)
            return


def _rows(job: ReplayJob, columns: list[str]) -> Iterator[Mapping[str, object]]:
    import pyarrow.parquet as pq

    wanted = job.wanted
    for path in job.files:
        with pq.ParquetFile(path) as file:
            groups = range(file.metadata.num_row_groups)
            size = sum(file.metadata.row_group(each).total_byte_size for each in groups)
            fitting = _BATCH_BYTES * file.metadata.num_rows // max(1, size)
            batch_rows = max(1, min(_BATCH_ROWS, fitting))
            for batch in file.iter_batches(batch_rows, columns=columns):
                for row in batch.to_pylist():
                    if wanted.reason in {None, row["reason"]} and wanted.partition in {
                        None,
                        row["partition"],
                    }:
                        yield row


def _present(
    job: ReplayJob, marks: Mapping[int, tuple[int, int]], until: float | None = None
) -> _Present:
    """Return the origins of the topic's committed records; `until`: a deadline of the whole."""
    if any(low for low, _ in marks.values()):
        raise SourceUnreadable(
            f"records were deleted from {job.topic}: what was sent cannot be known; "
            "make a new topic that keeps its records (retention.ms -1), and send to that"
        )
    offsets = sum(high for _, high in marks.values())
    if job.scanned_max is not None and offsets > job.scanned_max:
        raise SourceUnreadable(
            f"{job.topic} has {offsets:,} offsets: more than an overlord looks through for what "
            "was sent; send to a topic of their own, or by `tidegate quarantine replay` from a "
            "shell with the warehouse"
        )
    origins: set[str] = set()
    mine: set[str] = set()
    with _consumer(job, "read_committed") as consumer:
        unread = {partition for partition, (_, high) in marks.items() if high}
        consumer.assign([Place(job.topic, partition, 0) for partition in unread])
        deadline = time.monotonic() + job.silence_s
        while unread:
            job.go_on()
            for message in consumer.consume(_BATCH_ROWS, 0.5):
                deadline = time.monotonic() + job.silence_s
                if message.error() is None:
                    sent = _named(message, ORIGIN)
                    origins.update(sent)
                    if job.wanted.mark in _named(message, MARK):
                        mine.update(sent)
                else:
                    unread.discard(_ended(message, job, marks))
            if time.monotonic() > (deadline if until is None else min(until, deadline)):
                raise _silent()
    return _Present(frozenset(origins), frozenset(mine))


def _ended(message: Message, job: ReplayJob, marks: Mapping[int, tuple[int, int]]) -> int:
    """Return the partition that was read to its end; refuse it behind an open transaction."""
    error, partition, offset = message.error(), message.partition(), message.offset()
    if error is None or error.code() != KafkaError._PARTITION_EOF or partition is None:  # noqa: SLF001 -- its public name
        raise KafkaException(error)
    if offset is None or offset < marks[partition][1]:
        raise SourceUnreadable(
            f"a transaction is open in {job.topic}:{partition}: records behind it cannot be read; "
            "send to a topic that nobody else writes to, or wait until it has ended"
        )
    return partition


def _named(message: Message, name: str) -> list[str]:
    """Return the last header of this name, in a list; a record replayed twice has two."""
    headers: object = message.headers() or []
    assert isinstance(headers, list)
    values = [value for key, value in headers if key == name and isinstance(value, bytes)]
    return [value.decode("utf-8", "replace") for value in values[-1:]]


def _watermarks(job: ReplayJob) -> dict[int, tuple[int, int]]:
    """Return partition -> (first offset, end offset), open transactions included."""
    ask_s = min(_ASK_S, job.silence_s)
    with _consumer(job, "read_uncommitted") as consumer:
        # All topics are requested, because a request by name would create one on some brokers.
        topics = consumer.list_topics(timeout=ask_s).topics
        if job.topic not in topics:
            raise SourceUnreadable(
                f"there is no topic {job.topic}: create it first, so that it keeps its records"
            )
        return {
            p: consumer.get_watermark_offsets(Place(job.topic, p), timeout=ask_s)
            for p in sorted(topics[job.topic].partitions)
        }


@contextmanager
def _consumer(job: ReplayJob, isolation: str) -> Iterator[Consumer]:
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
