"""What the loop keeps of supervisors that are over: nothing, or a look now and then."""

import threading
from collections.abc import Iterator

import pytest

from supervisor.control.loop import REST_S
from tests.supervisor.control.test_loop import SECOND, Told, running
from tests.supervisor.core.snapshots import HOUR, MINUTE
from tests.waiting import wait_until


@pytest.fixture
def told() -> Iterator[Told]:
    """A running loop with two threads."""
    with running() as told:
        yield told


def test_nothing_is_kept_of_a_terminated_one_of_which_nothing_is_left(told: Told) -> None:
    """Goal: ten thousand ids that came and went cost neither passes nor memory (P4)."""
    names, dropped = [f"gone {number}" for number in range(10)], list[str]()
    told.loop.dropped = dropped.append
    told.passes.terminated.update(names)
    for name in names:
        told.loop.wake(name)
        told.has_run(name, 1)

    told.after(2 * HOUR)

    wait_until(lambda: told.loop.supervisors() == 1)  # the one that the test waits by
    assert sorted(dropped) == names
    assert [told.passes.count(name) for name in names] == [1] * len(names)
    assert told.loop.last_pass(names[0]) is None


def test_a_terminated_one_that_comes_back_has_its_passes(told: Told) -> None:
    told.passes.terminated.add("a")
    told.loop.wake("a")
    told.has_run("a", 1)

    told.passes.terminated.clear()
    told.passes.next_in = MINUTE
    told.loop.wake("a")
    told.has_run("a", 2)
    told.after(2 * MINUTE)

    told.has_run("a", 3)


def test_a_wake_during_the_last_pass_is_not_lost(told: Told) -> None:
    told.passes.terminated.add("a")
    told.passes.gates["a"] = threading.Event()
    told.loop.wake("a")
    wait_until(lambda: told.passes.count("a") == 1)

    told.loop.wake("a")
    told.passes.gates["a"].set()

    told.has_run("a", 2)


def test_a_completed_one_rests_until_it_is_woken(told: Told) -> None:
    told.passes.over.add("a")
    told.passes.next_in = MINUTE
    told.loop.wake("a")
    told.has_run("a", 1)
    wait_until(lambda: told.loop.last_pass("a") is not None)

    told.after((REST_S - 1) * SECOND)
    told.loop.rouse("a", version=1)
    told.has_run("a", 1)
    told.loop.wake("a")

    told.has_run("a", 2)


def test_a_rest_has_an_end_and_another_version_ends_it_at_once(told: Told) -> None:
    """Goal: a wake-up that was lost with an acknowledgement costs a while, never the result."""
    told.passes.over.add("a")
    told.loop.wake("a")
    told.has_run("a", 1)
    wait_until(lambda: told.loop.last_pass("a") is not None)

    told.loop.rouse("a", version=2)
    told.has_run("a", 2)
    told.after(REST_S * SECOND)
    told.loop.rouse("a", version=1)

    told.has_run("a", 3)


def test_what_is_not_over_is_roused_at_once(told: Told) -> None:
    told.loop.wake("a")
    told.has_run("a", 1)

    told.loop.rouse("a", version=1)
    told.loop.rouse("b", version=1)

    told.has_run("a", 2)
    told.has_run("b", 1)
