"""Kafka offsets and topic ids for a task, read between its batches by confluent-kafka.

One look is three requests, each with a deadline.  Earliest offsets are read first and topic ids
last.  So a topic that is recreated in between shows its new id, and its offsets are never taken
for offsets of the old topic.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Event
from typing import TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined] # no __all__, yet documented
    AdminClient,
    ListOffsetsResultInfo,
    OffsetSpec,
    TopicDescription,
)

from tasks.contract.kafka_client import (
    OF_ADMIN_CLIENTS,
    KafkaClient,
    Overheard,
    ReadSecret,
    SecretRef,
    librdkafka_properties,
)
from tasks.contract.messages import FailureCode
from tasks.contract.offsets import TopicPartition
from tasks.ports import StreamTimeout, StreamView, TaskError
from tasks.runtime.secrets import Connections, NoSecret, secret_text

_MARGIN_S = 0.5
"""How much longer than its own timeout a request's future is awaited."""

_AGAIN_S = 0.5
"""Pause before the next look at a topic that seems missing, or seems to have no leader."""

_MISSING = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 -- librdkafka's names for its own findings
    KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001 -- same
    KafkaError.TOPIC_EXCEPTION,
}

_Value = TypeVar("_Value")


def environment_secret(secret: SecretRef) -> str:
    """Return a secret from this worker's environment, or from a file that the environment names.

    Raises:
        TaskError: the secret is not available here (REFUSED).
    """
    try:
        return secret_text(secret)
    except NoSecret as error:
        raise TaskError(FailureCode.REFUSED, f"this worker lacks a secret: {error}") from error


class CutOff(StreamTimeout):
    """The deadline of a look passed before an answer came; nothing is known about the topic."""


class KafkaStream:
    """`Stream` over librdkafka; one client per connection settings, kept for the next look."""

    def __init__(
        self,
        read_secret: ReadSecret = environment_secret,
        timeout_s: float = 5.0,
        patience_s: float = 3.0,
    ) -> None:
        """Connect to nothing yet.

        `timeout_s` bounds a look; for `patience_s` of it a missing topic is looked for again.
        """
        self._read_secret = read_secret
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._clients = Connections(read_secret, self._connected, missing=TaskError)

    def look(self, client: KafkaClient, partitions: Sequence[tuple[str, int]]) -> StreamView:
        """Read earliest and last stable offsets and topic ids.  Raises as `Stream.look`."""
        now = time.monotonic()
        until = now + self._timeout_s
        connection = self._clients.get(client)
        wanted = [TopicPartition(*p) for p in partitions]
        try:
            return settled(lambda: _looked(connection.admin, wanted, until), now + self._patience_s)
        except StreamTimeout as error:
            if (why := connection.why()) is None:
                raise
            raise StreamTimeout(f"{error}: {why[0]}: {why[1]}") from error

    def _connected(self, client: KafkaClient) -> "_AdminConnection":
        properties = librdkafka_properties(client, self._read_secret)
        try:
            return _AdminConnection(_admin_only(properties))
        except KafkaException as error:
            text = f"Kafka's client refuses these properties: {error.args[0].str()}"
            raise TaskError(FailureCode.REFUSED, text) from error


