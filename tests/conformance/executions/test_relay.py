"""Letters from the database to the history: in order, by one leader, each once."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import pytest
from sqlalchemy import insert

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.kafka.kept import KeptTopic, KeptTopics
from supervisor.adapters.executions.kafka.relaying import KafkaHistoryWriter, kept_history
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.adapters.executions.outbox import SqlOutbox
from supervisor.adapters.executions.schema import OUTBOX
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import KillIt, PauseIt, ResumeIt
from supervisor.core.executions.plan import ApproveWork, CallWork, FlowPlan, Step
from supervisor.core.executions.states import ExecutionState
from supervisor.dev.broker import Broker
from supervisor.executions import relay as relays
from supervisor.executions.letter_engine import LetterEngine
from supervisor.executions.relay import HistoryRelay
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionStart,
    Letter,
)
from supervisor.ports.flows.execution_log import LogAway, LogFenced, LogRefuses, LogTopic
from tests.environment.execution_topics import TopicsOfTest, make_execution_topics
from tests.supervisor.core.crashes.scenarios.on_kafka import OnKafka
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.waiting import wait_until

pytestmark = pytest.mark.kafka

_CALLS = FlowPlan("calls", 1, (Step("a", CallWork("noop")),))
_ASKS = FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),))


class Killed(BaseException):
    """The process ends here: nothing catches it."""


@dataclass
class Sends:
    """A database with letters, topics, and relays between them."""

    stored: Stored
    database: ExecutionDatabase
    topics: TopicsOfTest

    def relay(self, reach: Callable[[str], None] = lambda _: None, term: int = 1) -> HistoryRelay:
        """Return the relay of a leader; its thread is not started."""
        return HistoryRelay(
            SqlOutbox(self.database),
            lambda: KafkaHistoryWriter(self.topics.client, self.topics.topics),
            self.topics.topics.entities,
            lambda: term,
            reach,
        )

    def engine(self, nudge: Callable[[], None] = lambda: None) -> LetterEngine:
        """Return the engine of the leader."""
        return LetterEngine(
            self.stored.store, lambda: 1, LANGUAGE, lambda: BEGAN, nudge, within_s=0
        )

    def history(self) -> list[tuple[str, object]]:
        """Return what is committed, by the name of its entity."""
        return [
            (each.key, LETTER_FORM.read(each.value or b""))
            for each in self.topics.read(LogTopic.HISTORY)
        ]

    def waiting(self) -> int:
        """Return how many letters are still in the database."""
        return len(SqlOutbox(self.database).first(1_000))


@pytest.fixture
def sends(executions_url: str, stored: Stored, broker: Broker) -> Iterator[Sends]:
    """A database and topics of their own."""
    with (
        closing(ExecutionDatabase(executions_url)) as database,
        closing(make_execution_topics(broker.bootstrap)) as topics,
    ):
        yield Sends(stored, database, topics)


def test_letters_go_to_the_history_in_their_order(
    sends: Sends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relays, "SENT_AT_ONCE", 2)
    starts = [Execution(f"e{n}", _ASKS, {}, BEGAN) for n in range(3)]
    engine, relay = sends.engine(), sends.relay()
    engine.work([("e0", PauseIt("ann"))], starts)

    assert [relay.run_once() for _ in range(3)] == [2, 2, 0]

    wanted: list[tuple[str, object]] = [(each.id, ExecutionStart(each)) for each in starts]
    assert sends.history() == [*wanted, ("e0", ExecutionGiven(PauseIt("ann")))]
    assert (sends.waiting(), relay.sent) == (0, 4)


def _die(_: str) -> None:
    raise Killed


def test_what_was_sent_before_a_crash_is_not_sent_again(sends: Sends) -> None:
    """Goal: a person's retry of a step that has failed again meanwhile is no second retry."""
    sends.engine().work(
        [("e1", PauseIt("ann")), ("e2", KillIt("ann"))],
        [Execution("e1", _CALLS, {}, BEGAN), Execution("e2", _CALLS, {}, BEGAN)],
    )
    with pytest.raises(Killed):
        sends.relay(_die).run_once()
    once = sends.history()
    assert (len(once), sends.waiting()) == (4, 4)
    sends.engine().work(starts=[Execution("e3", _CALLS, {}, BEGAN)])

    second = sends.relay(term=2)
    while second.run_once():
        pass

    assert sends.history()[:-1] == once
    assert [name for name, _ in sends.history()[-1:]] == ["e3"]
    assert (sends.waiting(), second.sent) == (0, 1)


