"""Commits that a broker has lost on the way to the partitions, and the owner that comes next."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial

import pytest

from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.core.executions.inputs import KillIt, PauseIt
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    POSITION_FORM,
    ExecutionPurge,
    PartitionPosition,
)
from supervisor.ports.flows.execution_log import POSITION_KEY, LogEntry, LogTopic
from tests.environment.execution_topics import make_execution_topics
from tests.environment.hanging import HangingWriter, unverified
from tests.supervisor.core.crashes.scenarios.on_kafka import OnKafka

PLAN = FlowPlan("f", 1, (Step("a", CallWork("noop")),))


class WithoutPosition(HangingWriter):
    """Writes everything but what comes last."""

    def write(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """Leave the position out."""
        super().write(entries[:-1], topics)


@pytest.fixture
def engine(broker: Broker) -> Iterator[OnKafka]:
    """An owner of new topics of one partition."""
    with closing(OnKafka(make_execution_topics(broker.bootstrap))) as first:
        yield first


def _hang(engine: OnKafka, writer: type[HangingWriter]) -> None:
    """Let an owner kill an execution, and its transaction hang."""
    with unverified(engine.topics.bootstrap):
        owner = engine.new_owner(partial(KafkaPartitionLog, writer=writer))
        owner.take_over()
        answer = owner.ask([("e1", KillIt("ann"))])
        owner.turn()
        assert answer.done(), "the owner takes it for committed"
        answer.result()


def _numbers(engine: OnKafka) -> list[int]:
    return [event.number for event in engine.events("e1")]


def test_what_an_owner_has_committed_counts_though_the_broker_lost_the_end_of_it(
    engine: OnKafka,
) -> None:
    """KAFKA-20734: a coordinator passes over partitions without a leader."""
    engine.start(PLAN, "e1")
    _hang(engine, HangingWriter)

    engine.restart()

    assert engine.get("e1").killed
    assert engine.owner.held.execution("e1") == engine.get("e1")
    engine.send("e1", PauseIt("bob"))
    assert _numbers(engine) == [*range(1, len(_numbers(engine)) + 1)]


def test_what_is_not_whole_never_appears(engine: OnKafka) -> None:
    engine.start(PLAN, "e1")
    before = engine.get("e1")
    _hang(engine, WithoutPosition)

    engine.restart()

    assert engine.get("e1") == before
    assert engine.owner.held.execution("e1") == before
    engine.send("e1", PauseIt("bob"))
    assert (engine.get("e1").state, engine.get("e1").killed) == ("PAUSED", False)
    assert _numbers(engine) == [*range(1, len(_numbers(engine)) + 1)]


def test_letters_for_other_partitions_come_with_it(broker: Broker) -> None:
    topics = make_execution_topics(broker.bootstrap, 2)
    client, names = topics.client, {each: topics.topics.name(each) for each in LogTopic}
    body = LETTER_FORM.write(ExecutionPurge())
    position = POSITION_FORM.write(PartitionPosition(writer="hangs"))
    writer = HangingWriter(client, topics.topics.transactional_id(0))
    with unverified(broker.bootstrap), closing(writer) as hanging:
        hanging.fence()
        entries = [
            LogEntry(LogTopic.HISTORY, 1, b"e1", body),
            LogEntry(LogTopic.RESULTS, 0, b"e1", body),
            LogEntry(LogTopic.STATE, 0, POSITION_KEY.encode(), position),
        ]
        hanging.write(entries, names)

    with closing(topics), closing(KafkaPartitionLog(client, topics.topics, 0)) as log:
        restored = log.take_over()

        assert [(one.key, one.value) for one in restored] == [(POSITION_KEY, position)]
        for topic in (LogTopic.HISTORY, LogTopic.RESULTS):
            assert [(one.key, one.value) for one in topics.read(topic)] == [("e1", body)]
