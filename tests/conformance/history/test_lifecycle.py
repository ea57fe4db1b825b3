"""What happened: told with the change, numbered in the order of commits, bounded."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier

import pytest

from supervisor.core.history.lifecycle_events import (
    LASTING,
    EventKind,
    LifecycleEvent,
    NumberedEvent,
)
from supervisor.core.history.windows import EVERY_EVENT, EventWindow
from supervisor.core.model.rows import GapKind, GenerationState, OffsetGap, TaskStatus
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    LEASE_TTL,
    NOON,
    P0,
    Leader,
    attempt,
    end_at,
    opening,
    take_lease,
)
from tests.supervisor.core.snapshots import spec

WRITERS = 4
ROUNDS = 25
KEPT = 10
FACT = LifecycleEvent(NOON, EventKind.STATE_CHANGED, CLICKS, {"state": "RUNNING"})


def all_of(leader: Leader, after: int = 0) -> list[NumberedEvent]:
    with leader.reads() as tx:
        return tx.happenings.after(after, 10_000)


def kinds(leader: Leader) -> list[str]:
    return [each.happening.kind.value for each in all_of(leader)]


def test_a_generation_and_its_task_are_told_from_beginning_to_end(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 3}), NOON)
        tx.tasks.start(attempt("t1", "g1", 0, 0))
    with leader.writes() as tx:
        tx.generations.begin_handoff("g1", 0, must_end=False, why="it is time", now=NOON)
        tx.generations.resume("g1", 1, restart_timer=False, now=NOON)
        tx.generations.begin_handoff("g1", 2, must_end=False, why="again", now=NOON)
        tx.generations.fix_end(end_at("g1", 3, {P0: 9}), NOON)
        tx.tasks.end("t1", TaskStatus.FAILED, "disk full", NOON + HOUR)
        tx.generations.close("g1", GenerationState.DISCARDED, NOON + HOUR, "it was reset")

    happenings = [each.happening for each in all_of(leader)]
    assert [each.kind.value for each in happenings] == [
        "generation-opened",
        "task-started",
        "generation-pausing",
        "generation-resumed",
        "generation-pausing",
        "generation-end-fixed",
        "task-ended",
        "generation-discarded",
    ]
    assert {(each.supervisor_id, each.group, each.generation_id) for each in happenings} == {
        (CLICKS, 0, "g1")
    }
    assert [each.task_id for each in happenings if each.task_id] == ["t1", "t1"]
    assert happenings[0].detail["start"] == {str(P0): 3}
    assert happenings[5].detail == {"start": {str(P0): 3}, "end": {str(P0): 9}}
    assert (happenings[6].detail["status"], happenings[6].detail["reason"]) == (
        "FAILED",
        "disk full",
    )
    assert happenings[7] == LifecycleEvent(
        NOON + HOUR,
        EventKind.GENERATION_DISCARDED,
        CLICKS,
        {"start": {str(P0): 3}, "end": {str(P0): 9}, "why": "it was reset"},
        group=0,
        generation_id="g1",
    )


def test_what_changes_nothing_tells_nothing(leader: Leader) -> None:
    """Goal: a pass that crashed runs again, and nothing is told twice."""
    leader.opens(opening("g1", 1, {P0: 3}))
    before = all_of(leader)
    with leader.writes() as tx:
        assert not tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 3}), NOON)
        assert not tx.generations.begin_handoff("g1", 7, must_end=False, why="", now=NOON)
        assert not tx.generations.resume("g1", 0, restart_timer=True, now=NOON)
        assert not tx.generations.fix_end(end_at("g1", 0, {P0: 9}), NOON)
        assert not tx.generations.close("g1", GenerationState.PUBLISHED, NOON)
        assert not tx.tasks.end("never", TaskStatus.SUCCESS, "", NOON)
    assert all_of(leader) == before


def test_versions_of_a_spec_are_told_by_what_they_do(leader: Leader) -> None:
    running, suspended = spec(), spec().model_copy(update={"suspended": True})
    for version in (running, spec(replicas=2), suspended, running, None, running):
        with leader.writes() as tx:
            tx.specs.append(CLICKS, version, NOON, "ada")
    assert kinds(leader) == [
        "supervisor-created",
        "spec-stored",
        "supervisor-suspended",
        "supervisor-resumed",
        "supervisor-terminated",
        "supervisor-created",
    ]
    assert all_of(leader)[-1].happening.detail == {"version": 6, "author": "ada"}


def test_a_gap_is_told(leader: Leader) -> None:
    gap = OffsetGap(CLICKS, P0, 3, 7, GapKind.LOST, "overlord", "retention", NOON)
    with leader.writes() as tx:
        tx.offsets.declare(gap)
    assert all_of(leader)[0].happening.detail == {
        "partition": str(P0),
        "from": 3,
        "to": 7,
        "kind": "lost",
        "author": "overlord",
        "why": "retention",
    }


def record_and_fail(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.happenings.record(FACT)
        raise ZeroDivisionError


def test_what_is_rolled_back_leaves_neither_a_row_nor_a_hole(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.happenings.record(FACT)
    with pytest.raises(ZeroDivisionError):
        record_and_fail(leader)
    with leader.writes() as tx:
        tx.happenings.record(FACT)
    assert [each.number for each in all_of(leader)] == [1, 2]
    with leader.reads() as tx:
        assert (tx.happenings.newest(), tx.happenings.trimmed()) == (2, 0)


def test_pages_go_both_ways_and_by_supervisor(leader: Leader) -> None:
    with leader.writes() as tx:
        for number in range(6):
            tx.happenings.record(replace(FACT, supervisor_id="ab"[number % 2]))
    with leader.reads() as tx:
        after, before = tx.happenings.after, tx.happenings.before
        assert [each.number for each in after(2, 3)] == [3, 4, 5]
        assert [each.number for each in before(None, 2)] == [6, 5]
        assert [each.number for each in before(5, 2)] == [4, 3]
        assert [each.number for each in after(0, 9, supervisor_id="b")] == [2, 4, 6]
        assert [each.number for each in before(6, 9, supervisor_id="b")] == [4, 2]


@pytest.fixture
def small(database_url: str) -> Iterator[Leader]:
    """A leader whose store keeps few."""
    sql = SqlStore(database_url, lease_ttl=LEASE_TTL, happenings_kept=KEPT)
    yield Leader(sql, take_lease(sql))
    sql.close()


def test_the_newest_are_kept_and_it_is_told_how_far_the_others_went(small: Leader) -> None:
    newest = 0
    for _ in range(7 * KEPT):
        with small.writes() as tx:
            tx.happenings.record(FACT)
        with small.reads() as tx:
            rows = tx.happenings.after(0, 10_000)
            newest, trimmed = tx.happenings.newest(), tx.happenings.trimmed()
        assert [each.number for each in rows] == list(range(trimmed + 1, newest + 1))
        assert min(newest, KEPT) <= len(rows) < 2 * KEPT
    assert newest == 7 * KEPT


def test_trimmed_events_of_rare_kinds_are_kept_apart(small: Leader) -> None:
    """Goal: readers that follow meet no hole, and a state of long ago can still be looked up."""
    recorded = [EventKind.STATE_CHANGED, EventKind.TASK_STARTED, EventKind.GAP_DECLARED] * KEPT
    for number, kind in enumerate(recorded, 1):
        with small.writes() as tx:
            tx.happenings.record(
                replace(FACT, kind=kind, supervisor_id="ab"[number % 2], detail={"n": number})
            )
    with small.reads() as tx:
        events = tx.happenings
        trimmed, newest = events.trimmed(), events.newest()
        live = events.after(0, 10_000)
        kept = events.lasting(EVERY_EVENT, newest + 1, 0, 10_000)
        of_a = events.lasting(EventWindow("a", LASTING), trimmed + 1, 3, 2)
        floors = [events.lasting_down_to(EVERY_EVENT, newest + 1, rows) for rows in (1, 3, 99)]
        times = events.time_at(trimmed), events.time_at(0)

    assert [each.number for each in live] == list(range(trimmed + 1, newest + 1))
    expected = [n for n in range(1, trimmed + 1) if recorded[n - 1] in LASTING]
    assert [each.number for each in kept] == expected[::-1]
    assert [each.happening.detail["n"] for each in kept] == expected[::-1]
    assert [each.number for each in of_a] == [n for n in expected[::-1] if n % 2 == 0 and n > 3][:2]
    assert floors == [expected[-1] - 1, expected[-3] - 1, 0]
    assert times == (NOON, None)


@pytest.fixture
def patient(database_url: str) -> Iterator[SqlStore]:
    """A store whose writers wait for their turn for as long as a loaded machine may take."""
    store = SqlStore(database_url, lease_ttl=20 * LEASE_TTL)
    yield store
    store.close()


def test_happenings_become_visible_in_the_order_of_their_numbers(patient: SqlStore) -> None:
    """Goal: who has read up to n never misses one below n that comes to light later."""
    leader = Leader(patient, take_lease(patient))
    start = Barrier(WRITERS)

    def write(writer: int) -> None:
        start.wait(30)
        for number in range(ROUNDS):
            with leader.writes() as tx:
                for part in range(1 + number % 3):
                    tx.happenings.record(replace(FACT, detail={"who": [writer, number, part]}))

    seen: list[list[NumberedEvent]] = []
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, writer) for writer in range(WRITERS)]
        while not all(each.done() for each in writers):
            seen.append(all_of(leader))
        for each in writers:
            each.result()
    seen.append(all_of(leader))
    for earlier, later in pairwise(seen):
        assert later[: len(earlier)] == earlier
    total = WRITERS * sum(1 + number % 3 for number in range(ROUNDS))
    assert [each.number for each in seen[-1]] == list(range(1, total + 1))


@pytest.mark.pg
def test_who_began_first_and_commits_last_has_the_higher_number(
    postgresql_leader: Leader,
) -> None:
    """Goal: numbers follow commits, not beginnings, and nobody waits for a long transaction."""
    with postgresql_leader.writes() as first:
        first.happenings.record(replace(FACT, detail={"who": "began first"}))
        with postgresql_leader.writes() as second:
            second.happenings.record(replace(FACT, detail={"who": "committed first"}))
        assert [e.happening.detail["who"] for e in all_of(postgresql_leader)] == ["committed first"]
    recorded = all_of(postgresql_leader)
    assert [(e.number, e.happening.detail["who"]) for e in recorded] == [
        (1, "committed first"),
        (2, "began first"),
    ]
