"""Who leads: by observation alone; two candidates have one store and a clock each."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.leadership import Leadership
from supervisor.core.attention.cluster import LeaderReplaced
from supervisor.core.values.errors import LeaseLost, MetadataUnavailable
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Store, Transaction
from tests.supervisor.core.snapshots import NOON
from tests.waiting import wait_until

TTL = timedelta(seconds=6)
SECOND = timedelta(seconds=1)


class BrokenStore:
    """A store that does not answer while it is down, or answers late."""

    def __init__(self, store: Store) -> None:
        self.sound = store
        self.down = False
        self.bug: BaseException | None = None
        """Raised in place of an answer: nobody foresaw it."""
        self.delay: tuple[ManualClock, timedelta] | None = None

    def reading(self) -> AbstractContextManager[Transaction]:
        self._check()
        return self.sound.reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        self._check()
        return self._writing()

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with self.sound.writing() as tx:
            yield tx
        if self.delay is not None:
            clock, by = self.delay
            clock.advance(by)

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        self._check()
        return self.sound.leading(term)

    def on_added(self, heard: Heard) -> None:
        self.sound.on_added(heard)

    def _check(self) -> None:
        if self.bug is not None:
            raise self.bug
        if self.down:
            raise MetadataUnavailable("no route to the database")


@dataclass
class Candidate:
    """One overlord process with a clock of its own."""

    name: str
    store: BrokenStore
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOON))
    terms_begun: list[int] = field(default_factory=list)
    begin_fails: bool = False

    def __post_init__(self) -> None:
        self.is_ = Leadership(
            self.store, self.clock, holder=self.name, url=f"http://{self.name}", ttl=TTL
        )
        self.is_._on_lead = self._begin

    def _begin(self) -> None:
        if self.begin_fails:
            raise MetadataUnavailable("no route to the database")
        self.terms_begun.append(self.is_.term())

    def waits(self, by: timedelta) -> "Candidate":
        """Let time pass on its own clock and look."""
        self.clock.advance(by)
        self.is_.step()
        return self


@pytest.fixture
def one(store: Store) -> Candidate:
    """The first to come: it leads."""
    one = Candidate("one", BrokenStore(store))
    one.is_.step()
    assert one.is_.term() == 1
    return one


@pytest.fixture
def two(store: Store, one: Candidate) -> Candidate:
    """A candidate that has just seen the lease of the first."""
    two = Candidate("two", BrokenStore(store))
    assert one.is_.leads()
    two.is_.step()
    return two


def test_a_candidate_takes_over_one_ttl_after_the_last_sign_of_life(
    one: Candidate, two: Candidate
) -> None:
    """Goal: no two clocks are compared: what counts is how long it saw nothing new (P2)."""
    for _ in range(10):
        one.waits(SECOND)
        assert not two.waits(SECOND).is_.leads()

    assert not two.waits(TTL - SECOND / 100).is_.leads()
    assert two.waits(SECOND / 100).is_.term() == 2


def test_a_leader_knows_whom_it_replaced_and_when(one: Candidate, two: Candidate) -> None:
    """Goal: whoever is woken up hears that the leader has changed, and between which overlords."""
    assert one.is_.replaced is None, "nobody led before"

    two.waits(TTL)

    assert two.is_.replaced == LeaderReplaced("http://one", "http://two", NOON + TTL)


def test_a_lease_that_was_released_replaces_nobody(one: Candidate, two: Candidate) -> None:
    one.is_.stop()

    assert two.waits(SECOND).is_.leads()
    assert two.is_.replaced is None


def test_a_silence_of_the_database_begins_with_the_first_look_without_an_answer(
    one: Candidate,
) -> None:
    one.waits(SECOND)
    assert one.is_.silent_since is None

    one.store.down = True
    for _ in range(3):
        one.waits(SECOND)

    assert one.is_.silent_since == NOON + 2 * SECOND
    one.store.down = False
    assert one.waits(SECOND).is_.silent_since is None


def test_a_renewal_late_in_the_ttl_starts_the_wait_again(one: Candidate, two: Candidate) -> None:
    two.waits(TTL - SECOND / 100)
    one.waits(SECOND)

    assert not two.waits(SECOND).is_.leads()
    assert not two.waits(TTL - SECOND / 100).is_.leads()
    assert two.waits(SECOND).is_.leads()


def test_a_candidate_whose_clock_jumps_does_not_take_what_it_has_not_watched(
    one: Candidate, store: Store
) -> None:
    """Goal: a process that was frozen, or has just begun, waits one whole TTL first."""
    late = Candidate("late", BrokenStore(store))

    assert not late.waits(100 * TTL).is_.leads()
    assert not late.waits(TTL / 2).is_.leads()
    assert one.is_.leads()


@pytest.mark.parametrize(("share", "leads"), [(0.0, True), (0.66, True), (0.67, False)])
def test_a_holder_acts_for_two_thirds_of_a_ttl(
    one: Candidate, share: float, *, leads: bool
) -> None:
    """Goal: it has stopped when the next one begins (P2)."""
    one.clock.advance(share * TTL)

    assert one.is_.leads() is leads
    if not leads:
        with pytest.raises(LeaseLost):
            one.is_.term()


def test_the_two_thirds_count_from_the_beginning_of_a_renewal(one: Candidate) -> None:
    """Goal: a renewal that took long to be answered was seen by others when it began."""
    one.store.delay = (one.clock, TTL / 3)
    one.is_.step()
    one.store.delay = None

    one.clock.advance(TTL / 3 - SECOND / 100)
    assert one.is_.leads()
    one.clock.advance(SECOND / 50)
    assert not one.is_.leads()


def test_a_taken_lease_too_counts_from_the_beginning(store: Store) -> None:
    slow = Candidate("slow", BrokenStore(store))
    slow.store.delay = (slow.clock, TTL)
    slow._begin = lambda: None  # type: ignore[method-assign]
    slow.is_._on_lead = lambda: None

    slow.is_.step()

    assert not slow.is_.leads()


def test_there_is_never_more_than_one_that_acts(one: Candidate, two: Candidate) -> None:
    """Goal: whatever the steps, on clocks that run alike the two never both act."""
    for turn in range(200):
        one.clock.advance(SECOND / 2)
        two.clock.advance(SECOND / 2)
        one.store.down = turn % 60 > 20
        two.store.down = turn % 45 > 30
        for candidate in (one, two) if turn % 2 else (two, one):
            candidate.is_.step()
            assert not (one.is_.leads() and two.is_.leads())
    assert len({*one.terms_begun, *two.terms_begun}) > 2  # both have led


def test_a_released_lease_is_taken_at_once(one: Candidate, two: Candidate) -> None:
    """Goal: a graceful stop costs no TTL."""
    one.is_.stop()

    two.is_.step()

    assert two.is_.term() == 2
    with pytest.raises(LeaseLost):
        one.is_.term()


def test_a_stop_without_a_database_leaves_the_lease_to_run_out(
    one: Candidate, two: Candidate
) -> None:
    one.store.down = True

    one.is_.stop()

    assert not one.is_.leads()
    assert not two.waits(SECOND).is_.leads()
    assert two.waits(TTL).is_.leads()


def test_a_deposed_leader_writes_nothing_even_before_it_notices(
    one: Candidate, two: Candidate, store: Store
) -> None:
    """Goal: every write of a leader reads the term first (P1)."""
    two.waits(TTL)
    assert one.is_.term() == 1  # its own clock stands: it believes to lead

    with pytest.raises(LeaseLost) as lost, store.leading(one.is_.term()) as tx:
        tx.offsets.of("never reached")

    assert lost.value.leader == "http://two"


def test_a_deposed_leader_notices_at_its_next_renewal_and_names_the_new_one(
    one: Candidate, two: Candidate
) -> None:
    two.waits(TTL)
    one.waits(SECOND)
    one.waits(SECOND)

    with pytest.raises(LeaseLost) as lost:
        one.is_.term()

    assert lost.value.leader == one.is_.leader_url() == "http://two"
    assert one.terms_begun == [1]


def test_a_leader_that_is_told_of_a_newer_term_stops_at_once(one: Candidate) -> None:
    one.is_.lost()

    assert not one.is_.leads()


def test_a_database_that_does_not_answer_changes_nothing(one: Candidate, two: Candidate) -> None:
    """Goal: no follower takes over, and no leader steps down, for want of an answer."""
    one.store.down = two.store.down = True

    one.waits(SECOND)
    two.waits(100 * TTL)

    assert one.is_.term() == 1
    assert not two.is_.leads()
    one.store.down = two.store.down = False
    one.is_.step()
    assert not two.waits(SECOND).is_.leads()


def test_of_two_that_take_a_free_lease_one_leads(store: Store) -> None:
    both = [Candidate(name, BrokenStore(store)) for name in ("one", "two")]

    for candidate in both:
        candidate.is_.step()

    assert [candidate.is_.leads() for candidate in both] == [True, False]


def test_a_term_begins_once_and_at_the_time_it_was_taken(one: Candidate, two: Candidate) -> None:
    """Goal: UNKNOWN workers have their whole timeout from the start of a term (P6)."""
    began = two.waits(TTL).clock.monotonic()
    two.waits(SECOND)
    two.waits(SECOND)

    assert two.terms_begun == [2]
    assert two.is_.led_since() == began
    assert one.terms_begun == [1]


def test_a_term_whose_beginning_failed_is_begun_again(store: Store) -> None:
    """Goal: a leader that could not read its workers does not lead on without them."""
    one = Candidate("one", BrokenStore(store), begin_fails=True)
    one.is_.step()
    assert one.terms_begun == []

    one.begin_fails = False
    one.waits(SECOND)
    one.waits(SECOND)

    assert one.terms_begun == [1]


def test_a_term_that_lapsed_begins_again_when_it_is_renewed(one: Candidate) -> None:
    """Goal: passes that found no leader in between were dropped: somebody wakes them again."""
    one.waits(TTL * 2 / 3)

    assert one.is_.term() == 1
    assert one.terms_begun == [1, 1]


def test_a_lapse_counts_against_no_worker(one: Candidate) -> None:
    """Goal: a database that was away for longer than `worker_timeout` makes no worker LOST (P6)."""
    began = one.is_.led_since()
    one.waits(SECOND)
    assert one.is_.led_since() == began, "renewed in time, the term goes on"

    one.clock.advance(TTL * 10)
    assert not one.is_.leads()
    assert one.is_.led_since() == one.clock.monotonic(), "before it is renewed, too"
    one.waits(SECOND)

    assert one.is_.term() == 1
    assert one.is_.led_since() == one.clock.monotonic()


def test_the_lease_is_renewed_by_a_thread_of_its_own(store: Store) -> None:
    """Goal: a slow pass never costs the lease (R8)."""
    clock = ManualClock(NOON)
    leader = Leadership(store, clock, holder="me", url="http://me", ttl=timedelta(milliseconds=300))
    begun: list[int] = []
    leader.start(lambda: begun.append(leader.term()))

    def renewals() -> int:
        with store.reading() as tx:
            lease = tx.lease.read()
        return 0 if lease is None else lease.renewals

    wait_until(lambda: renewals() >= 2)
    leader.stop()

    assert begun == [1]
    with store.reading() as tx:
        released = tx.lease.read()
    assert released is not None
    assert not released.holder
