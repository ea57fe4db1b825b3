"""The topics of executions at the start of an executor: made where there are none, then verified.

What is wrong is said at once, with the setting and the command that mends it, and nothing is
started.  A topic that was made anew or has other partitions is never used: entities would be
somewhere else than their records.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

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
from supervisor.adapters.executions.kafka.permits import missing_rights
from supervisor.adapters.executions.kafka.rights import TOO_OLD, KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopic, ExecutionTopics
from supervisor.adapters.executions.kafka.verifying import SeenTopic, not_the_kept_one, troubles_of
from supervisor.ports.flows.execution_log import LogAway, LogRefuses, LogTopic
from tasks.contract.kafka_client import Overheard

__all__ = ["look_at_topics", "prepare_topics", "remake_topics", "topics_now"]

_WITHIN_S = 10.0
_LEADERS_WITHIN_S = 30.0
_DOCTOR_WITHIN_S = 5.0


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
    ready = _ready_topics(client, topics, kept.all(), within_s)
    kept.keep(ready)
    for each in ready:  # another executor may have been first, with other ones
        if (first := kept.all()[each.of]).topic_id != each.topic_id:
            raise LogRefuses(not_the_kept_one(topics.all[each.of], first))


def remake_topics(client: Mapping[str, str], topics: ExecutionTopics) -> Sequence[KeptTopic]:
    """Make what is missing, whatever was there before, and verify everything; keep nothing.

    Raises:
        LogRefuses, LogAway: as `prepare_topics`.
    """
    return _ready_topics(client, topics, {}, _WITHIN_S)


def topics_now(
    client: Mapping[str, str], topics: ExecutionTopics
) -> tuple[Mapping[LogTopic, str], Sequence[str]]:
    """Return the id of each topic that is there and may be seen, and what is wrong with them.

    Raises:
        LogAway: Kafka does not answer.
        LogRefuses: it refuses to say anything.
    """
    looking = _Looking(client, topics, _WITHIN_S)
    with looking.answered():
        seen = looking.seen(without=looking.missing())
        troubles = [*looking.troubles(seen, {}), *missing_rights(looking.admin, client, topics)]
    return {of: one.topic_id for of, one in seen.items() if one is not None}, troubles


def _ready_topics(
    client: Mapping[str, str],
    topics: ExecutionTopics,
    before: Mapping[LogTopic, KeptTopic],
    within_s: float,
) -> Sequence[KeptTopic]:
    """Make what is missing and was not there before, verify everything; return what it is."""
    looking = _Looking(client, topics, within_s)
    with looking.answered():
        missing = [topics.all[each] for each in looking.missing()]
        _make(looking.admin, missing, before, looking.login)
        seen = looking.seen()
        troubles = [*looking.troubles(seen, before), *missing_rights(looking.admin, client, topics)]
    if troubles:
        raise LogRefuses("; ".join(troubles))
    return [
        KeptTopic(topic.of, topic.name, topic.partitions, one.topic_id, _settings(topic, one))
        for topic in topics.all.values()
        if (one := seen[topic.of]) is not None
    ]


def _settings(topic: ExecutionTopic, seen: SeenTopic) -> Mapping[str, str]:
    """Return what is asked of a topic, as the broker has it."""
    config = seen.config or {}
    return {name: config.get(name, "") for name in topic.config}


def look_at_topics(
    client: Mapping[str, str], topics: ExecutionTopics, before: Mapping[LogTopic, KeptTopic]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of the topics that are not there, and what is wrong; make nothing.

    `before`: what is kept.

    Raises:
        LogAway: Kafka does not answer.
        LogRefuses: it refuses to say anything.
    """
    looking = _Looking(client, topics, _DOCTOR_WITHIN_S)
    with looking.answered():
        missing = looking.missing()
        seen = looking.seen(without=missing)
        troubles = [*looking.troubles(seen, before), *missing_rights(looking.admin, client, topics)]
    return [topics.name(each) for each in missing], troubles


class _Looking:
    """A look at the topics, by a client of its own."""

    def __init__(self, client: Mapping[str, str], topics: ExecutionTopics, within_s: float) -> None:
        self._heard = Overheard()
        self._topics = topics
        self._within_s = within_s
        self.login = KafkaLogin.of(client, topics)
        properties: dict[str, Any] = {**client, "error_cb": self._heard.hear, "log_level": 0}
        self.admin = AdminClient(properties)

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Say why there was no answer."""
        try:
            yield
        except KafkaException as error:
            with suppress(KafkaException):
                self.admin.poll(0)  # what it has reported
            doing = "the topics of executions"
            raise self.login.meaning_of(error, doing, self._heard) from error

    def missing(self) -> Sequence[LogTopic]:
        """Return those that are not there; one that may only be hidden is not among them."""
        known = set(self.admin.list_topics(timeout=self._within_s).topics)
        unseen = {
            each.name: each.of for each in self._topics.all.values() if each.name not in known
        }
        if not unseen:
            return []
        answers = _describe(self.admin, list(unseen))
        return [unseen[name] for name, answer in answers.items() if _is_missing(answer)]

    def seen(self, without: Collection[LogTopic] = ()) -> Mapping[LogTopic, SeenTopic | None]:
        """Return each topic as the broker describes it; None: it does not, to this user."""
        topics = [each for each in self._topics.all.values() if each.of not in without]
        if not topics:
            return {}
        described = _describe(self.admin, [each.name for each in topics])
        resources = {each.of: ConfigResource(ResourceType.TOPIC, each.name) for each in topics}
        configs: Mapping[ConfigResource, Future[Mapping[str, ConfigEntry]]] = (
            self.admin.describe_configs(list(resources.values()), request_timeout=_WITHIN_S)
        )
        return {
            each.of: _seen(described[each.name], configs[resources[each.of]]) for each in topics
        }

    def troubles(
        self,
        seen: Mapping[LogTopic, SeenTopic | None],
        before: Mapping[LogTopic, KeptTopic],
    ) -> Iterator[str]:
        """Yield what is wrong with the topics."""
        for of, one in seen.items():
            yield from troubles_of(self._topics.all[of], one, before.get(of), self.login)


def _make(
    admin: AdminClient,
    missing: Sequence[ExecutionTopic],
    before: Mapping[LogTopic, KeptTopic],
    login: KafkaLogin,
) -> None:
    for topic in missing:
        if (kept := before.get(topic.of)) is not None:
            raise LogRefuses(
                f"{kept.name} is gone: with it went what executions had there.  Restore it from a "
                "backup of the brokers, or write it from the tables: tidegate execution "
                "restore-topics"
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
            if reason.code() in TOO_OLD:
                raise login.meaning_of(error, f"making {topic.name}") from error
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


def _describe(admin: AdminClient, names: Sequence[str]) -> "Mapping[str, Future[TopicDescription]]":
    described: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(list(names)), include_authorized_operations=True, request_timeout=_WITHIN_S
    )
    return described


def _is_missing(described: "Future[TopicDescription]") -> bool:
    try:
        described.result(_WITHIN_S + 1)
    except KafkaException as error:
        code: int = error.args[0].code()
        return code == KafkaError.UNKNOWN_TOPIC_OR_PART  # a hidden one is refused
    return False


def _seen(
    described: "Future[TopicDescription]", configured: "Future[Mapping[str, ConfigEntry]]"
) -> SeenTopic | None:
    try:
        topic = described.result(_WITHIN_S + 1)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return None
        raise
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
