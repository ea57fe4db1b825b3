"""The loop: one pass at a time per supervisor, and nobody waits for another's trouble."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.loop import BREATH_S, BUSY_PASSES, ERRORS_KEPT, PROOF_S, THRESHOLD, Loop
from supervisor.core.planning.actions import Action, CloseEmpty, Plan
from supervisor.core.planning.passes import Pass
from supervisor.core.values.errors import LeaseLost, MetadataUnavailable
from tests.supervisor.core.snapshots import HOUR, NOON, observed
from tests.waiting import wait_until

SECOND = timedelta(seconds=1)
BUSY: tuple[Action, ...] = (CloseEmpty("g", 0, "there is always something"),)


class Passes:
    """What the loop runs: each pass is counted, and may wait at a gate or fail."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.actions: tuple[Action, ...] = ()
        self.next_in = HOUR
        self.fails: dict[str, Exception] = {}
        self.gates: dict[str, threading.Event] = {}
        self.lock = threading.Lock()
        self.begun: dict[str, int] = {}
        self.running: dict[str, int] = {}
        self.at_once: dict[str, int] = {}
        self.unknown: set[str] = set()
        self.over: set[str] = set()
        self.terminated: set[str] = set()

    def __call__(self, name: str) -> Pass | None:
        with self.lock:
            self.begun[name] = self.begun.get(name, 0) + 1
            self.running[name] = self.running.get(name, 0) + 1
            self.at_once[name] = max(self.at_once.get(name, 0), self.running[name])
        try:
            if (gate := self.gates.get(name)) is not None:
                assert gate.wait(30), "nobody opened the gate"
            if (error := self.fails.get(name)) is not None:
                raise error
            return self._made(name)
        finally:
            with self.lock:
                self.running[name] -= 1

    def _made(self, name: str) -> Pass | None:
        if name in self.unknown:
            return None
        now = self.clock.now()
        over = name in self.over | self.terminated
        decided = Plan(self.actions, wake_at=now + self.next_in, over=over)
        return Pass(observed(now=now, terminated=name in self.terminated), decided)

    def count(self, name: str) -> int:
        with self.lock:
            return self.begun.get(name, 0)

    def idle(self, name: str) -> bool:
        with self.lock:
            return self.running.get(name, 0) == 0


class Told:
    """A running loop over passes that the test directs."""

    def __init__(self, threads: int = 2) -> None:
        self.clock = ManualClock(NOON)
        self.passes = Passes(self.clock)
        self.loop = Loop(self.passes, self.clock, threads=threads)

    def after(self, by: timedelta) -> None:
        """Move the clock; the loop hears of it with the next wish, made for another one."""
        self.clock.advance(by)
        self.barrier()

    def barrier(self) -> None:
        """Return when all that is due by now has been started: the dispatcher takes it in order."""
        before = self.passes.count("~")
        self.loop.wake("~")
        wait_until(lambda: self.passes.count("~") > before and self.passes.idle("~"))

    def has_run(self, name: str, times: int) -> None:
        """Wait for a number of passes, and see that there are no more."""
        wait_until(lambda: self.passes.count(name) >= times and self.passes.idle(name))
        self.barrier()
        assert self.passes.count(name) == times

    def failed(self, name: str, times: int) -> None:
        wait_until(lambda: len(self.loop.errors(name)) >= times)
        assert len(self.loop.errors(name)) == times


@contextmanager
def running(threads: int = 2) -> Iterator[Told]:
    told = Told(threads)
    told.loop.start()
    try:
        yield told
    finally:
        for gate in told.passes.gates.values():
            gate.set()
        told.loop.stop()


@pytest.fixture
def told() -> Iterator[Told]:
    """A running loop with two threads."""
    with running() as told:
        yield told


def test_a_wake_makes_one_pass_and_the_plan_says_when_the_next_comes(told: Told) -> None:
    told.passes.next_in = 30 * SECOND
    told.loop.wake("a")
    told.has_run("a", 1)

    told.after(29 * SECOND)
    told.has_run("a", 1)
    told.after(SECOND)
    told.has_run("a", 2)


def test_a_wake_in_some_seconds_comes_then(told: Told) -> None:
    told.loop.wake("a", in_s=5.0)
    told.has_run("a", 0)

    told.after(5 * SECOND)

    told.has_run("a", 1)


