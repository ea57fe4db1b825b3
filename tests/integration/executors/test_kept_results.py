"""The broker is away while a call ends, and the executor is killed: its next life reports it.

Slow: a broker stops and starts, and a dead member of the group is noticed after ten seconds.
"""

import itertools
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.engine_choice import EngineChoice
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.core.executions.plan import CallWork, FlowPlan, OnLost, Step
from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.engine_kinds import EngineKind
from tests.environment.brokers import start_test_broker
from tests.environment.frozen import freeze
from tests.integration.executors.processes import ExecutorProcess, Executors
from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

_CALLS = 4


@dataclass
class Held:
    """A server with a ledger; it answers when the test lets it, to `/open` only later."""

    sink: Sink
    goes_on: threading.Event = field(default_factory=threading.Event)
    later: threading.Event = field(default_factory=threading.Event)

    def answer(self, sent: Sent) -> tuple[int, dict[str, str], bytes]:
        """Wait, and answer."""
        (self.later if sent.path == "/open" else self.goes_on).wait(200)
        return 200, {"Content-Type": "application/json"}, json.dumps({"of": sent.path}).encode()

    def keys(self) -> Counter[str]:
        """Return how often the call of each execution was made."""
        return Counter(sent.headers["Idempotency-Key"].split("/")[0] for sent in self.sink.ledger)

    def plan(self, path: str, on_lost: OnLost) -> FlowPlan:
        """Return a flow that calls it once, unless the call is lost."""
        work = CallWork("http", {"url": self.sink.url(path), "method": "POST"})
        return FlowPlan("f", 1, (Step("a", work, on_lost=on_lost),))


@pytest.fixture
def held() -> Iterator[Held]:
    """The server."""
    with a_sink() as sink:
        server = Held(sink)
        sink.answer = server.answer
        yield server
        server.goes_on.set()
        server.later.set()


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker that a test may stop."""
    with start_test_broker(tmp_path / "kafka") as started:
        yield started


def _kept(first: ExecutorProcess, folder: Path) -> int:
    """Return how many results are in the files of an executor."""
    files = (folder / first.name / "results" / first.name).glob("*.results")
    return sum(file.read_bytes().count(b"\n") for file in files)


def _names_of(executor: ExecutorProcess, entities: int) -> list[str]:
    """Return names of executions that an executor works."""
    owned = executor.owns()
    names = (f"e{number}" for number in itertools.count())
    mine = (name for name in names if partition_of(name, entities) in owned)
    return list(itertools.islice(mine, _CALLS))


def _is_led(url: str) -> None:
    """Say that executions live on topics, as an overlord does: else no executor starts again."""
    with closing(ExecutionDatabase(url)) as database:
        EngineChoice(database, EngineKind.KAFKA, SystemClock()).take(1)


def _ended(executors: Executors) -> set[str]:
    """Return the executions that have ended, as far as a broker that just starts says it."""
    try:
        return set(executors.ends())
    except KafkaException:
        return set()


def _offers(url: str) -> int:
    """Return how many executors report what their life before has done."""
    with closing(ExecutionDatabase(url)) as database:
        return sum(bool(row.doing.offers) for row in SqlExecutors(database).all())


@pytest.mark.parametrize("others", [0, 1], ids=["alone", "beside another one"])
def test_what_ended_while_the_broker_was_away_is_not_done_again_after_a_kill(
    own_broker: Broker, held: Held, tmp_path: Path, others: int
) -> None:
    with Executors(tmp_path, own_broker.bootstrap) as executors:
        _is_led(executors.url)
        first = executors.start()
        beside = [executors.start() for _ in range(others)]
        executors.share(first, *beside)
        *done, left = _names_of(first, executors.topics.entities)
        executors.begin(held.plan("/", OnLost.FAIL), done)
        executors.begin(held.plan("/open", OnLost.RETRY), [left])
        wait_until(lambda: len(held.keys()) == _CALLS)
        own_broker.kill()  # a call waits for its answer no longer than for half a minute
        held.goes_on.set()
        wait_until(lambda: _kept(first, tmp_path) == len(done))
        for each in beside:  # a machine under load may take longer than a silence may last
            freeze(each.pid)
        first.kill()

        again = executors.spawn(
            TIDEGATE_EXECUTOR_NAME=first.name, TIDEGATE_DATA_DIR=str(tmp_path / first.name)
        )
        wait_until(lambda: _offers(executors.url) == 1)
        for each in beside:
            os.kill(each.pid, signal.SIGCONT)
        own_broker.start()
        wait_until(lambda: _ended(executors) >= set(done))
        held.later.set()
        wait_until(lambda: left in _ended(executors))
        wait_until(lambda: _kept(first, tmp_path) == 0)

        assert set(executors.ends().values()) == {"SUCCESS"}
        assert held.keys() == {**dict.fromkeys(done, 1), left: 2}, "one had no result"
        wait_until(again.well)
        assert again.metric("tidegate_executor_kept_results") == 0
        ended = [
            str(event.about["state"])
            for name, event in executors.events()
            if name in done and event.name == "attempt-ended"
        ]
        assert ended == ["SUCCESS"] * len(done)
