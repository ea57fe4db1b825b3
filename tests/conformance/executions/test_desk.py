"""The topics of executions as people use them: how far partitions are, dead letters, replays."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer, TopicPartition

from supervisor.adapters.executions.kafka.desk import KafkaExecutionDesk, dead_inputs
from supervisor.core.executions.inputs import KillIt
from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.letters import LETTER_FORM, ExecutionGiven
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_desk import PartitionEnds
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.reports.kept_letters import LetterPlace
from tests.conformance.executions.test_topics import PLAN
from tests.environment.execution_topics import make_execution_topics
from tests.supervisor.core.crashes.scenarios.on_kafka import OnKafka


@pytest.fixture
def engine(broker: Broker) -> Iterator[OnKafka]:
    """An owner of the one partition."""
    with closing(OnKafka(make_execution_topics(broker.bootstrap))) as on_kafka:
        yield on_kafka


def test_a_partition_says_how_far_it_is(engine: OnKafka) -> None:
    topics = engine.topics
    desk = KafkaExecutionDesk(topics.client, topics.topics, partition_of)
    assert desk.ends() == [PartitionEnds(0, None, 0, 0)]

    engine.start(PLAN, "e1")
    history = topics.topics.name(LogTopic.HISTORY)
    member = Consumer({**topics.client, "group.id": topics.topics.group})
    member.commit(offsets=[TopicPartition(history, 0, 1)], asynchronous=False)
    member.close()
    topics.read(LogTopic.STATE)
    [ends] = desk.ends()

    assert (ends.position, ends.end) == (1, 1)
    assert ends.state_end >= topics.read(LogTopic.STATE)[-1].offset + 1


def test_dead_letters_are_counted_without_the_ends_of_transactions(engine: OnKafka) -> None:
    """Goal: an end of a transaction has an offset, and was counted as a letter."""
    topics = engine.topics
    kept = dead_inputs(topics.client, topics.topics)
    for n in (1, 2):
        topics.send(LogTopic.HISTORY, 0, "e1", b"no json")
        engine.start(PLAN, f"e{n + 1}")
        assert len(topics.read(LogTopic.DEAD)) == n

        for _ in range(2):
            assert [each.number for each in kept.extents()] == [n]


def test_a_dead_letter_is_read_and_sent_once_more(engine: OnKafka) -> None:
    topics = engine.topics
    topics.send(LogTopic.HISTORY, 0, "e1", b"no json")
    letter = LETTER_FORM.write(ExecutionGiven(KillIt("ann")))
    engine.append("e9", ExecutionGiven(KillIt("ann")))
    engine.start(PLAN, "e1")
    topics.read(LogTopic.DEAD)
    kept = dead_inputs(topics.client, topics.topics)

    first = kept.get(LetterPlace(0, 0))
    assert first is not None
    assert (first.letter.key, first.letter.body) == (b"e1", b"no json")
    assert (first.letter.partition, first.letter.offset) == (0, 0)
    assert "it is no JSON" in first.letter.reason
    assert [each.place.offset for each in kept.newest(None, None, 10)][-1] == 0

    KafkaExecutionDesk(topics.client, topics.topics, partition_of).send(b"e1", letter)
    engine.send("e1")
    sent = topics.read(LogTopic.HISTORY)[-1]
    assert (sent.partition, sent.key, sent.value) == (0, "e1", letter)
