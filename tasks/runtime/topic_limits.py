"""How large a message the topics of a broker take."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

__all__ = ["message_bytes_max"]

_WITHIN_S = 5.0
_LIMIT = "max.message.bytes"


def message_bytes_max(admin: AdminClient, names: Sequence[str]) -> Mapping[str, int]:
    """Return topic -> its `max.message.bytes`, of those topics whose brokers say it in time."""
    if not names:
        return {}
    resources = {ConfigResource(ResourceType.TOPIC, name): name for name in names}
    try:
        answers: Mapping[ConfigResource, Future[Mapping[str, ConfigEntry]]]
        answers = admin.describe_configs(list(resources), request_timeout=_WITHIN_S)
    except KafkaException:
        return {}
    limits = {}
    for resource, answer in answers.items():
        try:
            entry = answer.result(_WITHIN_S + 1).get(_LIMIT)
        except (KafkaException, TimeoutError):
            continue  # to describe a topic's configuration is a right of its own
        if entry is not None and entry.value is not None:
            limits[resources[resource]] = int(entry.value)
    return limits
