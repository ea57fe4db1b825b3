"""The loop: one pass at a time per supervisor, and nobody waits for another's trouble."""

import threading
from collections.abc import Iterator
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
            return self._pass_of(name)
        finally:
            with self.lock:
                self.running[name] -= 1

    def _pass_of(self, name: str) -> Pass | None:
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


class LoopRig:
    """A running loop over passes that the test directs."""

    def __init__(self, threads: int = 2) -> None:
        self.clock = ManualClock(NOON)
        self.passes = Passes(self.clock)
        self.loop = Loop(self.passes, self.clock, threads=threads)
        self.over: list[str] = []
        """Whose passes have ended, and are planned anew."""
        self.loop.after_pass = self.over.append

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
        """Wait for a number of failed passes, until the next one is planned by the clock as it is.

        An error is known before that: a clock that is moved meanwhile would move the plan too.
        """
        wait_until(
            lambda: (
                len(self.loop.errors(name)) >= times
                and self.over.count(name) == self.passes.count(name)
            )
        )
        assert len(self.loop.errors(name)) == times


@contextmanager
def running(threads: int = 2) -> Iterator[LoopRig]:
    rig = LoopRig(threads)
    rig.loop.start()
    try:
        yield rig
    finally:
        for gate in rig.passes.gates.values():
            gate.set()
        rig.loop.stop()


@pytest.fixture
def rig() -> Iterator[LoopRig]:
    """A running loop with two threads."""
    with running() as rig:
        yield rig


def test_a_wake_makes_one_pass_and_the_plan_says_when_the_next_comes(rig: LoopRig) -> None:
    rig.passes.next_in = 30 * SECOND
    rig.loop.wake("a")
    rig.has_run("a", 1)

    rig.after(29 * SECOND)
    rig.has_run("a", 1)
    rig.after(SECOND)
    rig.has_run("a", 2)


def test_a_wake_in_some_seconds_comes_then(rig: LoopRig) -> None:
    rig.loop.wake("a", in_s=5.0)
    rig.has_run("a", 0)

    rig.after(5 * SECOND)

    rig.has_run("a", 1)


def test_one_supervisor_has_one_pass_at_a_time(rig: LoopRig) -> None:
    """Goal: passes of one supervisor are single-threaded, whoever wakes it and how often."""
    rig.passes.gates["a"] = threading.Event()
    rig.loop.wake("a")
    wait_until(lambda: rig.passes.count("a") == 1)
    for _ in range(50):
        rig.loop.wake("a")
    rig.loop.wake("a", in_s=1.0)
    rig.after(SECOND)
    assert rig.passes.count("a") == 1

    rig.passes.gates["a"].set()
    wait_until(lambda: rig.passes.count("a") == 2 and rig.passes.idle("a"))

    assert rig.passes.at_once["a"] == 1


def test_a_wake_during_a_pass_repeats_it_once(rig: LoopRig) -> None:
    """Goal: what happened after the pass had looked is seen by the next one."""
    rig.passes.gates["a"] = threading.Event()
    rig.loop.wake("a")
    wait_until(lambda: rig.passes.count("a") == 1)
    for _ in range(9):
        rig.loop.wake("a")

    rig.passes.gates["a"].set()

    rig.has_run("a", 2)


def test_several_supervisors_have_passes_side_by_side(rig: LoopRig) -> None:
    rig.passes.gates["slow"] = threading.Event()
    rig.loop.wake("slow")
    wait_until(lambda: rig.passes.count("slow") == 1)

    rig.loop.wake("quick")

    rig.has_run("quick", 1)
    assert not rig.passes.idle("slow")


def test_many_wishes_of_one_supervisor_are_one_pass(rig: LoopRig) -> None:
    """Goal: a pass that starts fulfils every older wish."""
    for number in range(20):
        rig.loop.wake("a", in_s=10.0 + number / 100)
    rig.after(11 * SECOND)

    rig.has_run("a", 1)


def test_a_failing_supervisor_waits_longer_each_time_while_another_proceeds(rig: LoopRig) -> None:
    """Goal: one supervisor's trouble stays its own: 1, 2, 4 ... 30 s."""
    rig.passes.fails["bad"] = MetadataUnavailable("no route")
    rig.passes.next_in = SECOND / 2
    rig.loop.wake("bad")
    rig.loop.wake("good")
    rig.failed("bad", 1)
    expected = 1
    for wait_s in (1, 2, 4, 8, 16, 30, 30):
        before = rig.passes.count("good")
        rig.after((wait_s - 0.25) * SECOND)
        assert rig.passes.count("bad") == expected, f"before {wait_s} s"
        wait_until(lambda before=before: rig.passes.count("good") > before)  # type: ignore[misc]
        rig.after(0.5 * SECOND)
        expected += 1
        rig.failed("bad", expected)
    assert rig.loop.errors("good") == []


def test_after_a_success_the_wait_begins_anew(rig: LoopRig) -> None:
    rig.passes.fails["a"] = MetadataUnavailable("no route")
    rig.loop.wake("a")
    rig.failed("a", 1)
    for wait_s in (1, 2, 4):
        rig.after(wait_s * SECOND)
        wait_until(lambda w=wait_s: len(rig.loop.errors("a")) == w.bit_length() + 1)  # type: ignore[misc]
    del rig.passes.fails["a"]
    rig.loop.wake("a")
    rig.has_run("a", 5)
    rig.passes.fails["a"] = MetadataUnavailable("again")
    rig.loop.wake("a")
    rig.failed("a", 5)

    rig.after(SECOND)

    rig.failed("a", 6)


