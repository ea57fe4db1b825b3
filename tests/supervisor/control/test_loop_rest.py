"""What the loop does for a supervisor that is over or unreadable: a look now and then, or none."""

import threading
from collections.abc import Iterator

import pytest

from supervisor.control.loop import REST_S
from supervisor.core.values.errors import SpecUnreadable
from supervisor.core.values.spec_facts import SpecFacts
from tests.supervisor.control.test_loop import SECOND, LoopRig, running
from tests.supervisor.core.snapshots import HOUR, MINUTE, NOON
from tests.waiting import wait_until


@pytest.fixture
def rig() -> Iterator[LoopRig]:
    """A running loop with two threads."""
    with running() as rig:
        yield rig


def test_nothing_is_kept_of_a_terminated_one_of_which_nothing_is_left(rig: LoopRig) -> None:
    """Goal: ten thousand ids that came and went cost neither passes nor memory (P4)."""
    names, dropped = [f"gone {number}" for number in range(10)], list[str]()
    rig.loop.dropped = dropped.append
    rig.passes.terminated.update(names)
    for name in names:
        rig.loop.wake(name)
        rig.has_run(name, 1)

    rig.after(2 * HOUR)

    wait_until(lambda: rig.loop.supervisors() == 1)  # the one that the test waits by
    assert sorted(dropped) == names
    assert [rig.passes.count(name) for name in names] == [1] * len(names)
    assert rig.loop.last_pass(names[0]) is None


def test_a_terminated_one_that_comes_back_has_its_passes(rig: LoopRig) -> None:
    rig.passes.terminated.add("a")
    rig.loop.wake("a")
    rig.has_run("a", 1)

    rig.passes.terminated.clear()
    rig.passes.next_in = MINUTE
    rig.loop.wake("a")
    rig.has_run("a", 2)
    rig.after(2 * MINUTE)

    rig.has_run("a", 3)


def test_a_wake_during_the_last_pass_is_not_lost(rig: LoopRig) -> None:
    rig.passes.terminated.add("a")
    rig.passes.gates["a"] = threading.Event()
    rig.loop.wake("a")
    wait_until(lambda: rig.passes.count("a") == 1)

    rig.loop.wake("a")
    rig.passes.gates["a"].set()

    rig.has_run("a", 2)


def test_a_completed_one_rests_until_it_is_woken(rig: LoopRig) -> None:
    rig.passes.over.add("a")
    rig.passes.next_in = MINUTE
    rig.loop.wake("a")
    rig.has_run("a", 1)
    wait_until(lambda: rig.loop.last_pass("a") is not None)

    rig.after((REST_S - 1) * SECOND)
    rig.loop.rouse("a", version=1)
    rig.has_run("a", 1)
    rig.loop.wake("a")

    rig.has_run("a", 2)


def test_a_rest_has_an_end_and_another_version_ends_it_at_once(rig: LoopRig) -> None:
    """Goal: a wake-up that was lost with an acknowledgement costs a while, never the result."""
    rig.passes.over.add("a")
    rig.loop.wake("a")
    rig.has_run("a", 1)
    wait_until(lambda: rig.loop.last_pass("a") is not None)

    rig.loop.rouse("a", version=2)
    rig.has_run("a", 2)
    rig.after(REST_S * SECOND)
    rig.loop.rouse("a", version=1)

    rig.has_run("a", 3)


def test_what_is_not_over_is_roused_at_once(rig: LoopRig) -> None:
    rig.loop.wake("a")
    rig.has_run("a", 1)

    rig.loop.rouse("a", version=1)
    rig.loop.rouse("b", version=1)

    rig.has_run("a", 2)
    rig.has_run("b", 1)


def test_a_version_that_cannot_be_read_is_looked_at_once_in_a_while(rig: LoopRig) -> None:
    """Goal: what only a newer release reads fills no log, and another version is looked at."""
    rig.passes.fails["a"] = SpecUnreadable("a", 1, None, [], created_at=NOON, facts=SpecFacts())
    rig.loop.rouse("a", version=1)
    rig.failed("a", 1)

    rig.loop.rouse("a", version=1)
    rig.after((REST_S - 1) * SECOND)
    rig.failed("a", 1)
    rig.loop.rouse("a", version=2)

    rig.failed("a", 2)


def test_an_unreadable_version_that_was_repaired_is_read_after_a_rest(rig: LoopRig) -> None:
    rig.passes.fails["a"] = SpecUnreadable("a", 1, None, [], created_at=NOON, facts=SpecFacts())
    rig.loop.rouse("a", version=1)
    rig.failed("a", 1)

    rig.passes.fails.clear()
    rig.after(REST_S * SECOND)
    rig.has_run("a", 2)
    rig.loop.rouse("a", version=1)

    rig.has_run("a", 3)
