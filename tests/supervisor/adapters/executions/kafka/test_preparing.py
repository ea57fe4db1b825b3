"""Topics at the start of an executor: made once, then verified; what is wrong is named."""

import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.kafka.kept import KeptTopic, KeptTopics
from supervisor.adapters.executions.kafka.preparing import prepare_topics
from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.verifying import SeenTopic, troubles_of
from supervisor.dev.broker import Broker
from supervisor.ports.flows.execution_log import LogAway, LogRefuses, LogTopic
from tests.environment.brokers import create_topic
from tests.environment.executions import executions_sqlite_url, migrated_executions_file
from tests.supervisor.adapters.executions.kafka.old_broker import an_old_broker
from tests.waiting import wait_until

__all__ = ["executions_sqlite_url", "migrated_executions_file"]
_NUMBERS = itertools.count(1)
_WITHIN_S = 30.0
ANN = KafkaLogin("tidegate.", "ann")


@pytest.fixture
def kept(executions_sqlite_url: str) -> Iterator[KeptTopics]:
    """A database in which nothing is kept."""
    with closing(ExecutionDatabase(executions_sqlite_url)) as database:
        yield KeptTopics(database)


@pytest.fixture
def topics() -> ExecutionTopics:
    """Names that no other test uses."""
    return ExecutionTopics(f"tidegate.prepared{next(_NUMBERS)}.", entities=2, calls=3)


def test_they_are_made_at_the_first_start_and_kept(
    broker: Broker, topics: ExecutionTopics, kept: KeptTopics
) -> None:
    client = {"bootstrap.servers": broker.bootstrap}
    prepare_topics(client, topics, kept)
    first = kept.all()
    prepare_topics(client, topics, kept)

    assert kept.all() == first
    assert {one.name: one.partitions for one in first.values()} == {
        f"{topics.prefix}history": 2,
        f"{topics.prefix}state": 2,
        f"{topics.prefix}calls": 3,
        f"{topics.prefix}results": 2,
        f"{topics.prefix}dead": 1,
    }
    assert len({one.topic_id for one in first.values()}) == len(LogTopic)
    assert {one.of: one.settings for one in first.values()} == {
        one.of: one.config for one in topics.all.values()
    }


def test_what_is_wrong_is_named_with_its_command(
    broker: Broker, topics: ExecutionTopics, kept: KeptTopics
) -> None:
    create_topic(broker.bootstrap, topics.name(LogTopic.HISTORY), partitions=3)
    create_topic(broker.bootstrap, topics.name(LogTopic.STATE), partitions=2)

    with pytest.raises(LogRefuses) as refused:
        prepare_topics({"bootstrap.servers": broker.bootstrap}, topics, kept)

    text = str(refused.value)
    assert f"{topics.prefix}history has 3 partitions, and needs 2" in text
    assert f"kafka-topics --create --topic {topics.prefix}history --partitions 2" in text
    assert f"{topics.prefix}state has cleanup.policy=delete, and needs compact" in text
    assert (
        f"kafka-configs --alter --entity-type topics --entity-name {topics.prefix}state "
        "--add-config cleanup.policy=compact"
    ) in text
    assert kept.all() == {}


def test_a_topic_that_is_gone_or_made_anew_is_not_used(
    broker: Broker, topics: ExecutionTopics, kept: KeptTopics
) -> None:
    client = {"bootstrap.servers": broker.bootstrap}
    prepare_topics(client, topics, kept)
    name = topics.name(LogTopic.STATE)
    admin = AdminClient({**client, "log_level": 0})
    admin.delete_topics([name])[name].result(_WITHIN_S)
    wait_until(lambda: name not in admin.list_topics(timeout=_WITHIN_S).topics)
    with pytest.raises(LogRefuses, match=r"state is gone"):
        prepare_topics(client, topics, kept)

    config = topics.all[LogTopic.STATE].config
    create_topic(broker.bootstrap, name, partitions=2, config=config)
    with pytest.raises(LogRefuses, match=r"somebody has made it anew.*log_topics"):
        prepare_topics(client, topics, kept)


def test_a_broker_that_does_not_answer_is_away(topics: ExecutionTopics, kept: KeptTopics) -> None:
    with pytest.raises(LogAway):
        prepare_topics({"bootstrap.servers": "127.0.0.1:1"}, topics, kept, within_s=1)


