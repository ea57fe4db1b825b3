"""Topic creation on a development broker."""

import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

_TIMEOUT_S = 30.0
_POLL_S = 0.05


def create_topic(
    bootstrap: str,
    topic: str,
    *,
    partitions: int = 1,
    config: Mapping[str, str] | None = None,
) -> None:
    """Create a topic, and wait until each partition has a leader; an existing topic is unchanged.

    Raises:
        KafkaException: the broker does not answer or refuses.
        TimeoutError: the topic was created, but its partitions have no leaders in time.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    wanted = NewTopic(topic, num_partitions=partitions, config=dict(config or {}))
    try:
        admin.create_topics([wanted], request_timeout=_TIMEOUT_S)[topic].result(_TIMEOUT_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    deadline = time.monotonic() + _TIMEOUT_S
    while not _has_leaders(admin, topic):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} on {bootstrap} has partitions without a leader")
        time.sleep(_POLL_S)


def _has_leaders(admin: AdminClient, topic: str) -> bool:
    seen = admin.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
    return bool(seen.partitions) and all(p.leader >= 0 for p in seen.partitions.values())
