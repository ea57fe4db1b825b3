"""The lease: one holder per term, and no write by another (P1, P2).

Slow: each story happens in both databases, and some wait for connections.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.control.leadership import RENEWALS_PER_TTL, Leadership
from supervisor.core.model.rows import Lease
from supervisor.core.values.errors import LeaseLost, MetadataBusy
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from tests.conformance.stories import NOON, take_lease
from tests.waiting import wait_until

A = ("a", "http://a:8090")
B = ("b", "http://b:8090")


def _read(store: Store) -> Lease | None:
    with store.reading() as tx:
        return tx.lease.read()


def _take(store: Store, seen: Lease | None, candidate: tuple[str, str]) -> Lease | None:
    with store.writing() as tx:
        return tx.lease.take(seen, *candidate)


def _renew(store: Store, term: int, holder: str) -> bool:
    with store.writing() as tx:
        return tx.lease.renew(term, holder)


def _release(store: Store, term: int, holder: str) -> None:
    with store.writing() as tx:
        tx.lease.release(term, holder)


def _may_lead(store: Store, term: int) -> bool:
    try:
        with store.leading(term) as tx:
            tx.specs.append("proof", None, NOON, f"term {term}")
    except LeaseLost:
        return False
    return True


def test_at_first_nobody_leads(store: Store) -> None:
    assert _read(store) is None
    with pytest.raises(LeaseLost) as lost, store.leading(1):
        pass
    assert lost.value.leader is None


def test_the_first_to_take_it_leads_with_term_1(store: Store) -> None:
    assert _take(store, None, A) == Lease(1, *A, renewals=0)
    assert _take(store, None, B) is None
    assert _read(store) == Lease(1, *A, renewals=0)
    assert _may_lead(store, 1)


def test_a_renewal_counts_up_for_the_holder_alone(store: Store) -> None:
    _take(store, None, A)
    assert _renew(store, 1, "a")
    assert _renew(store, 1, "a")
    assert not _renew(store, 1, "b")
    assert not _renew(store, 2, "a")
    assert _read(store) == Lease(1, *A, renewals=2)


def test_a_takeover_grows_the_term_and_ends_the_old_one(store: Store) -> None:
    """Goal: rule P1; the old leader is refused and hears who leads."""
    seen = _take(store, None, A)
    assert _take(store, seen, B) == Lease(2, *B, renewals=0)

    assert not _renew(store, 1, "a")
    assert (_may_lead(store, 1), _may_lead(store, 2)) == (False, True)
    with pytest.raises(LeaseLost) as lost, store.leading(1):
        pass
    assert lost.value.leader == "http://b:8090"


def test_a_lease_that_was_renewed_meanwhile_is_not_taken(store: Store) -> None:
    """Goal: rule P2; a sign of life after the candidate's look saves the holder."""
    seen = _take(store, None, A)
    _renew(store, 1, "a")
    assert _take(store, seen, B) is None
    assert _read(store) == Lease(1, *A, renewals=1)
    assert _may_lead(store, 1)


def test_of_two_candidates_one_takes_over(store: Store) -> None:
    seen = _take(store, None, A)
    assert _take(store, seen, B) is not None
    assert _take(store, seen, ("c", "http://c")) is None
    assert _read(store) == Lease(2, *B, renewals=0)


def test_a_released_lease_is_nobodys_until_the_next_takes_it(store: Store) -> None:
    """Goal: the next candidate sees an empty holder, and need not wait for a silence."""
    _take(store, None, A)
    _renew(store, 1, "a")
    _release(store, 1, "a")

    seen = _read(store)
    assert seen == Lease(1, "", "", renewals=1)
    assert not _renew(store, 1, "a")
    assert not _may_lead(store, 1)
    assert _take(store, seen, B) == Lease(2, *B, renewals=0)
    assert _may_lead(store, 2)