class _AdminConnection:
    """An admin client, and the connection errors that it reports outside its answers."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._overheard = Overheard()
        # Without a logger librdkafka writes to stderr; its errors reach us by exceptions.
        more = {"log_level": 0, "error_cb": self._overheard.hear}
        self.admin = AdminClient({**properties, **OF_ADMIN_CLIENTS, **more})  # type: ignore[dict-item]  # no callbacks

    def why(self) -> tuple[str, str] | None:
        """Return (why no answer came, the remedy); None: the client has reported nothing."""
        while self.admin.poll(0):
            pass
        return self._overheard.why()


def settled(look: Callable[[], StreamView], until: float) -> StreamView:
    """Look until there is a view, or the next look would begin after the monotonic time `until`.

    A new topic is unknown to some brokers for a moment, and its leaders refuse a moment longer.
    Leaders also refuse while they move.

    Raises:
        TaskError, StreamUnavailable: the last error with a content; a mere timeout has none.
    """
    failure: TaskError | StreamTimeout | None = None
    while True:
        try:
            return look()
        except CutOff as error:
            failure = failure or error
        except (TaskError, StreamTimeout) as error:
            failure = error
        if time.monotonic() + _AGAIN_S >= until:
            raise failure
        Event().wait(_AGAIN_S)


def _admin_only(properties: Mapping[str, str]) -> dict[str, str]:
    """Leave out properties of consumers only, because librdkafka would warn about them."""
    consumer = ("fetch.", "session.timeout.ms", "max.partition.fetch.bytes")
    return {k: v for k, v in properties.items() if not k.startswith(consumer)}


def _looked(admin: AdminClient, wanted: Sequence[TopicPartition], until: float) -> StreamView:
    try:
        earliest = _offsets(admin, wanted, OffsetSpec.earliest(), until)  # type: ignore[no-untyped-call]
        stable = _offsets(admin, wanted, OffsetSpec.latest(), until)  # type: ignore[no-untyped-call]
    except StreamTimeout:
        # A deleted topic and an absent leader give the same error: "no leaders found".
        _described(admin, wanted, until)
        raise
    topics = _described(admin, wanted, until)
    return StreamView(earliest, stable, {t: str(found.topic_id) for t, found in topics.items()})


def _offsets(
    admin: AdminClient, partitions: Sequence[TopicPartition], spec: OffsetSpec, until: float
) -> dict[TopicPartition, int]:
    offset_specs = {KafkaPartition(*p): spec for p in partitions}
    futures: dict[KafkaPartition, Future[ListOffsetsResultInfo]] = admin.list_offsets(
        offset_specs,
        isolation_level=IsolationLevel.READ_COMMITTED,
        request_timeout=_left(until),
    )
    results = {
        TopicPartition(p.topic, p.partition): _result(future, f"{p.topic}:{p.partition}", until)
        for p, future in futures.items()
    }
    if unanswered := [str(p) for p in partitions if results[p].offset < 0]:
        # If a leader is away, librdkafka returns this as a result, not as an error.
        raise CutOff(f"{', '.join(unanswered)}: its leader does not answer")
    return {partition: results[partition].offset for partition in partitions}


def _described(
    admin: AdminClient, partitions: Sequence[TopicPartition], until: float
) -> dict[str, TopicDescription]:
    """Describe the topics.

    Raises:
        TaskError: a topic or a partition does not exist.
    """
    topics = sorted({partition.topic for partition in partitions})
    futures: dict[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(topics), request_timeout=_left(until)
    )
    descriptions = {topic: _result(future, topic, until) for topic, future in futures.items()}
    known = {TopicPartition(t, p.id) for t, topic in descriptions.items() for p in topic.partitions}
    if missing := sorted(set(partitions) - known):
        names = ", ".join(str(partition) for partition in missing)
        raise TaskError(FailureCode.OFFSETS_UNREADABLE, f"{names} does not exist")
    return descriptions


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise CutOff("no answer within the deadline")
    return left


def _result(future: "Future[_Value]", what: str, until: float) -> _Value:
    try:
        return future.result(max(0.0, until - time.monotonic()) + _MARGIN_S)
    except FutureTimeout as error:
        raise CutOff(f"{what}: no answer within the deadline") from error
    except KafkaException as error:
        known: KafkaError = error.args[0]
        if known.code() in _MISSING:
            raise TaskError(
                FailureCode.OFFSETS_UNREADABLE, f"{what} does not exist: {known.str()}"
            ) from error
        cut_off = known.code() == KafkaError._TIMED_OUT  # noqa: SLF001 -- librdkafka's own deadline
        raise (CutOff if cut_off else StreamTimeout)(f"{what}: {known.str()}") from error
