"""The thread of the lease: what nobody foresaw costs one look, not the term, not the thread."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.leadership import Leadership
from supervisor.ports.store import Store
from tests.supervisor.control.test_leadership import SECOND, TTL, BrokenStore, Candidate, one, two
from tests.supervisor.core.snapshots import NOON
from tests.waiting import wait_until

__all__ = ["one", "two"]

SOON = timedelta(milliseconds=300)


@pytest.fixture
def loop(store: Store) -> Iterator[tuple[Leadership, BrokenStore]]:
    """A leadership to be started, on a store that can be broken."""
    broken = BrokenStore(store)
    leader = Leadership(broken, ManualClock(NOON), holder="me", url="http://me", ttl=SOON)
    yield leader, broken
    broken.bug = None
    leader.stop()


def test_an_unforeseen_error_costs_one_look_and_not_the_loop(
    loop: tuple[Leadership, BrokenStore],
) -> None:
    """Goal: a table that is away for a moment does not leave a process that never leads again."""
    leader, broken = loop
    broken.bug = AssertionError("the metadata database refused a statement: no such table")
    leader.start(lambda: None)
    wait_until(lambda: leader.counts.unanswered >= 2)
    assert not leader.loop_ended

    broken.bug = None
    wait_until(leader.leads)

    assert not leader.loop_ended


def test_a_term_whose_beginning_fails_unforeseen_is_kept_and_begun_again(
    loop: tuple[Leadership, BrokenStore],
) -> None:
    """Goal: neither is the term skipped nor the lease lost for what the first look met."""
    leader, _ = loop
    tries: list[int] = []

    def begin() -> None:
        tries.append(leader.term())
        if len(tries) < 3:
            raise KeyError("a row that nobody foresaw")

    leader.start(begin)
    wait_until(lambda: len(tries) >= 3)
    renewed = leader.counts.renewed
    wait_until(lambda: leader.counts.renewed >= renewed + 2)

    assert tries == [1, 1, 1]
    assert leader.leads()


def test_the_end_of_a_term_is_passed_on_until_it_is_heard(one: Candidate, two: Candidate) -> None:
    """Goal: long polls end, so that workers ask the new leader, whatever the first try met."""
    heard: list[bool] = []

    def end() -> None:
        heard.append(True)
        if len(heard) < 2:
            raise KeyError("a listener that nobody foresaw")

    one.is_._on_lost = end
    two.waits(TTL)
    with pytest.raises(KeyError):
        one.waits(SECOND)
    one.waits(SECOND)
    one.waits(SECOND)

    assert len(heard) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_loop_that_ended_all_the_same_is_seen(loop: tuple[Leadership, BrokenStore]) -> None:
    """Goal: the process can end with it, and readiness can name it."""
    leader, broken = loop
    assert not leader.loop_ended, "it has not begun"
    broken.bug = SystemExit()
    leader.start(lambda: None)

    wait_until(lambda: leader.loop_ended)