def test_one_supervisor_has_one_pass_at_a_time(told: Told) -> None:
    """Goal: passes of one supervisor are single-threaded, whoever wakes it and how often."""
    told.passes.gates["a"] = threading.Event()
    told.loop.wake("a")
    wait_until(lambda: told.passes.count("a") == 1)
    for _ in range(50):
        told.loop.wake("a")
    told.loop.wake("a", in_s=1.0)
    told.after(SECOND)
    assert told.passes.count("a") == 1

    told.passes.gates["a"].set()
    wait_until(lambda: told.passes.count("a") == 2 and told.passes.idle("a"))

    assert told.passes.at_once["a"] == 1


def test_a_wake_during_a_pass_repeats_it_once(told: Told) -> None:
    """Goal: what happened after the pass had looked is seen by the next one."""
    told.passes.gates["a"] = threading.Event()
    told.loop.wake("a")
    wait_until(lambda: told.passes.count("a") == 1)
    for _ in range(9):
        told.loop.wake("a")

    told.passes.gates["a"].set()

    told.has_run("a", 2)


def test_several_supervisors_have_passes_side_by_side(told: Told) -> None:
    told.passes.gates["slow"] = threading.Event()
    told.loop.wake("slow")
    wait_until(lambda: told.passes.count("slow") == 1)

    told.loop.wake("quick")

    told.has_run("quick", 1)
    assert not told.passes.idle("slow")


def test_many_wishes_of_one_supervisor_are_one_pass(told: Told) -> None:
    """Goal: a pass that starts fulfils every older wish."""
    for number in range(20):
        told.loop.wake("a", in_s=10.0 + number / 100)
    told.after(11 * SECOND)

    told.has_run("a", 1)


def test_a_failing_supervisor_waits_longer_each_time_while_another_proceeds(told: Told) -> None:
    """Goal: one supervisor's trouble stays its own: 1, 2, 4 ... 30 s."""
    told.passes.fails["bad"] = MetadataUnavailable("no route")
    told.passes.next_in = SECOND / 2
    told.loop.wake("bad")
    told.loop.wake("good")
    told.failed("bad", 1)
    expected = 1
    for wait_s in (1, 2, 4, 8, 16, 30, 30):
        before = told.passes.count("good")
        told.after((wait_s - 0.25) * SECOND)
        assert told.passes.count("bad") == expected, f"before {wait_s} s"
        wait_until(lambda before=before: told.passes.count("good") > before)  # type: ignore[misc]
        told.after(0.5 * SECOND)
        expected += 1
        told.failed("bad", expected)
    assert told.loop.errors("good") == []


def test_after_a_success_the_wait_begins_anew(told: Told) -> None:
    told.passes.fails["a"] = MetadataUnavailable("no route")
    told.loop.wake("a")
    told.failed("a", 1)
    for wait_s in (1, 2, 4):
        told.after(wait_s * SECOND)
        wait_until(lambda w=wait_s: len(told.loop.errors("a")) == w.bit_length() + 1)  # type: ignore[misc]
    del told.passes.fails["a"]
    told.loop.wake("a")
    told.has_run("a", 5)
    told.passes.fails["a"] = MetadataUnavailable("again")
    told.loop.wake("a")
    told.failed("a", 5)

    told.after(SECOND)

    told.failed("a", 6)


def test_errors_are_kept_newest_first_and_bounded(told: Told) -> None:
    """Goal: people see what went wrong, a bug with its kind; memory stays bounded."""
    assert told.loop.errors("a") == []
    for number in range(ERRORS_KEPT + 5):
        told.passes.fails["a"] = ZeroDivisionError(f"number {number}")
        told.loop.wake("a")
        told.has_run("a", number + 1)
        wait_until(lambda n=number: f"number {n}" in told.loop.errors("a")[0].message)  # type: ignore[misc]

    errors = told.loop.errors("a")

    assert len(errors) == ERRORS_KEPT
    assert errors[0].kind == "ZeroDivisionError"
    assert [f"number {n}" in e.message for n, e in zip(range(24, 4, -1), errors, strict=True)]
    assert errors[0].at == told.clock.now()