def test_brokers_that_are_too_old_are_refused_with_what_to_do(
    topics: ExecutionTopics, kept: KeptTopics
) -> None:
    with an_old_broker() as address, pytest.raises(LogRefuses) as refused:
        prepare_topics({"bootstrap.servers": address}, topics, kept)

    assert "too old: executions need Kafka 2.8 or newer" in str(refused.value)
    assert "TIDEGATE_EXECUTIONS_KAFKA" in str(refused.value)
    assert kept.all() == {}


@pytest.mark.parametrize(
    "code",
    [KafkaError.UNSUPPORTED_VERSION, KafkaError._UNSUPPORTED_FEATURE],
)
def test_whatever_a_broker_does_not_know_is_a_refusal(code: int) -> None:
    meaning = ANN.meaning_of(KafkaException(KafkaError(code)), "taking over seq-1")

    assert isinstance(meaning, LogRefuses)
    assert "Kafka 2.8 or newer" in str(meaning)


def test_a_topic_without_an_id_is_of_brokers_that_are_too_old(topics: ExecutionTopics) -> None:
    topic = topics.all[LogTopic.HISTORY]
    seen = SeenTopic(2, "AAAAAAAAAAAAAAAAAAAAAA", None, topic.config)

    [trouble] = troubles_of(topic, seen, None, ANN)

    assert trouble.startswith(f"{topic.name} has no id: the brokers")


def test_a_missing_right_is_named_with_its_command(topics: ExecutionTopics) -> None:
    topic = topics.all[LogTopic.HISTORY]
    may = frozenset({"READ", "DESCRIBE"})
    seen = SeenTopic(2, "id", may, topic.config)

    [trouble] = troubles_of(topic, seen, None, ANN)
    assert trouble == (
        f"WRITE on {topic.name} is missing: kafka-acls --add --allow-principal User:ann "
        f"--operation Write --topic {topic.name}"
    )
    [trouble] = troubles_of(topic, replace(seen, operations=None, config=None), None, ANN)
    assert "--operation DescribeConfigs" in trouble
    assert list(troubles_of(topic, replace(seen, operations=frozenset({"ALL"})), None, ANN)) == []


@pytest.mark.parametrize(
    ("topic", "setting", "value", "fits"),
    [
        (LogTopic.HISTORY, "retention.ms", "-1", True),
        (LogTopic.HISTORY, "retention.ms", "86400000", False),
        (LogTopic.HISTORY, "retention.bytes", "1000000", False),
        (LogTopic.STATE, "max.message.bytes", "1048588", False),
        (LogTopic.STATE, "cleanup.policy", "compact,delete", False),
        (LogTopic.STATE, "segment.bytes", "1048576", True),
        (LogTopic.STATE, "min.compaction.lag.ms", "60000", False),
    ],
)
def test_a_setting_may_be_better_and_not_worse(
    topics: ExecutionTopics, topic: LogTopic, setting: str, value: str, fits: bool
) -> None:
    wanted = topics.all[topic]
    kept = KeptTopic(topic, wanted.name, wanted.partitions, "id")
    seen = SeenTopic(wanted.partitions, "id", None, {**wanted.config, setting: value})

    troubles = list(troubles_of(wanted, seen, kept, ANN))

    assert len(troubles) == (0 if fits else 1)
    assert all(setting in trouble for trouble in troubles)


def test_a_setting_that_was_changed_is_named_with_what_it_was(topics: ExecutionTopics) -> None:
    wanted = topics.all[LogTopic.HISTORY]
    kept = KeptTopic(wanted.of, wanted.name, wanted.partitions, "id", wanted.config)
    of_before = replace(kept, settings=None)
    seen = SeenTopic(wanted.partitions, "id", None, {**wanted.config, "retention.ms": "86400000"})

    [trouble] = troubles_of(wanted, seen, kept, ANN)
    [without] = troubles_of(wanted, seen, of_before, ANN)

    was = " (it was 604800000 when executions began on it)"
    assert f"has retention.ms=86400000, and needs 604800000{was}: kafka-configs" in trouble
    assert without == trouble.replace(was, "")


def test_the_command_makes_a_topic_that_fits(topics: ExecutionTopics) -> None:
    assert topics.all[LogTopic.DEAD].command == (
        f"kafka-topics --create --topic {topics.prefix}dead --partitions 1 "
        "--config cleanup.policy=delete --config retention.bytes=-1 "
        "--config retention.ms=2592000000 --config max.message.bytes=2097152"
    )
