"""What is missing when Kafka refuses: a right, with its command, or a newer release of brokers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from confluent_kafka import KafkaError, KafkaException

from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import LogAway, LogFenced, LogRefuses
from tasks.contract.kafka_client import Overheard

__all__ = ["FENCED", "NEWER_BROKERS", "REFUSED", "TOO_OLD", "KafkaLogin"]

FENCED = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001 -- its public name
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.PRODUCER_FENCED,
    }
)
_TOO_SHORT = KafkaError.INVALID_TRANSACTION_TIMEOUT
_BY_PREFIX: Mapping[int, tuple[str, str, Sequence[str]]] = MappingProxyType(
    {
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
            "the transactional ids",
            "--transactional-id",
            ("Write", "Describe"),
        ),
        KafkaError.TOPIC_AUTHORIZATION_FAILED: (
            "the topics",
            "--topic",
            ("Read", "Write", "Describe", "DescribeConfigs"),
        ),
        KafkaError.GROUP_AUTHORIZATION_FAILED: ("the groups", "--group", ("Read",)),
    }
)
"""Error of Kafka -> what it is about: in words, as an option, and the rights that are needed."""
TOO_OLD = frozenset(
    {
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError._UNSUPPORTED_FEATURE,  # noqa: SLF001 -- its public name
    }
)
"""Errors of a broker that does not know a request, or one of its fields."""
NEWER_BROKERS = (
    "the brokers of TIDEGATE_EXECUTIONS_KAFKA are too old: executions need Kafka 2.8 or newer "
    "(`kafka-broker-api-versions --bootstrap-server HOST:PORT` shows what they know).  Upgrade "
    "them, name others, or leave TIDEGATE_EXECUTIONS_KAFKA unset: then executions run in the "
    "database"
)
"""What is said where a broker does not know what is needed of it."""
REFUSED = frozenset({*_BY_PREFIX, *TOO_OLD, KafkaError.CLUSTER_AUTHORIZATION_FAILED, _TOO_SHORT})
"""Errors that end when somebody acts."""


@dataclass(frozen=True)
class KafkaLogin:
    """Who a process is at the brokers, and what the names of its topics, groups and ids begin with.

    `user` is a placeholder where it logs in by a certificate, or not at all.
    """

    prefix: str
    user: str = "USER"

    @classmethod
    def of(cls, client: Mapping[str, str], topics: ExecutionTopics) -> Self:
        """Return the one of a client; `client`: properties of librdkafka."""
        return cls(topics.prefix, client.get("sasl.username", "USER"))

    def meaning_of(
        self, error: KafkaException, doing: str, heard: Overheard | None = None
    ) -> Exception:
        """Return the port's error for one of Kafka's outside a transaction.

        `heard`: what its client has reported meanwhile: why nothing is answered.
        """
        reason = error.args[0]
        if reason.code() in FENCED:
            return LogFenced(f"{doing}: {reason.str()}")
        if (missing := self.missing(reason.code())) is not None:
            return LogRefuses(f"{doing}: {reason.str()}; {missing}")
        why = None if heard is None else heard.why()
        return LogAway(f"{doing}: {reason.str()}" if why is None else f"{doing}: {'; '.join(why)}")

    def missing(self, code: int) -> str | None:
        """Return what is missing, and what gives it; None: nothing that somebody could give."""
        if code in TOO_OLD:
            return NEWER_BROKERS
        if code == _TOO_SHORT:
            return "the brokers need transaction.max.timeout.ms of at least 10000"
        if code == KafkaError.CLUSTER_AUTHORIZATION_FAILED:
            command = self.command(("IdempotentWrite",), "--cluster")
            return f"missing: IDEMPOTENT_WRITE on the cluster: {command}"
        if (about := _BY_PREFIX.get(code)) is None:
            return None
        words, option, operations = about
        names = ", ".join(_as_broker_says(each) for each in operations)
        # An empty prefix is none for Kafka: every name has it.
        place = f"{option} {self.prefix} --resource-pattern-type prefixed"
        command = self.command(operations, place if self.prefix else f"{option} '*'")
        return f"missing: {names} on {words} {self.prefix}*: {command}"

    def command(self, operations: Sequence[str], place: str) -> str:
        """Return what an administrator types; `place`: options that name the resource."""
        each = " ".join(f"--operation {operation}" for operation in operations)
        return f"kafka-acls --add --allow-principal {self.principal} {each} {place}"

    @property
    def principal(self) -> str:
        """The user as a shell takes it."""
        plain = all(sign.isalnum() or sign in "-_.@" for sign in self.user)
        return f"User:{self.user}" if plain else "'User:" + self.user.replace("'", "'\\''") + "'"


def _as_broker_says(operation: str) -> str:
    """Return DESCRIBE_CONFIGS of DescribeConfigs."""
    return "".join(f"_{sign}" if sign.isupper() else sign for sign in operation)[1:].upper()
