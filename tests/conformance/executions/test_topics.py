"""The engine over a real broker's topics: fenced owners, crashes before a commit, bad records.

What is written is read by a consumer of committed records that shares nothing with the owners.
"""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from functools import partial

import pytest

from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.executions.kafka.relaying import KafkaHistoryWriter
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import Claim, KillIt, PauseIt, Report, Succeeded
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.core.executions.reduced import ClaimReply, Drop
from supervisor.dev.broker import Broker
from supervisor.executions.memory import MemoryEngine
from supervisor.executions.sequencer import loop
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionPurge,
    ExecutionStart,
)
from supervisor.ports.flows.execution_log import LogEntry, LogFenced, LogTooLarge, LogTopic
from tests.environment.execution_topics import TopicsOfTest, make_execution_topics
from tests.supervisor.core.crashes.scenarios.on_kafka import OnKafka
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.test_any_order import Life
from tests.supervisor.executions.sequencer.test_random_lives import in_any_order
from tests.waiting import wait_until

RUNNER = Runner("executor-1", "one")
PLAN = FlowPlan("f", 1, (Step("a", CallWork("noop")), Step("b", CallWork("noop"), after=("a",))))
KILLED_WITHIN_S = 60.0


@pytest.fixture
def topics(broker: Broker) -> TopicsOfTest:
    """Topics of one partition, with nothing in them."""
    return make_execution_topics(broker.bootstrap)


@pytest.fixture
def engine(topics: TopicsOfTest) -> Iterator[OnKafka]:
    """Their first owner."""
    with closing(OnKafka(topics)) as first:
        yield first


def _written(topics: TopicsOfTest) -> dict[LogTopic, int]:
    return {topic: len(topics.read(topic)) for topic in LogTopic}


def test_an_owner_that_was_followed_writes_nothing_more(engine: OnKafka) -> None:
    engine.start(PLAN, "e1")
    old = engine.owner
    engine.restart()
    engine.send("e1", PauseIt("ann"))
    before = _written(engine.topics)

    answer = old.ask([("e1", KillIt("bob"))])
    with pytest.raises(LogFenced):
        old.turn()

    assert isinstance(answer.exception(timeout=0), LogFenced), "who asked hears of it"
    assert _written(engine.topics) == before
    assert engine.get("e1").state == "PAUSED"
    engine.send("e1", KillIt("ann"))
    assert engine.get("e1").killed


def test_an_owner_that_was_followed_hears_of_it_though_nothing_comes(engine: OnKafka) -> None:
    """Goal: what a former owner has committed, slow to hear that it is none, is not overlooked."""
    engine.start(PLAN, "e1")
    rightful = engine.owner
    engine.restart()
    engine.owner.ask([("e1", PauseIt("ann"))])
    assert engine.owner.turn()
    assert not rightful.turn(0)
    before = _written(engine.topics)

    engine.now += loop.PROVED_EVERY
    with pytest.raises(LogFenced):
        rightful.turn(0)

    assert _written(engine.topics) == before


def test_an_owner_that_is_frozen_before_its_commit_commits_nothing(engine: OnKafka) -> None:
    engine.start(PLAN, "e1")
    followed: list[bool] = []

    class Frozen(PartitionProducer):
        def commit(self) -> None:
            """Let another owner begin, and the first one wake too late."""
            self._producer.flush(30)
            if not followed:
                followed.append(True)
                engine.restart()
            super().commit()

    frozen = engine.new_owner(partial(KafkaPartitionLog, writer=Frozen))
    frozen.take_over()
    before = _written(engine.topics)
    frozen.ask([("e1", KillIt("bob"))])
    with pytest.raises(LogFenced):
        frozen.turn()

    assert _written(engine.topics) == before
    assert not engine.get("e1").killed
    engine.send("e1", PauseIt("ann"))
    assert engine.get("e1").state == "PAUSED"


def test_a_process_that_is_killed_between_produce_and_commit_has_written_nothing(
    engine: OnKafka,
) -> None:
    engine.start(PLAN, "e1")
    topics, before = engine.topics, engine.get("e1")
    engine.append("e1", ExecutionGiven(KillIt("ann")))
    argv = [sys.executable, "-m", killed_owner_module(), topics.bootstrap, topics.topics.prefix]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "produced\n"
        process.kill()
        assert process.wait(KILLED_WITHIN_S) != 0

    state = [one.key for one in topics.read(LogTopic.STATE, open_ones=True)]
    engine.restart()

    assert [one.key for one in topics.read(LogTopic.STATE)][: len(state)] == state
    assert engine.unread() == 0
    assert engine.get("e1").version == before.version + 1, "worked in once, by the next owner"
    assert engine.get("e1").killed


