"""Transactions: all or nothing, one view, and one winner of a race."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.core.values.errors import LeaseLost, MetadataBusy, StaleCommit, SupervisorError
from supervisor.ports.store import Store, Transaction
from tests.conformance.stories import (
    CLICKS,
    IDS,
    NOON,
    P0,
    P1,
    TOPIC_ID,
    Leader,
    attempt,
    opening,
    publication,
    segment,
    take_lease,
)


class _CrashError(Exception):
    """What ends a block in the middle."""


def test_a_block_that_raises_leaves_nothing(leader: Leader) -> None:
    leader.opens(opening("g0", 1, {P1: 0}))

    def write_and_crash() -> None:
        with leader.writes() as tx:
            write(tx)
            raise _CrashError

    def write(tx: Transaction) -> None:
        tx.specs.append(CLICKS, None, NOON, "")
        tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0})
        tx.offsets.advance(CLICKS, {P0: 0}, {P0: 9}, IDS)
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 0}), NOON)
        tx.generations.close("g0", GenerationState.EMPTY, NOON)
        tx.tasks.start(attempt("t1"))
        tx.segments.add(publication(), [segment("a", NOON)])

    with pytest.raises(_CrashError):
        write_and_crash()

    with leader.reads() as tx:
        assert tx.specs.newest(CLICKS) is None
        assert tx.offsets.of(CLICKS) == {}
        assert [g.id for g in tx.generations.live()] == ["g0"]
        assert tx.tasks.active() == []
        assert tx.segments.of_supervisor(CLICKS) == []
    assert leader.opens(opening("g1", 1, {P0: 0})), "its partitions are free"


def test_a_transaction_sees_its_own_writes(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0})
        assert tx.offsets.of(CLICKS)[P0].next_offset == 0
        tx.offsets.advance(CLICKS, {P0: 0}, {P0: 9}, IDS)
        assert tx.offsets.of(CLICKS)[P0].next_offset == 9


def test_a_reader_keeps_one_view_while_others_write(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.reads() as reader:
        assert [g.id for g in reader.generations.live()] == ["g1"]
        with leader.writes() as tx:
            tx.tasks.start(attempt("t1"))
            tx.generations.open(CLICKS, "table", opening("g2", 2, {P1: 0}), NOON)
            assert reader.tasks.active() == []
        assert reader.tasks.active() == []
        assert [g.id for g in reader.generations.live()] == ["g1"]

    with leader.reads() as reader:
        assert [t.id for t in reader.tasks.active()] == ["t1"]


def test_a_reading_transaction_does_not_write(leader: Leader) -> None:
    with pytest.raises((AssertionError, SupervisorError)), leader.reads() as tx:
        tx.specs.append(CLICKS, None, NOON, "")
    with leader.writes() as tx:
        assert tx.specs.newest(CLICKS) is None


def test_of_commits_of_one_range_exactly_one_wins(leader: Leader) -> None:
    """Goal: the compare-and-swap holds when writers really run at the same time."""
    with leader.writes() as tx:
        tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0, P1: 0})
    racers = 4
    start = Barrier(racers)

    def commit(number: int) -> int | None:
        start.wait(10)
        try:
            with leader.writes() as tx:
                ends = {P0: number, P1: number}
                tx.offsets.advance(CLICKS, {P0: 0, P1: 0}, ends, IDS)
        except StaleCommit:
            return None
        return number

    with ThreadPoolExecutor(racers) as pool:
        won = [end for end in pool.map(commit, range(1, racers + 1)) if end is not None]
    assert len(won) == 1
    assert leader.committed() == {P0: won[0], P1: won[0]}


def test_of_first_tasks_of_one_replica_exactly_one_starts(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    racers = 4
    start = Barrier(racers)

    def begin(number: int) -> bool:
        start.wait(10)
        try:
            with leader.writes() as tx:
                return tx.tasks.start(attempt(f"t{number}"))
        except SupervisorError:
            return False

    with ThreadPoolExecutor(racers) as pool:
        assert sum(pool.map(begin, range(racers))) == 1
    with leader.reads() as tx:
        assert len(tx.tasks.active()) == 1


def test_of_candidates_for_one_lease_exactly_one_takes_it(store: Store) -> None:
    take_lease(store)
    with store.reading() as tx:
        seen = tx.lease.read()
    racers = 4
    start = Barrier(racers)

    def take(number: int) -> bool:
        start.wait(10)
        with store.writing() as tx:
            return tx.lease.take(seen, f"c{number}", "http://c") is not None

    with ThreadPoolExecutor(racers) as pool:
        assert sum(pool.map(take, range(racers))) == 1


def test_versions_stored_at_the_same_time_all_count(leader: Leader) -> None:
    racers = 4
    start = Barrier(racers)

    def store_one(_: int) -> int:
        start.wait(10)
        with leader.writes() as tx:
            return tx.specs.append(CLICKS, None, NOON, "").version

    with ThreadPoolExecutor(racers) as pool:
        assert sorted(pool.map(store_one, range(racers))) == [1, 2, 3, 4]


def test_a_takeover_comes_before_or_after_a_leaders_transaction(leader: Leader) -> None:
    """Goal: rule P1: no takeover commits between a leader's first read and its commit.

    The candidate begins inside the leader's transaction, so it has to wait, or to give up.
    """
    with leader.reads() as tx:
        seen = tx.lease.read()

    def take() -> bool:
        try:
            with leader.store.writing() as tx:
                return tx.lease.take(seen, "second", "http://second") is not None
        except MetadataBusy:
            return False

    with ThreadPoolExecutor(1) as pool:
        with leader.writes() as tx:
            tx.specs.append(CLICKS, None, NOON, "old leader")
            candidate = pool.submit(take)
            with leader.reads() as reader:
                present = reader.lease.read()
            assert present is not None
            assert present.term == leader.term
            assert not candidate.done()
        took = candidate.result(timeout=30)

    with leader.reads() as tx:
        assert tx.specs.newest(CLICKS) is not None, "the old leader's write was in time"
    assert took
    with pytest.raises(LeaseLost), leader.writes():
        pass


@pytest.mark.pg
def test_a_renewal_never_waits_for_a_leaders_transaction(postgresql_leader: Leader) -> None:
    """Goal: rule P1: renewals write another row; SQLite has one writer, so it is not asked."""
    with postgresql_leader.writes() as tx, postgresql_leader.store.writing() as other:
        tx.specs.append(CLICKS, None, NOON, "")
        assert other.lease.renew(postgresql_leader.term, "first")


def test_a_task_ended_by_two_keeps_one_verdict(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1"))
    start = Barrier(2)

    def end(status: TaskStatus) -> bool:
        start.wait(10)
        with leader.writes() as tx:
            return tx.tasks.end("t1", status, status.value, NOON)

    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(end, (TaskStatus.SUCCESS, TaskStatus.FAILED)))
    assert sorted(ended) == [False, True]
    found = leader.task("t1")
    assert found.status == found.reason
