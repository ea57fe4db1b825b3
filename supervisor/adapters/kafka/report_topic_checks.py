"""What a broker says of the topics of reports: whether they are there, their limits, our rights."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    TopicDescription,
)

from supervisor.ports.store_problems import StoreAway
from tasks.runtime.topic_limits import message_bytes_max

__all__ = ["TopicFacts", "look_at_topics"]

_WITHIN_S = 5.0


@dataclass(frozen=True)
class TopicFacts:
    """A topic as a broker describes it."""

    name: str
    exists: bool
    operations: frozenset[str] | None = None
    """What this process may do with it, such as READ; None: the broker does not say."""
    bytes_max: int | None = None
    """The largest message that it takes; None: the broker does not say."""


def look_at_topics(client: Mapping[str, str], names: Sequence[str]) -> Sequence[TopicFacts]:
    """Return what the brokers say of each topic.

    Raises:
        StoreAway: they do not answer.
    """
    admin = AdminClient({**client, "log_level": "0"})
    try:
        known = admin.list_topics(timeout=_WITHIN_S).topics
    except KafkaException as error:
        raise StoreAway(error.args[0].str()) from error
    there = [name for name in names if name in known and known[name].error is None]
    operations, limits = _operations(admin, there), message_bytes_max(admin, there)
    return [
        TopicFacts(name, name in there, operations.get(name), limits.get(name)) for name in names
    ]


def _operations(admin: AdminClient, names: Sequence[str]) -> Mapping[str, frozenset[str]]:
    if not names:
        return {}
    answers: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(list(names)),
        include_authorized_operations=True,
        request_timeout=_WITHIN_S,
    )
    operations = {}
    for name, answer in answers.items():
        try:
            given = answer.result(_WITHIN_S + 1).authorized_operations
        except (KafkaException, TimeoutError):
            continue
        if given is not None:
            operations[name] = frozenset(each.name for each in given)
    return operations
