"""Calls whose partitions others own: stopped when those say so, lost when nobody makes them."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import AttemptLost, Outcome, Stopped
from supervisor.core.executions.reduced import StepCall
from supervisor.executions.engine import CallReport, RunnerOrders
from supervisor.executions.executor.abroad import UNKNOWN_S, CallsAbroad
from supervisor.executions.runner import CallRunner
from supervisor.ports.flows.executions import CallPlace, HeldCall
from supervisor.ports.store_problems import StoreAway
from tests.waiting import wait_until

RUNNER = Runner("executor-1", "one")
CALL = StepCall("e1", "r1", "a", 1, 1, "slow", {})
PLACE = CallPlace("e1", "r1", 1)


@dataclass
class Link:
    """Grants one call, and keeps what is reported."""

    begin: list[StepCall] = field(default_factory=lambda: [CALL])
    reports: list[CallReport] = field(default_factory=list)

    def serve(
        self, _: Runner, __: Sequence[CallPlace], reports: Sequence[CallReport] = (), free: int = 0
    ) -> RunnerOrders:
        """Do so."""
        del free
        self.reports += reports
        begin, self.begin = self.begin, []
        return RunnerOrders(begin, [])


@dataclass
class Tables:
    """What the tables say, and what was sent because of it."""

    held: list[HeldCall] | None = field(default_factory=list)
    sent: list[tuple[str, AttemptLost]] = field(default_factory=list)
    now: float = 0.0

    def of(self, _: Runner) -> Sequence[HeldCall]:
        """Return it."""
        if self.held is None:
            raise StoreAway("no answer")
        return self.held

    def send(self, execution: str, given: AttemptLost) -> None:
        """Keep it."""
        self.sent.append((execution, given))


def _slow(_: StepCall, cancel: threading.Event) -> Outcome:
    cancel.wait(60)
    return Stopped()


@pytest.fixture
def link() -> Link:
    """The way to the owner, who was here."""
    return Link()


@pytest.fixture
def runner(link: Link) -> Iterator[CallRunner]:
    """One that makes a call."""
    one = CallRunner(link, RUNNER, {"slow": _slow}, look_s=0.01)
    one.start()
    wait_until(lambda: one.running == 1)
    yield one
    one.stop(0.1)


def _abroad(tables: Tables, runner: CallRunner) -> CallsAbroad:
    return CallsAbroad(
        tables.of, lambda _: False, runner, tables.send, monotonic=lambda: tables.now
    )


def test_what_its_owner_has_cancelled_is_stopped_and_reported(
    link: Link, runner: CallRunner
) -> None:
    tables = Tables([HeldCall(PLACE, RUNNER, cancelled=False)])
    watch = _abroad(tables, runner)
    watch.run_once()
    assert runner.running == 1

    tables.held = [HeldCall(PLACE, RUNNER, cancelled=True)]
    watch.run_once()

    wait_until(lambda: [one.given.outcome for one in link.reports] == [Stopped()])
    assert tables.sent == []


def test_a_grant_of_which_it_never_heard_is_lost_after_a_while(runner: CallRunner) -> None:
    other = CallPlace("e2", "r1", 1)
    held = [HeldCall(PLACE, RUNNER, cancelled=False), HeldCall(other, RUNNER, cancelled=False)]
    tables = Tables(held)
    watch = _abroad(tables, runner)
    watch.run_once()
    tables.now = UNKNOWN_S
    watch.run_once()
    assert tables.sent == []

    tables.held = None  # the tables are away for a moment
    watch.run_once()
    tables.held, tables.now = held, UNKNOWN_S + 1
    watch.run_once()

    assert tables.sent == [("e2", AttemptLost("r1", 1, RUNNER))]


def test_what_was_only_late_is_not_lost(runner: CallRunner) -> None:
    other = HeldCall(CallPlace("e2", "r1", 1), RUNNER, cancelled=False)
    tables = Tables([other])
    watch = _abroad(tables, runner)
    watch.run_once()
    tables.held = []
    watch.run_once()
    tables.held, tables.now = [other], UNKNOWN_S + 1
    watch.run_once()

    assert tables.sent == []
