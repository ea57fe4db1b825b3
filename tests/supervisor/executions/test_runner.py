"""A runner over a real engine: what it takes, reports, repeats and stops."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import KillIt, Outcome, Stopped, Succeeded
from supervisor.core.executions.plan import CallWork, EachWork, FlowPlan, Step
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.executions.engine import CallReport, RunnerOrders
from supervisor.executions.runner import CallRunner, RunnerLink, StepVerb
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.store_problems import StoreAway
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.waiting import wait_until

RUNNER = Runner("executor-1", "one")


@dataclass
class Verbs:
    """A verb that counts its effects by key, and waits where it shall."""

    effects: list[str] = field(default_factory=list)
    goes_on: threading.Event = field(default_factory=threading.Event)
    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def noop(self, call: StepCall, _: threading.Event) -> Outcome:
        """Do it at once."""
        self.effects.append(call.key)
        return Succeeded({"key": call.key})

    def slow(self, call: StepCall, cancel: threading.Event) -> Outcome:
        """Wait for the test, or for the cancel."""
        self.effects.append(call.key)
        self.begun.release()
        while not self.goes_on.wait(0.01):
            if cancel.is_set():
                return Stopped()
        return Succeeded()

    @property
    def all(self) -> Mapping[str, StepVerb]:
        """By name."""
        return {"noop": self.noop, "slow": self.slow}


@dataclass
class Unsteady:
    """A link that loses requests, and answers."""

    link: RunnerLink
    loses: list[str] = field(default_factory=list)
    """What happens to the next round trips: `request`, `answer`, or anything else: nothing."""

    def serve(
        self,
        runner: Runner,
        makes: Sequence[CallPlace],
        reports: Sequence[CallReport] = (),
        free: int = 0,
    ) -> RunnerOrders:
        """Pass it on, unless it is lost."""
        fate = self.loses.pop(0) if self.loses else ""
        if fate == "request":
            raise StoreAway("lost on its way")
        orders = self.link.serve(runner, makes, reports, free)
        if fate == "answer":
            raise StoreAway("the answer was lost")
        return orders


@contextmanager
def _running(link: RunnerLink, verbs: Verbs, threads: int = 4) -> Iterator[CallRunner]:
    runner = CallRunner(link, RUNNER, verbs.all, threads, look_s=0.01)
    runner.start()
    yield runner
    verbs.goes_on.set()
    runner.stop()
    assert not any(each.name.startswith("step-runner") for each in threading.enumerate())


def _plan(verb: str, items: int = 1) -> FlowPlan:
    work = EachWork(list(range(items)), (Step("one", CallWork(verb)),), concurrency=items)
    return FlowPlan("f", 1, (Step("all", work),))


def _start(stored: Stored, plan: FlowPlan) -> None:
    stored.engine.work(starts=[Execution("e1", plan, {}, BEGAN)])


def test_a_flow_ends_well_and_each_step_is_made_once(stored: Stored) -> None:
    verbs = Verbs()
    _start(stored, _plan("noop", 40))
    with _running(stored.engine, verbs):
        wait_until(lambda: stored.get("e1").state.ended)

    assert stored.get("e1").state is ExecutionState.SUCCESS
    assert len(verbs.effects) == len(set(verbs.effects)) == 40


@pytest.mark.parametrize("fates", [["answer"], ["request"], ["", "answer", "request", "answer"]])
def test_a_lost_round_trip_loses_nothing_and_doubles_nothing(
    stored: Stored, fates: list[str]
) -> None:
    verbs = Verbs()
    _start(stored, _plan("noop", 12))
    with _running(Unsteady(stored.engine, fates), verbs):
        wait_until(lambda: stored.get("e1").state.ended)

    assert stored.get("e1").state is ExecutionState.SUCCESS
    assert len(verbs.effects) == len(set(verbs.effects)) == 12


def test_what_is_reported_while_nobody_answers_is_not_sent_in_a_rush(stored: Stored) -> None:
    """Goal: a call that ends during an outage does not keep a core busy."""
    verbs, link = Verbs(), Unsteady(stored.engine)
    _start(stored, _plan("slow"))
    with _running(link, verbs):
        assert verbs.begun.acquire(timeout=30)
        link.loses = ["request"] * 1_000
        before = len(link.loses)
        verbs.goes_on.set()
        wait_until(lambda: before - len(link.loses) >= 6)  # pauses of 10 to 320 ms
        assert before - len(link.loses) < 20
        link.loses = []
        wait_until(lambda: stored.get("e1").state.ended)


def test_a_look_ends_the_pause(stored: Stored) -> None:
    verbs = Verbs()
    runner = CallRunner(stored.engine, RUNNER, verbs.all, look_s=600.0)
    runner.start()
    _start(stored, _plan("noop"))

    def looks_until_it_ends() -> bool:
        runner.look()
        return stored.get("e1").state.ended

    wait_until(looks_until_it_ends)
    runner.stop()
    assert len(verbs.effects) == 1


def test_no_more_calls_than_threads_are_made_at_once(stored: Stored) -> None:
    verbs = Verbs()
    _start(stored, _plan("slow", 5))
    with _running(stored.engine, verbs, threads=2) as runner:
        for _ in range(2):
            assert verbs.begun.acquire(timeout=30)
        wait_until(lambda: runner.running == 2)
        assert len(verbs.effects) == 2
        verbs.goes_on.set()
        wait_until(lambda: stored.get("e1").state.ended)


def test_a_kill_stops_what_runs(stored: Stored) -> None:
    verbs = Verbs()
    _start(stored, _plan("slow"))
    with _running(stored.engine, verbs):
        assert verbs.begun.acquire(timeout=30)
        stored.engine.work([("e1", KillIt("ann"))])
        wait_until(lambda: stored.get("e1").state.ended)
    assert stored.get("e1").state is ExecutionState.KILLED


@dataclass
class Deaf:
    """A verb that heeds no cancel."""

    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    goes_on: threading.Event = field(default_factory=threading.Event)
    ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self, _: StepCall, __: threading.Event) -> Outcome:
        """Wait for the test alone."""
        self.begun.release()
        self.goes_on.wait(240)
        self.ended.release()
        return Succeeded({"too": "late"})


@pytest.mark.parametrize("leaves", [(), ("deaf",)])
def test_a_call_that_does_not_stop_is_left_after_its_grace(
    stored: Stored, leaves: tuple[str, ...]
) -> None:
    """Goal: a kill waits for no thread without bound; what the thread gives later counts no more.

    The grace is the `killGrace` of the flow.  `leaves`: of a verb that cannot stop it is short,
    however long that of others is.
    """
    deaf, grace = Deaf(), timedelta(minutes=10) if leaves else timedelta(milliseconds=50)
    _start(stored, replace(_plan("deaf"), kill_grace=grace))
    runner = CallRunner(stored.engine, RUNNER, {"deaf": deaf}, 1, look_s=0.01, leaves=leaves)
    runner.start()
    assert deaf.begun.acquire(timeout=30)
    stored.engine.work([("e1", KillIt("ann"))])
    wait_until(lambda: stored.get("e1").state.ended)
    assert stored.get("e1").state is ExecutionState.KILLED
    assert runner.running == 0

    stored.engine.work(starts=[Execution("e2", _plan("deaf"), {}, BEGAN)])
    assert deaf.begun.acquire(timeout=30), "the thread that is left takes no place of another call"
    deaf.goes_on.set()
    wait_until(lambda: stored.get("e2").state.ended)
    for _ in range(2):
        assert deaf.ended.acquire(timeout=30)
    runner.stop()
    assert runner.unreported() == []
    runs = [run for run in stored.get("e1").runs.values() if run.step == "one"]
    assert [run.outputs for run in runs] == [{}]


def test_threads_that_are_left_are_bounded(stored: Stored) -> None:
    """Goal: calls that never stop cannot pile up: then nothing more is taken."""
    deaf = Deaf()
    runner = CallRunner(stored.engine, RUNNER, {"deaf": deaf}, 1, look_s=0.01)
    runner.start()
    plan = replace(_plan("deaf"), kill_grace=timedelta(milliseconds=50))
    for name in ("e1", "e2"):
        stored.engine.work(starts=[Execution(name, plan, {}, BEGAN)])
        assert deaf.begun.acquire(timeout=30)
        stored.engine.work([(name, KillIt("ann"))])
        wait_until(lambda name=name: stored.get(name).state.ended)  # type: ignore[misc]

    assert runner.free == 0
    deaf.goes_on.set()
    wait_until(lambda: runner.free == 1)
    runner.stop()


def test_a_runner_that_is_stopped_waits_for_no_call_without_bound(stored: Stored) -> None:
    """As after SIGTERM: what never ends is left, and is lost with its process."""
    deaf = Deaf()
    _start(stored, _plan("deaf"))
    runner = CallRunner(stored.engine, RUNNER, {"deaf": deaf}, 1, look_s=0.01)
    runner.start()
    assert deaf.begun.acquire(timeout=30)
    runner.stop(within_s=0.05)
    wait_until(lambda: not any(each.name == "step-runner" for each in threading.enumerate()))
    assert all(each.daemon for each in threading.enumerate() if each.name.startswith("step-call"))
    with stored.store.reading() as rows:
        assert len(rows.held()) == 1, "nothing is reported of it: the next runner makes it again"
    deaf.goes_on.set()


def test_what_ends_with_its_runner_is_tried_again_by_the_next_one(stored: Stored) -> None:
    """Goal: an overlord that is restarted fails no step, also one without a retry."""
    verbs = Verbs()
    _start(stored, _plan("slow"))
    runner = CallRunner(stored.engine, RUNNER, verbs.all, look_s=0.01)
    runner.start()
    assert verbs.begun.acquire(timeout=30)
    runner.stop(within_s=0.05)
    assert not stored.get("e1").state.ended

    stored.engine.lose(RUNNER)
    verbs.goes_on.set()
    following = CallRunner(stored.engine, Runner("executor-1", "two"), verbs.all, look_s=0.01)
    following.start()
    stored.engine.tick()  # a lost attempt is followed by the next one at once
    wait_until(lambda: stored.get("e1").state.ended)
    following.stop()
    assert stored.get("e1").state is ExecutionState.SUCCESS
    assert len(set(verbs.effects)) == 1


def test_e9_a_runner_that_is_stopped_takes_no_more_and_what_it_makes_ends_there(
    stored: Stored,
) -> None:
    """As after SIGTERM: what ends inside the grace is reported, and nobody else makes it."""
    verbs = Verbs()
    _start(stored, _plan("slow", 3))
    runner = CallRunner(stored.engine, RUNNER, verbs.all, threads=2, look_s=0.01)
    runner.start()
    for _ in range(2):
        assert verbs.begun.acquire(timeout=10)
    stopping = threading.Thread(target=lambda: runner.stop(within_s=10))
    stopping.start()
    wait_until(lambda: runner._ending)
    verbs.goes_on.set()
    stopping.join(10)

    with stored.store.reading() as rows:
        assert rows.held() == [], "what it made was reported"
        (left,) = rows.calls(9)
    runs = [run for run in stored.get("e1").runs.values() if run.step == "one"]
    assert sorted(run.state for run in runs) == ["SUBMITTED", "SUCCESS", "SUCCESS"]
    assert left.key not in verbs.effects
    assert len(verbs.effects) == len(set(verbs.effects)) == 2


def test_a_verb_that_raises_or_that_nobody_knows_fails_its_step(stored: Stored) -> None:
    def raises(_: StepCall, __: threading.Event) -> Outcome:
        raise ValueError("a bug")

    for name, verb, code in (("e1", "raises", "internal"), ("e2", "nothing", "unknown-verb")):
        plan = FlowPlan("f", 1, (Step("one", CallWork(verb)),))
        stored.engine.work(starts=[Execution(name, plan, {}, BEGAN)])
        runner = CallRunner(stored.engine, RUNNER, {"raises": raises}, 1, look_s=0.01)
        runner.start()
        wait_until(lambda name=name: stored.get(name).state.ended)  # type: ignore[misc]
        runner.stop()
        [run] = stored.get(name).runs.values()
        assert run.state is StepState.FAILED
        assert run.error is not None
        assert run.error.code == code
