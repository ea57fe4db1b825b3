"""The topics of executions at the start of an executor: made where there are none, then verified.

What is wrong is said at once, with the setting and the command that mends it, and nothing is
started.  A topic that was made anew or has other partitions is never used: entities would be
somewhere else than their records.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from supervisor.adapters.executions.kafka.kept import KeptTopic, KeptTopics
from supervisor.adapters.executions.kafka.topics import ExecutionTopic, ExecutionTopics
from supervisor.adapters.executions.kafka.verifying import SeenTopic, not_the_kept_one, troubles_of
from supervisor.ports.flows.execution_log import LogAway, LogRefuses, LogTopic

__all__ = ["prepare_topics"]

_WITHIN_S = 10.0
_LEADERS_WITHIN_S = 30.0


def prepare_topics(
    client: Mapping[str, str],
    topics: ExecutionTopics,
    kept: KeptTopics,
    within_s: float = _WITHIN_S,
) -> None:
    """Make what is missing at the first start, verify everything, and keep what it is.

    `client`: properties of librdkafka that say where and as whom; `within_s`: for a first answer.

    Raises:
        LogRefuses: something is not as it has to be; the text names it and the command.
        LogAway: Kafka does not answer.
        StoreAway, StoreRefuses: the database.
    """
    admin = AdminClient({**client, "log_level": 0})
    before = kept.all()
    try:
        known = set(admin.list_topics(timeout=within_s).topics)
        _make(admin, [each for each in topics.all.values() if each.name not in known], before)
        seen = _look(admin, list(topics.all.values()))
    except KafkaException as error:
        raise LogAway(f"the topics of executions: {error.args[0].str()}") from error
    user = client.get("sasl.username", "USER")
    troubles = [
        trouble
        for topic in topics.all.values()
        for trouble in troubles_of(topic, seen[topic.of], before.get(topic.of), user)
    ]
    if troubles:
        raise LogRefuses("; ".join(troubles))
    kept.keep(
        [
            KeptTopic(topic.of, topic.name, topic.partitions, seen[topic.of].topic_id)
            for topic in topics.all.values()
        ]
    )
    for topic in topics.all.values():  # another executor may have been first, with other ones
        if (first := kept.all()[topic.of]).topic_id != seen[topic.of].topic_id:
            raise LogRefuses(not_the_kept_one(topic, first))


def _make(
    admin: AdminClient,
    missing: Sequence[ExecutionTopic],
    before: Mapping[LogTopic, KeptTopic],
) -> None:
    for topic in missing:
        if (kept := before.get(topic.of)) is not None:
            raise LogRefuses(
                f"{kept.name} is gone: with it went what executions had there.  Restore it from a "
                "backup of the brokers"
            )
    if not missing:
        return
    wanted = [
        NewTopic(each.name, each.partitions, replication_factor=-1, config=dict(each.config))
        for each in missing
    ]
    answers: Mapping[str, Future[None]] = admin.create_topics(wanted, request_timeout=_WITHIN_S)
    for topic in missing:
        try:
            answers[topic.name].result(_WITHIN_S + 1)
        except KafkaException as error:
            reason = error.args[0]
            if reason.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise LogRefuses(
                    f"{topic.name} cannot be made: {reason.str()}.  Let an administrator run: "
                    f"{topic.command}"
                ) from error
    _wait(lambda: not [each for each in missing if not _is_there(admin, each)])


def _is_there(admin: AdminClient, topic: ExecutionTopic) -> bool:
    known = admin.list_topics(topic.name, timeout=_WITHIN_S).topics[topic.name]
    leaders = [each.leader for each in known.partitions.values()]
    return known.error is None and bool(leaders) and min(leaders) >= 0


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + _LEADERS_WITHIN_S
    while not is_so():
        if time.monotonic() > until:
            raise LogAway(f"topics that were made have no leaders after {_LEADERS_WITHIN_S:.0f} s")
        time.sleep(0.1)


def _look(admin: AdminClient, topics: Sequence[ExecutionTopic]) -> Mapping[LogTopic, SeenTopic]:
    names = [each.name for each in topics]
    described: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(names), include_authorized_operations=True, request_timeout=_WITHIN_S
    )
    resources = {each.of: ConfigResource(ResourceType.TOPIC, each.name) for each in topics}
    configs: Mapping[ConfigResource, Future[Mapping[str, ConfigEntry]]] = admin.describe_configs(
        list(resources.values()), request_timeout=_WITHIN_S
    )
    return {each.of: _seen(described[each.name], configs[resources[each.of]]) for each in topics}


def _seen(
    described: "Future[TopicDescription]", configured: "Future[Mapping[str, ConfigEntry]]"
) -> SeenTopic:
    topic = described.result(_WITHIN_S + 1)
    try:
        entries = configured.result(_WITHIN_S + 1)
    except KafkaException:
        config = None
    else:
        config = {name: str(entry.value) for name, entry in entries.items()}
    operations = None
    if (may := topic.authorized_operations) is not None:
        operations = frozenset(each.name for each in may)
    return SeenTopic(len(topic.partitions), str(topic.topic_id), operations, config)