def test_a_failed_pass_leaves_the_last_good_one(told: Told) -> None:
    told.loop.wake("a")
    told.has_run("a", 1)
    wait_until(lambda: told.loop.last_pass("a") is not None)
    good = told.loop.last_pass("a")
    told.passes.fails["a"] = MetadataUnavailable("no route")

    told.loop.wake("a")
    told.failed("a", 1)

    assert told.loop.last_pass("a") is good


def test_three_failed_passes_are_a_failing_and_three_good_ones_end_it(told: Told) -> None:
    """Source: Druid's unhealthinessThreshold and healthinessThreshold."""
    told.passes.fails["a"] = MetadataUnavailable("no route")
    for times in range(1, THRESHOLD + 1):
        assert told.loop.failing("a") is None
        told.loop.wake("a")
        told.failed("a", times)
    found = told.loop.failing("a")
    assert found is not None
    assert found.message == "no route"
    del told.passes.fails["a"]

    for good in range(1, THRESHOLD + 1):
        assert told.loop.failing("a") == found
        told.loop.wake("a")
        told.has_run("a", THRESHOLD + good)

    wait_until(lambda: told.loop.failing("a") is None)


def test_a_supervisor_whose_passes_failed_is_proven_healthy_soon(told: Told) -> None:
    """Goal: after an outage nobody waits three whole periods for the good word."""
    told.passes.fails["a"] = MetadataUnavailable("no route")
    for times in range(1, THRESHOLD + 1):
        told.loop.wake("a")
        told.failed("a", times)
    del told.passes.fails["a"]
    told.loop.wake("a")
    told.has_run("a", THRESHOLD + 1)
    healed = told.clock.now()

    def proven() -> bool:
        told.after(PROOF_S * SECOND)
        return told.loop.failing("a") is None

    wait_until(proven)

    assert told.clock.now() - healed < told.passes.next_in


def test_a_lost_lease_ends_quietly(told: Told) -> None:
    """Goal: a follower neither complains nor tries again."""
    told.passes.fails["a"] = LeaseLost("another leads")
    told.loop.wake("a")
    told.has_run("a", 1)

    told.after(HOUR)

    told.has_run("a", 1)
    assert told.loop.errors("a") == []


def test_an_id_that_was_never_used_is_not_looked_at_again(told: Told) -> None:
    told.passes.unknown.add("a")
    told.loop.wake("a")
    told.has_run("a", 1)

    told.after(2 * HOUR)

    told.has_run("a", 1)


def test_a_planner_that_always_acts_is_slowed_down(told: Told) -> None:
    """Goal: a bug that goes round in a circle does not take a whole core."""
    told.passes.actions, told.passes.next_in = BUSY, 0 * SECOND
    told.loop.wake("a")
    told.has_run("a", BUSY_PASSES)

    told.after(BREATH_S / 2 * SECOND)
    told.has_run("a", BUSY_PASSES)
    told.after(BREATH_S / 2 * SECOND)
    wait_until(lambda: told.passes.count("a") == BUSY_PASSES + 1)


def test_what_is_forgotten_is_not_run(told: Told) -> None:
    """Goal: a deposed leader drops its timers."""
    told.loop.wake("a")
    told.has_run("a", 1)
    wait_until(lambda: told.loop.last_pass("a") is not None)

    told.loop.forget()
    told.after(2 * HOUR)

    told.has_run("a", 1)
    assert told.loop.last_pass("a") is None


def test_stopping_lets_the_running_pass_end_and_starts_no_other() -> None:
    """Goal: no pass writes after the process gave its lease back."""
    with running(threads=1) as told:
        told.passes.gates["a"] = threading.Event()
        told.loop.wake("a")
        wait_until(lambda: told.passes.count("a") == 1)
        told.loop.wake("a")
        told.loop.wake("b")
        stopping = threading.Thread(target=told.loop.stop)
        stopping.start()
        wait_until(_refuses(told.loop))
        told.passes.gates["a"].set()
        stopping.join(30)

        assert not stopping.is_alive()
        assert told.passes.idle("a")
        assert (told.passes.count("a"), told.passes.count("b")) == (1, 0)


def _refuses(loop: Loop) -> Callable[[], bool]:
    return lambda: loop._stopping


def test_a_loop_that_never_started_can_be_stopped() -> None:
    """Goal: a start that fails half way ends in its own error, not in the loop's."""
    told = Told()

    told.loop.stop()
    told.loop.stop()

    told.loop.wake("late")
    assert told.passes.count("late") == 0
