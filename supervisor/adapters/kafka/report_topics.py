"""The topics of reports, made where they are missing and the process may make them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # no __all__

from tasks.reporting.sizes import TOPIC_BYTES
from tasks.runtime.topic_limits import message_bytes_max

__all__ = [
    "LETTER_BYTES_MAX",
    "ReportTopic",
    "make_topics",
    "small_topics",
]

_WITHIN_S = 10.0
_DAY_MS = 24 * 3600 * 1000
LETTER_BYTES_MAX = TOPIC_BYTES + 64 * 1024
"""A record as it was read fits, with the headers that say why it is a dead letter."""


@dataclass(frozen=True)
class ReportTopic:
    """A topic as it is made; one that exists stays as it is."""

    name: str
    partitions: int
    days: int
    """How long its records are kept."""
    bytes_max: int = TOPIC_BYTES
    """Of a message."""

    @property
    def config(self) -> Mapping[str, str]:
        """Its configuration, as the broker names it."""
        return {
            "cleanup.policy": "delete",
            "retention.ms": str(self.days * _DAY_MS),
            "max.message.bytes": str(self.bytes_max),
        }

    @property
    def command(self) -> str:
        """What an administrator types to make it."""
        config = " ".join(f"--config {name}={each}" for name, each in self.config.items())
        return f"kafka-topics --create --topic {self.name} --partitions {self.partitions} {config}"


def make_topics(client: Mapping[str, str], topics: Sequence[ReportTopic]) -> Mapping[str, str]:
    """Make the topics that are missing; return name -> why one could not be made.

    `client`: properties of librdkafka that say where and as whom.
    """
    admin = AdminClient({**client, "log_level": "0"})
    wanted = [
        NewTopic(each.name, each.partitions, replication_factor=-1, config=dict(each.config))
        for each in topics
    ]
    try:
        answers: Mapping[str, Future[None]] = admin.create_topics(wanted, request_timeout=_WITHIN_S)
    except KafkaException as error:
        return {each.name: error.args[0].str() for each in topics}
    troubles = {}
    for name, answer in answers.items():
        try:
            answer.result(_WITHIN_S + 1)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                troubles[name] = error.args[0].str()
        except TimeoutError:
            troubles[name] = "no answer in time"
    return troubles


def small_topics(
    client: Mapping[str, str], topics: Sequence[ReportTopic]
) -> Mapping[ReportTopic, int]:
    """Return those that take less than they are made to take, with the bytes that they take."""
    admin = AdminClient({**client, "log_level": "0"})
    limits = message_bytes_max(admin, [each.name for each in topics])
    return {
        each: limits[each.name]
        for each in topics
        if limits.get(each.name, each.bytes_max) < each.bytes_max
    }