def killed_owner_module() -> str:
    """Return the module whose process never commits."""
    return "tests.conformance.executions.owners.killed"


def test_what_is_restored_is_what_the_owner_before_had(engine: OnKafka) -> None:
    for number in range(5):
        engine.start(PLAN, f"e{number}")
    [first, *_] = engine.take_calls()
    engine.send("e0", Claim(first.run, 1, RUNNER), Report(first.run, 1, Succeeded(), RUNNER))
    engine.send("e1", KillIt("ann"))
    held, position = engine.owner.held, engine.owner.held.position

    engine.restart()

    assert engine.owner.held.restored == held.restored
    assert engine.owner.held.position == position


def test_an_owner_that_has_read_all_is_at_the_end_behind_the_end_of_a_transaction(
    engine: OnKafka,
) -> None:
    """Goal: monitors of lag see none.  The end of a transaction is an offset, and no record."""
    engine.start(PLAN, "e1")
    writer = KafkaHistoryWriter(engine.topics.client, engine.topics.topics)
    writer.fence()
    letter = LETTER_FORM.write(ExecutionGiven(PauseIt("ann")))
    writer.write([LogEntry(LogTopic.HISTORY, 0, b"e1", letter)], "mark")
    writer.close()

    def is_read() -> bool:
        engine.owner.turn(within_s=0.05)
        return engine.owner.read_to == engine.topics.end(LogTopic.HISTORY, 0)

    wait_until(is_read)

    assert engine.get("e1").state == "PAUSED"
    following = engine.owner.held.position.next
    assert following is not None
    assert engine.owner.read_to == following + 1


def test_e12_records_that_cannot_be_read_are_dead_letters_and_their_neighbours_go_on(
    engine: OnKafka,
) -> None:
    send = partial(engine.topics.send, LogTopic.HISTORY, 0)
    send("e1", LETTER_FORM.write(ExecutionStart(Execution("e1", PLAN, {}, BEGAN))))
    send("e1", b"no json")
    send("e1", b'{"v":1,"type":"nobody-knows"}')
    send("e1", None)
    send(b"\xff\xfe", LETTER_FORM.write(ExecutionGiven(KillIt("ann"))))
    engine.send("e1", PauseIt("ann"))

    dead = engine.topics.read(LogTopic.DEAD)
    assert [one.value for one in dead][:3] == [b"no json", b'{"v":1,"type":"nobody-knows"}', None]
    assert [one.headers["tidegate-from"] for one in dead] == ["0:1", "0:2", "0:3", "0:4"]
    assert "it is no JSON" in dead[0].headers["tidegate-why"]
    assert engine.dropped() == {"undecodable": 4}
    assert engine.get("e1").state == "PAUSED"
    engine.restart()
    assert len(engine.topics.read(LogTopic.DEAD)) == 4, "exactly one for each"


def test_a_record_of_a_newer_release_is_waited_for(engine: OnKafka) -> None:
    engine.start(PLAN, "e1")
    newer = LETTER_FORM.write(ExecutionGiven(KillIt("ann"))).replace(b'"v":1', b'"v":9', 1)
    engine.append("e1", ExecutionGiven(PauseIt("ann")))
    engine.topics.send(LogTopic.HISTORY, 0, "e1", newer)
    last = engine.topics.send(
        LogTopic.HISTORY, 0, "e1", LETTER_FORM.write(ExecutionGiven(KillIt("ann")))
    )
    while engine.owner.waits_for is None:
        engine.owner.turn()

    assert not engine.owner.turn()
    assert engine.owner.waits_for == 9
    assert engine.position().next == last - 1
    assert engine.get("e1").state == "PAUSED", "what came before is worked in"
    assert engine.topics.read(LogTopic.DEAD) == []


def test_an_execution_whose_state_cannot_be_read_is_set_aside(engine: OnKafka) -> None:
    engine.start(PLAN, "e1")
    engine.start(PLAN, "e2")
    engine.topics.send(LogTopic.STATE, 0, "e/e1", b"torn")
    engine.restart()
    engine.start(PLAN, "e1")
    engine.send("e2", PauseIt("ann"))

    [dead] = engine.topics.read(LogTopic.DEAD)
    assert dead.key == "e1"
    assert "cannot be read" in dead.headers["tidegate-why"]
    assert engine.topics.newest(LogTopic.STATE)["e/e1"] == b"torn", "it is left as it is"
    assert engine.get("e2").state == "PAUSED"


