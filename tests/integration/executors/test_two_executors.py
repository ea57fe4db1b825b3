"""Two executors share partitions: one is killed, ended or frozen, and flows go on.

Slow: a dead member of the group is noticed after ten seconds.
"""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from supervisor.core.executions.plan import CallWork, FlowPlan, OnLost, Step
from supervisor.core.executions.records import StateRecord
from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.letters import POSITION_FORM
from supervisor.ports.flows.execution_log import POSITION_KEY, LogTopic
from tests.environment.frozen import freeze
from tests.integration.executors.processes import ExecutorProcess, Executors
from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

NAMES = [f"e{number}" for number in range(12)]


@dataclass
class Held:
    """A server that answers nothing until the test lets it."""

    sink: Sink
    goes_on: threading.Event = field(default_factory=threading.Event)

    def answer(self, _: Sent) -> tuple[int, dict[str, str], bytes]:
        """Wait, and answer."""
        self.goes_on.wait(200)
        return 200, {"Content-Type": "application/json"}, b"{}"

    def keys(self) -> Counter[str]:
        """Return how often each key was sent."""
        return Counter(sent.headers["Idempotency-Key"] for sent in self.sink.ledger)

    def plan(self, on_lost: OnLost) -> FlowPlan:
        """Return a flow that asks it, and then does nothing."""
        work = CallWork("http", {"url": self.sink.url("/"), "method": "POST"})
        after = Step("b", CallWork("noop"), after=("a",))
        return FlowPlan("f", 1, (Step("a", work, on_lost=on_lost), after))


@pytest.fixture
def held() -> Iterator[Held]:
    """The server."""
    with a_sink() as sink:
        server = Held(sink)
        sink.answer = server.answer
        yield server
        server.goes_on.set()


@pytest.fixture
def executors(broker: Broker, tmp_path: Path) -> Iterator[Executors]:
    """Topics and a database; no process yet."""
    with Executors(tmp_path, broker.bootstrap, {"TIDEGATE_EXECUTIONS_THREADS": "32"}) as some:
        yield some


def _all_call(executors: Executors, held: Held, plan: FlowPlan) -> tuple[ExecutorProcess, ...]:
    """Start two, and let them make a call of each execution; both make some."""
    first = executors.start()
    second = executors.start()
    executors.share(first, second)
    executors.begin(plan, NAMES)
    wait_until(lambda: len(held.keys()) == len(NAMES))
    return first, second


def _nothing_went_back(executors: Executors) -> None:
    """Read every committed record: positions and versions only grow."""
    seen: dict[tuple[int, str], int] = {}
    for one in executors.log.read(LogTopic.STATE):
        if one.value is None or one.key.count("/") > 1:
            continue
        record = StateRecord(one.key, one.value)
        if one.key == POSITION_KEY:
            number, least = POSITION_FORM.read(one.value).next or 0, 0
        else:
            number, least = int(json.loads(record.value or b"")["version"]), 1
        before = seen.get((one.partition, one.key), -1)
        assert number >= before + least, f"{one.key} went from {before} to {number}"
        seen[one.partition, one.key] = number


def test_calls_of_one_that_was_killed_are_made_again_with_their_keys(
    executors: Executors, held: Held
) -> None:
    first, second = _all_call(executors, held, held.plan(OnLost.RETRY))
    orphans = set(first.makes())
    assert 0 < len(orphans) < len(NAMES)

    first.kill()
    executors.share(second)
    wait_until(lambda: sum(held.keys().values()) == len(NAMES) + len(orphans))
    held.goes_on.set()
    wait_until(lambda: len(executors.ends()) == len(NAMES))

    assert set(executors.ends().values()) == {"SUCCESS"}
    assert {key.split("/")[0] for key, times in held.keys().items() if times == 2} == orphans
    assert second.metric("tidegate_executor_lost_calls_total") == len(orphans)
    _nothing_went_back(executors)


def test_on_lost_decides_what_follows_a_killed_one(executors: Executors, held: Held) -> None:
    first, second = _all_call(executors, held, held.plan(OnLost.FAIL))
    orphans = set(first.makes())

    first.kill()
    wait_until(lambda: set(executors.ends()) == orphans)
    held.goes_on.set()
    wait_until(lambda: len(executors.ends()) == len(NAMES))

    ends = executors.ends()
    assert {name for name, state in ends.items() if state == "FAILED"} == orphans
    assert set(held.keys().values()) == {1}, "no call was made twice"
    executors.share(second)
    _nothing_went_back(executors)


def test_one_that_is_ended_gives_up_its_partitions_and_reports_by_the_history(
    executors: Executors, held: Held
) -> None:
    first, second = _all_call(executors, held, held.plan(OnLost.FAIL))
    mine = set(first.makes())

    first.child.signal(signal.SIGTERM)
    held.goes_on.set()
    wait_until(lambda: len(executors.ends()) == len(NAMES))
    wait_until(lambda: first.child.exit_code() is not None)

    assert first.child.exit_code() == 0
    assert set(executors.ends().values()) == {"SUCCESS"}, "what it made was reported, not lost"
    assert mine
    assert set(held.keys().values()) == {1}
    executors.share(second)
    assert second.metric("tidegate_executor_lost_calls_total") == 0
    _nothing_went_back(executors)


def test_one_that_was_frozen_and_followed_writes_nothing_when_it_wakes(
    executors: Executors, held: Held
) -> None:
    first, second = _all_call(executors, held, held.plan(OnLost.RETRY))
    orphans = set(first.makes())

    freeze(first.pid)
    try:
        executors.share(second)
        held.goes_on.set()
        wait_until(lambda: len(executors.ends()) == len(NAMES))
        ended = executors.ends()
    finally:
        os.kill(first.pid, signal.SIGCONT)
    wait_until(first.well)
    executors.share(first, second)
    wait_until(lambda: not first.makes())
    executors.begin(held.plan(OnLost.RETRY), ["again"])
    wait_until(lambda: "again" in executors.ends())

    assert {name: executors.ends()[name] for name in NAMES} == ended
    assert set(ended.values()) == {"SUCCESS"}
    assert {key.split("/")[0] for key, times in held.keys().items() if times == 2} == orphans
    _nothing_went_back(executors)
