"""The Kafka metadata reader: one reading of the topics of a spec, with a deadline of the caller.

A client's own errors only say that a timeout passed.  `Connection.why` adds the client's messages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ListOffsetsResultInfo,
    OffsetSpec,
    TopicDescription,
)

from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.wished_offsets import TimedRecord
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from tasks.contract.kafka_client import (
    NO_ANSWER_ADVICE,
    OF_ADMIN_CLIENTS,
    KafkaClient,
    Overheard,
    ReadSecret,
    librdkafka_properties,
)
from tasks.contract.offsets import TopicPartition
from tasks.runtime.secrets import without_secrets

Left = Callable[[], float]
"""Returns how many seconds the next request may take."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MARGIN_S = 1.0
"""Seconds beyond a request's own timeout that the caller waits for the request's future."""
_ALL_BROKERS_DOWN = -187
"""The code of librdkafka's error of this name."""
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class NoTopic(Exception):
    """The broker answers, but does not have the topic."""


class BadProperties(Exception):
    """The client refuses the connection properties of a spec, for example an invalid key."""


class ReportingAdminClient:
    """An AdminClient, with the messages that it reports beside its answers."""

    def __init__(self, client: KafkaClient, read_secret: ReadSecret) -> None:
        """Create the client, which connects by itself.

        Raises:
            BadProperties: the client refuses its properties.
            What `read_secret` raises.
        """
        properties = librdkafka_properties(client, read_secret)
        self._servers = client.bootstrap_servers
        self._overheard = Overheard()
        self._has_lost_all = False
        more = {"log_level": "0", "error_cb": self._hear}  # a log would repeat the errors
        try:
            self._admin = AdminClient({**properties, **OF_ADMIN_CLIENTS, **more})  # type: ignore[dict-item]  # no callbacks
        except KafkaException as error:
            text = f"Kafka's client refuses these properties: {_reason(error)}"
            raise BadProperties(text) from error

    def has_lost_brokers(self) -> bool:
        """Return whether all connections to brokers have ended since the last call.

        Asks no broker, and waits for none.  A broker that hangs ends no connection.
        """
        while self._admin.poll(0):
            pass
        has_lost, self._has_lost_all = self._has_lost_all, False
        return has_lost

    def _hear(self, error: KafkaError) -> None:
        self._overheard.hear(error)
        if error.code() == _ALL_BROKERS_DOWN:
            self._has_lost_all = True

    def read(self, source: KafkaIoConfig, left: Left) -> StreamState:
        """Return topic ids and offsets of every partition.

        Raises:
            NoTopic: there is no topic to read; the caller decides what to do.
            KafkaException, TimeoutError: no answer.
        """
        described = _described(self._admin, _named(self._admin, source, left), left)
        partitions = [
            KafkaPartition(topic, info.id)
            for topic, description in sorted(described.items())
            for info in description.partitions
        ]
        if not partitions:
            raise NoTopic(self._none_of(source))
        committed = IsolationLevel.READ_COMMITTED
        return StreamState(
            topic_ids={topic: str(each.topic_id) for topic, each in described.items()},
            earliest=_offsets(self._admin, partitions, _EARLIEST, left),
            latest=_offsets(self._admin, partitions, _LATEST, left),
            stable=_offsets(self._admin, partitions, _LATEST, left, isolation=committed),
        )

    def records_at(
        self, partitions: Iterable[TopicPartition], at: datetime, left: Left
    ) -> dict[TopicPartition, TimedRecord]:
        """Return the first committed record of each partition with that time or a later one.

        A partition without such a record is left out.

        Raises:
            KafkaException, TimeoutError: no answer.
        """
        # Below 0 Kafka takes a time for one of its own words; no record is older than 1970.
        millis = max(0, -(-(at - _EPOCH) // timedelta(milliseconds=1)))
        records = _listed(
            self._admin,
            [KafkaPartition(*partition) for partition in partitions],
            OffsetSpec.for_timestamp(millis),
            left,
            IsolationLevel.READ_COMMITTED,
        )
        return {
            p: TimedRecord(each.offset, _EPOCH + timedelta(milliseconds=each.timestamp))
            for p, each in records.items()
            if each.offset >= 0
        }

    def why(self, error: KafkaException | TimeoutError) -> str:
        """Return why a reading failed, and what to do about it."""
        while self._admin.poll(0):
            pass
        reason, advice = self._overheard.why() or (_reason(error), NO_ANSWER_ADVICE)
        reason = without_secrets(reason)
        return f"no answer from {self._servers} ({reason}): {advice}"

    def _none_of(self, source: KafkaIoConfig) -> str:
        if source.topic_pattern is not None:
            return f"no topic on {self._servers} matches {source.topic_pattern}"
        return f"topic {source.topic} does not exist on {self._servers}"


def _reason(error: KafkaException | TimeoutError) -> str:
    found = error.args[0] if error.args else None
    text = found.str() if isinstance(found, KafkaError) else str(error)
    return without_secrets(text) or "within the deadline"


def _named(admin: AdminClient, source: KafkaIoConfig, left: Left) -> list[str]:
    """Return the names of the topics to read; for a pattern, the existing topics that match."""
    if source.topic is not None:
        return [source.topic]
    listed = admin.list_topics(timeout=left()).topics
    return sorted(name for name in listed if source.reads(name))


def _described(
    admin: AdminClient, topics: Sequence[str], left: Left
) -> Mapping[str, TopicDescription]:
    """Return the descriptions of the topics that exist."""
    if not topics:
        return {}
    futures: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(list(topics)), request_timeout=left()
    )
    descriptions = {}
    for topic, future in futures.items():
        try:
            descriptions[topic] = future.result(timeout=left() + _MARGIN_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
    return descriptions


def _offsets(
    admin: AdminClient,
    partitions: list[KafkaPartition],
    which: OffsetSpec,
    left: Left,
    *,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    listed = _listed(admin, partitions, which, left, isolation)
    offsets = {partition: each.offset for partition, each in listed.items()}
    if unanswered := [str(p) for p, offset in offsets.items() if offset < 0]:
        # If a partition leader is away, the client returns a result and no error.
        raise TimeoutError(f"the leader of {', '.join(unanswered)} does not answer")
    return offsets


def _listed(
    admin: AdminClient,
    partitions: list[KafkaPartition],
    which: OffsetSpec,
    left: Left,
    isolation: IsolationLevel,
) -> dict[TopicPartition, ListOffsetsResultInfo]:
    futures: Mapping[KafkaPartition, Future[ListOffsetsResultInfo]] = admin.list_offsets(
        dict.fromkeys(partitions, which), isolation_level=isolation, request_timeout=left()
    )
    return {
        TopicPartition(p.topic, p.partition): future.result(timeout=left() + _MARGIN_S)
        for p, future in futures.items()
    }