def test_e13_of_what_is_purged_no_record_stays(engine: OnKafka) -> None:
    """E13: the state holds what lives."""
    engine.start(PLAN, "e1")
    engine.start(PLAN, "e2")
    engine.append("e1", ExecutionPurge())
    engine.send("e1", KillIt("ann", force=True))
    assert engine.dropped() == {Drop.NOT_LIVE: 1}, "it had not ended"

    engine.append("e1", ExecutionPurge())
    engine.work()

    keys = engine.topics.newest(LogTopic.STATE)
    assert {key.split("/")[1] for key in keys if key[0] == "e"} == {"e2"}
    engine.restart()
    assert engine.owner.held.execution("e1") is None


def test_requests_are_answered_once_they_are_committed(engine: OnKafka) -> None:
    start = Execution("e1", PLAN, {}, BEGAN)
    first = engine.owner.ask(starts=[start])
    again = engine.owner.ask(starts=[start])
    engine.owner.turn()

    assert first.result(0).started == again.result(0).started == {"e1"}
    [job] = engine.take_calls()
    claimed = engine.owner.ask([("e1", Claim(job.run, 1, RUNNER))])
    nobody = engine.owner.ask([("nobody", KillIt("ann"))])
    engine.owner.turn()
    [reply] = claimed.result(0).replies
    assert isinstance(reply, ClaimReply)
    assert reply.granted
    assert nobody.result(0).dropped == [("nobody", KillIt("ann"), Drop.NOT_LIVE)]


def test_a_request_and_a_record_each_wake_an_owner_that_waits(engine: OnKafka) -> None:
    def turn() -> bool:
        return any(engine.owner.turn(within_s=3_600) for _ in range(10))

    with ThreadPoolExecutor(1) as pool:
        turning = pool.submit(turn)
        asked = engine.owner.ask(starts=[Execution("e1", PLAN, {}, BEGAN)])
        assert asked.result(60).started == {"e1"}
        assert turning.result(60)

        turning = pool.submit(turn)
        engine.append("e1", ExecutionGiven(PauseIt("ann")))
        assert turning.result(60)

    assert engine.get("e1").state == "PAUSED"


def test_what_is_larger_than_kafka_takes_stops_nothing_else(engine: OnKafka) -> None:
    large = FlowPlan("f", 1, PLAN.steps, outputs={"x": "y" * (3 * 1024 * 1024)})
    refused = engine.owner.ask(starts=[Execution("large", large, {}, BEGAN)])
    fine = engine.owner.ask(starts=[Execution("e1", PLAN, {}, BEGAN)])
    while not (refused.done() and fine.done()):
        engine.owner.turn()

    assert isinstance(refused.exception(0), LogTooLarge)
    assert fine.result(0).started == {"e1"}
    assert set(engine.restored().executions) == {"e1"}
    engine.send("e1", PauseIt("ann"))
    assert engine.get("e1").state == "PAUSED"


class Followed(MemoryEngine):
    """An engine in memory whose inputs the one on Kafka gets as well."""

    other: OnKafka
    batches: int = 0

    def work(self, now: datetime) -> None:
        """Work in here, and there."""
        starts, inputs = list(self._starts), list(self._inputs)
        super().work(now)
        self.batches += 1
        self.other.now = now
        if self.batches % 50 == 0:
            self.other.restart()
        answer = self.other.owner.ask(inputs, starts)
        while not answer.done():
            self.other.owner.turn(0)


@pytest.mark.parametrize("seed", [1, 7])
def test_random_lives_come_to_the_same_as_in_memory(
    engine: OnKafka, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more lives and more deaths: tests/supervisor/executions/sequencer/."""
    monkeypatch.setattr(loop, "TICKS_MAX", 0)  # times are inputs of the one in memory
    life = Life(seed)
    memory = life.world.engine
    memory.__class__ = Followed
    assert isinstance(memory, Followed)
    memory.other = engine
    engine.flows.update(life.world.flows)

    life.live()

    engine.restart()  # what the process has in memory does not count
    assert engine.restored().executions == memory.executions
    assert engine.restored().gates == memory.gates
    assert engine.dropped().total() == len(memory.dropped)
    for name, events in memory.events.items():
        assert in_any_order(engine.events(name)) == in_any_order(events)