def test_a_candidate_that_looked_before_the_release_looks_again(store: Store) -> None:
    seen = _take(store, None, A)
    _release(store, 1, "a")
    assert _take(store, seen, B) is None
    assert _take(store, _read(store), B) is not None


@pytest.mark.parametrize(("term", "holder"), [(1, "b"), (2, "a")])
def test_only_the_holder_releases(store: Store, term: int, holder: str) -> None:
    _take(store, None, A)
    _release(store, term, holder)
    assert _read(store) == Lease(1, *A, renewals=0)


def test_a_forged_view_of_the_lease_takes_nothing(store: Store) -> None:
    seen = _take(store, None, A)
    assert seen is not None
    for forged in (replace(seen, term=2), replace(seen, renewals=1), replace(seen, holder="b")):
        assert _take(store, forged, B) is None
    assert _may_lead(store, 1)


def test_what_a_refused_leader_wanted_to_write_is_not_there(store: Store) -> None:
    old = take_lease(store, "a")
    new = take_lease(store, "b")
    assert not _may_lead(store, old)
    with store.reading() as tx:
        assert tx.specs.newest("proof") is None
    assert _may_lead(store, new)


TTL_SHORT = timedelta(seconds=2)


def _is_exhausted(store: SqlStore) -> bool:
    """Whether a transaction does not get a connection in time."""
    try:
        with store.reading():
            return False
    except MetadataBusy:
        return True


@pytest.fixture
def crowded(database_url: str) -> Iterator[SqlStore]:
    """A store whose connections are all held, by slow readers that others wait behind."""
    store = SqlStore(database_url, lease_ttl=TTL_SHORT, pool_size=4)
    ended = Event()

    def read() -> None:
        while not ended.is_set():
            with suppress(MetadataBusy), store.reading() as tx:
                tx.specs.all_newest()
                ended.wait(TTL_SHORT.total_seconds() / 4)

    with ThreadPoolExecutor(16) as readers:
        reads = [readers.submit(read) for _ in range(16)]
        wait_until(lambda: _is_exhausted(store))
        yield store
        ended.set()
        for each in reads:
            each.result(timeout=30)
    store.close()


def test_the_lease_is_renewed_and_released_while_readers_hold_every_connection(
    crowded: SqlStore,
) -> None:
    """Goal: no number of slow readers makes a leader stop acting, or leave the lease to run out."""
    own = crowded.for_lease()
    leader = Leadership(own, SystemClock(), holder="me", url="http://me", ttl=TTL_SHORT)
    begun: list[int] = []
    leader.start(lambda: begun.append(leader.term()))

    wait_until(lambda: leader.counts.renewed >= 2 * RENEWALS_PER_TTL)
    counts = leader.counts
    leader.stop()

    assert begun == [1], "it began once, and has never lapsed"
    assert counts.unanswered == 0
    with own.reading() as tx:
        lease = tx.lease.read()
    own.close()
    assert lease is not None
    assert not lease.holder


def test_writers_that_wait_for_a_connection_do_not_hold_the_lease_up(crowded: SqlStore) -> None:
    """Goal: on SQLite, where writers take turns, nobody keeps the turn while it waits."""
    own = crowded.for_lease()
    leader = Leadership(own, SystemClock(), holder="me", url="http://me", ttl=TTL_SHORT)
    begun: list[int] = []
    leader.start(lambda: begun.append(leader.term()))
    wait_until(leader.leads)
    ended = Event()

    def write() -> None:
        while not ended.is_set():
            with suppress(MetadataBusy), crowded.leading(leader.term()) as tx:
                tx.specs.all_newest()

    with ThreadPoolExecutor(8) as writers:
        tries = [writers.submit(write) for _ in range(8)]
        renewed = leader.counts.renewed
        wait_until(lambda: leader.counts.renewed >= renewed + 2 * RENEWALS_PER_TTL)
        ended.set()
        for each in tries:
            each.result(timeout=30)
    leader.stop()
    own.close()

    assert begun == [1]
