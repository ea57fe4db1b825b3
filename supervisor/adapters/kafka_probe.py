"""One look at Kafka for somebody who waits: its own client, gone with the answer."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ListOffsetsResultInfo,
    OffsetSpec,
    TopicDescription,
)

from supervisor.core.errors import SecretMissing
from supervisor.core.spec_io import KafkaIoConfig
from supervisor.ports_probe import Probed, SourceUnreadable
from tasks.kafka_client import ReadSecret, librdkafka_properties
from tasks.offsets import TopicPartition

_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_LEAST_S = 0.1

_Value = TypeVar("_Value")


class KafkaProbe:
    """Implements `ports_probe.Probe` with AdminClient."""

    def __init__(self, read_secret: ReadSecret) -> None:
        """Connect to nothing yet."""
        self._read_secret = read_secret

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return the partitions' offsets.  Raises as `Probe.look`."""
        until = time.monotonic() + within.total_seconds()
        servers = source.client.bootstrap_servers
        try:
            properties = librdkafka_properties(source.client, self._read_secret)
            # Errors come as results of the calls; a log of its own would only repeat them.
            admin = AdminClient({**properties, "log_level": "0"})
            return _looked(admin, source, until)
        except SecretMissing as error:
            raise SourceUnreadable(str(error)) from error
        except (KafkaException, TimeoutError) as error:
            raise SourceUnreadable(
                f"no answer from {servers} ({_reason(error)}): check bootstrap.servers, and that "
                "the broker is up and lets this user in"
            ) from error


def _looked(admin: AdminClient, source: KafkaIoConfig, until: float) -> Probed:
    described = _described(admin, _named(admin, source, until), until)
    partitions = [
        KafkaPartition(topic, info.id)
        for topic, description in sorted(described.items())
        for info in description.partitions
    ]
    if not partitions:
        servers = source.client.bootstrap_servers
        if source.topic_pattern is not None:
            raise SourceUnreadable(
                f"no topic on {servers} matches {source.topic_pattern}: create one, or correct "
                "ioConfig.topicPattern"
            )
        raise SourceUnreadable(
            f"topic {source.topic} does not exist on {servers}: create it, or correct "
            "ioConfig.topic"
        )
    read = IsolationLevel.READ_COMMITTED
    return Probed(
        earliest=_offsets(admin, partitions, _EARLIEST, until),
        latest=_offsets(admin, partitions, _LATEST, until),
        stable=_offsets(admin, partitions, _LATEST, until, isolation=read),
    )


def _named(admin: AdminClient, source: KafkaIoConfig, until: float) -> list[str]:
    """Return the names of the topics to read; of a pattern, those that there are."""
    if source.topic is not None:
        return [source.topic]
    listed = admin.list_topics(timeout=_left(until)).topics
    return sorted(name for name in listed if source.reads(name))


def _described(
    admin: AdminClient, topics: Sequence[str], until: float
) -> Mapping[str, TopicDescription]:
    """Describe those that exist."""
    if not topics:
        return {}
    asked: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(list(topics)), request_timeout=_left(until)
    )
    found = {}
    for topic, future in asked.items():
        try:
            found[topic] = _result(future, until)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
    return found


def _offsets(
    admin: AdminClient,
    partitions: list[KafkaPartition],
    which: OffsetSpec,
    until: float,
    *,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    futures: Mapping[KafkaPartition, Future[ListOffsetsResultInfo]] = admin.list_offsets(
        dict.fromkeys(partitions, which), isolation_level=isolation, request_timeout=_left(until)
    )
    return {
        TopicPartition(p.topic, p.partition): _result(future, until).offset
        for p, future in futures.items()
    }


def _left(until: float) -> float:
    return max(_LEAST_S, until - time.monotonic())


def _result(future: "Future[_Value]", until: float) -> _Value:
    return future.result(_left(until))


def _reason(error: KafkaException | TimeoutError) -> str:
    if isinstance(error, KafkaException) and error.args:
        return str(error.args[0].str())
    return "within the deadline"
