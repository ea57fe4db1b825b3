"""The threads of the lease: what nobody foresaw costs one look, not the term, not the thread."""

from collections.abc import Iterator
from datetime import timedelta
from threading import Event

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.leadership import Leadership
from supervisor.ports.store import Store
from tests.supervisor.control.test_leadership import SECOND, TTL, BrokenStore, Candidate, one, two
from tests.supervisor.core.snapshots import NOON
from tests.waiting import HANGS_AFTER_S, wait_until

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


@pytest.fixture
def held_up(loop: tuple[Leadership, BrokenStore]) -> Iterator[tuple[Leadership, Event]]:
    """A leader that begins its term until the event is set, as one with many costly specs does."""
    leader, _ = loop
    begins, may_end = Event(), Event()

    def begin() -> None:
        begins.set()
        may_end.wait(HANGS_AFTER_S)

    leader.start(begin)
    assert begins.wait(HANGS_AFTER_S)
    yield leader, may_end
    may_end.set()


def test_the_lease_is_renewed_however_long_a_term_takes_to_begin(
    held_up: tuple[Leadership, Event],
) -> None:
    """Goal: the number and size of stored specs never cost the lease (R8)."""
    leader, _ = held_up

    wait_until(lambda: leader.counts.renewed >= 20, within_s=30)

    assert leader.term() == 1
    assert leader.counts.taken == 1


def test_a_stop_releases_the_lease_while_a_term_still_begins(
    held_up: tuple[Leadership, Event], store: Store
) -> None:
    """Goal: the next candidate does not wait for what this one would have looked at."""
    leader, may_end = held_up

    leader.stop()

    assert not may_end.is_set()
    with store.reading() as tx:
        lease = tx.lease.read()
    assert lease is not None
    assert not lease.holder


def test_a_lapse_while_a_term_begins_has_it_begun_once_more(one: Candidate) -> None:
    """Goal: passes that were refused during the lapse are woken, also those just woken before."""
    one.terms_begun.clear()

    def begin() -> None:
        one._begin()
        if len(one.terms_begun) == 1:
            one.clock.advance(TTL)
            one.is_._look()

    one.is_._on_lead = begin
    one.waits(TTL * 2 / 3)
    one.waits(SECOND)
    one.waits(SECOND)

    assert one.terms_begun == [1, 1]


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_begins_no_term_any_more_is_seen(
    loop: tuple[Leadership, BrokenStore],
) -> None:
    """Goal: a process that renews its lease and starts nothing does not lead on."""
    leader, _ = loop

    def begin() -> None:
        raise SystemExit

    leader.start(begin)

    wait_until(lambda: leader.loop_ended)