def test_a_transaction_that_was_not_committed_is_sent_by_the_next_leader(
    sends: Sends, monkeypatch: pytest.MonkeyPatch
) -> None:
    sends.engine().work(starts=[Execution("e1", _CALLS, {}, BEGAN)])

    def die(_: PartitionProducer) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(PartitionProducer, "commit", die)
        with pytest.raises(Killed):
            sends.relay().run_once()
    assert sends.history() == []

    assert sends.relay(term=2).run_once() == 1
    assert [name for name, _ in sends.history()] == ["e1"]


def test_a_mark_of_a_database_that_was_restored_since_drops_nothing(sends: Sends) -> None:
    """Goal: numbers that begin anew name other letters."""
    sends.engine().work(starts=[Execution("e1", _CALLS, {}, BEGAN)])
    sends.relay().run_once()
    with sends.database.writing() as connection:
        body = LETTER_FORM.write(ExecutionGiven(KillIt("ann"))).decode()
        row = {"number": 1, "entity": "e9", "body": body, "at": BEGAN}
        connection.execute(insert(OUTBOX), row)

    assert sends.relay(term=2).run_once() == 1
    assert [name for name, _ in sends.history()] == ["e1", "e9"]


def test_executors_know_a_letter_that_comes_twice(sends: Sends) -> None:
    """Goal: whoever else writes to the history may repeat what it has sent."""
    start = Execution("e1", _CALLS, {}, BEGAN)
    given: list[Letter] = [
        ExecutionStart(start),
        ExecutionGiven(PauseIt("ann")),
        ExecutionGiven(ResumeIt("ann")),
    ]
    with closing(OnKafka(sends.topics)) as owner:
        for letter in (*given, *given):
            owner.append("e1", letter)
        owner.work()
        assert owner.get("e1").state is ExecutionState.RUNNING
        assert len(owner.take_calls()) == 1, "its step is called once"


def test_a_leader_that_was_deposed_without_knowing_it_sends_nothing_more(sends: Sends) -> None:
    """Goal: nothing old comes behind what was stored later."""
    old = sends.relay()
    sends.engine().work(starts=[Execution("e1", _CALLS, {}, BEGAN)])
    old.run_once()
    sends.engine().work([("e1", PauseIt("ann"))])
    new = sends.relay(term=2)
    new.run_once()
    sends.engine().work([("e1", KillIt("ann"))])
    before = sends.history()

    with pytest.raises(LogFenced):
        old.run_once()

    assert sends.history() == before
    assert new.run_once() == 1
    assert sends.history()[-1] == ("e1", ExecutionGiven(KillIt("ann")))


def _has_sent(relay: HistoryRelay, number: int) -> bool:
    return relay.sent == number


def test_a_letter_is_sent_as_soon_as_it_is_stored(sends: Sends) -> None:
    relay = sends.relay()
    relay.look_s = 3_600
    engine = sends.engine(relay.nudge)
    relay.start()
    try:
        for n in range(3):
            engine.work(starts=[Execution(f"e{n}", _CALLS, {}, BEGAN)])
            wait_until(partial(_has_sent, relay, n + 1))
    finally:
        relay.stop()
    assert sends.waiting() == 0


def test_nothing_is_sent_to_topics_that_executors_have_not_made(sends: Sends) -> None:
    """Goal: a broker that makes topics by itself would give them other partitions."""
    kept, topics = KeptTopics(sends.database), sends.topics.topics

    with pytest.raises(LogAway, match="not there yet: start `tidegate executor`"):
        kept_history(kept, topics)

    kept.keep([KeptTopic(LogTopic.HISTORY, topics.name(LogTopic.HISTORY), 3, "id")])
    with pytest.raises(LogRefuses, match=f"with 3 partitions, and .* with {topics.entities}"):
        kept_history(kept, topics)