def test_errors_are_kept_newest_first_and_bounded(rig: LoopRig) -> None:
    """Goal: people see what went wrong, a bug with its kind; memory stays bounded."""
    assert rig.loop.errors("a") == []
    for number in range(ERRORS_KEPT + 5):
        rig.passes.fails["a"] = ZeroDivisionError(f"number {number}")
        rig.loop.wake("a")
        rig.has_run("a", number + 1)
        wait_until(lambda n=number: f"number {n}" in rig.loop.errors("a")[0].message)  # type: ignore[misc]

    errors = rig.loop.errors("a")

    assert len(errors) == ERRORS_KEPT
    assert errors[0].kind == "ZeroDivisionError"
    assert [f"number {n}" in e.message for n, e in zip(range(24, 4, -1), errors, strict=True)]
    assert errors[0].at == rig.clock.now()


def test_a_failed_pass_leaves_the_last_good_one(rig: LoopRig) -> None:
    rig.loop.wake("a")
    rig.has_run("a", 1)
    wait_until(lambda: rig.loop.last_pass("a") is not None)
    good = rig.loop.last_pass("a")
    rig.passes.fails["a"] = MetadataUnavailable("no route")

    rig.loop.wake("a")
    rig.failed("a", 1)

    assert rig.loop.last_pass("a") is good


def test_three_failed_passes_are_a_failing_and_three_good_ones_end_it(rig: LoopRig) -> None:
    """Source: Druid's unhealthinessThreshold and healthinessThreshold."""
    rig.passes.fails["a"] = MetadataUnavailable("no route")
    for times in range(1, THRESHOLD + 1):
        assert rig.loop.failing("a") is None
        rig.loop.wake("a")
        rig.failed("a", times)
    failure = rig.loop.failing("a")
    assert failure is not None
    assert failure.message == "no route"
    del rig.passes.fails["a"]

    for good in range(1, THRESHOLD + 1):
        assert rig.loop.failing("a") == failure
        rig.loop.wake("a")
        rig.has_run("a", THRESHOLD + good)

    wait_until(lambda: rig.loop.failing("a") is None)


def test_a_supervisor_whose_passes_failed_is_proven_healthy_soon(rig: LoopRig) -> None:
    """Goal: after an outage nobody waits three whole periods for the good word."""
    rig.passes.fails["a"] = MetadataUnavailable("no route")
    for times in range(1, THRESHOLD + 1):
        rig.loop.wake("a")
        rig.failed("a", times)
    del rig.passes.fails["a"]
    rig.loop.wake("a")
    rig.has_run("a", THRESHOLD + 1)
    healed = rig.clock.now()

    def proven() -> bool:
        rig.after(PROOF_S * SECOND)
        return rig.loop.failing("a") is None

    wait_until(proven)

    assert rig.clock.now() - healed < rig.passes.next_in


def test_a_lost_lease_ends_quietly(rig: LoopRig) -> None:
    """Goal: a follower neither complains nor tries again."""
    rig.passes.fails["a"] = LeaseLost("another leads")
    rig.loop.wake("a")
    rig.has_run("a", 1)

    rig.after(HOUR)

    rig.has_run("a", 1)
    assert rig.loop.errors("a") == []


def test_an_id_that_was_never_used_is_not_looked_at_again(rig: LoopRig) -> None:
    rig.passes.unknown.add("a")
    rig.loop.wake("a")
    rig.has_run("a", 1)

    rig.after(2 * HOUR)

    rig.has_run("a", 1)


def test_a_planner_that_always_acts_is_slowed_down(rig: LoopRig) -> None:
    """Goal: a bug that goes round in a circle does not take a whole core."""
    rig.passes.actions, rig.passes.next_in = BUSY, 0 * SECOND
    rig.loop.wake("a")
    rig.has_run("a", BUSY_PASSES)

    rig.after(BREATH_S / 2 * SECOND)
    rig.has_run("a", BUSY_PASSES)
    rig.after(BREATH_S / 2 * SECOND)
    wait_until(lambda: rig.passes.count("a") == BUSY_PASSES + 1)


def test_what_is_forgotten_is_not_run(rig: LoopRig) -> None:
    """Goal: a deposed leader drops its timers."""
    rig.loop.wake("a")
    rig.has_run("a", 1)
    wait_until(lambda: rig.loop.last_pass("a") is not None)

    rig.loop.forget()
    rig.after(2 * HOUR)

    rig.has_run("a", 1)
    assert rig.loop.last_pass("a") is None


def test_what_a_pass_saw_is_forgotten_also_while_the_next_one_runs(rig: LoopRig) -> None:
    """Goal: an overlord that leads again shows nothing of its earlier term.

    The pass that meets the lost lease is itself one that runs.
    """
    rig.loop.wake("a")
    rig.has_run("a", 1)
    wait_until(lambda: rig.loop.last_pass("a") is not None)
    rig.passes.fails["a"] = MetadataUnavailable("away")
    rig.loop.wake("a")
    rig.failed("a", 1)
    gate = rig.passes.gates["a"] = threading.Event()
    rig.passes.fails["a"] = LeaseLost("another leads")
    rig.loop.wake("a")
    wait_until(lambda: rig.passes.count("a") == 3)

    rig.loop.forget()

    assert (rig.loop.last_pass("a"), rig.loop.errors("a")) == (None, [])
    gate.set()
    rig.has_run("a", 3)
    assert rig.loop.last_pass("a") is None
