"""The end of life of history on each database: what goes, what becomes compact, what stays."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.chores.expiry import EndOfHistory
from supervisor.chores.segments import SEGMENT_FILES
from supervisor.core.history.expiry import Fold, HistoryAges
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.history.windows import EVERY_EVENT
from supervisor.core.model.rows import AuditEntry, GapKind, GenerationState, OffsetGap, TaskStatus
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName, container_of
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.errors import LeaseLost, StateMoved
from supervisor.core.values.intervals import Interval
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store, Transaction
from tasks.contract.messages import PublishOutcome, RejectsFile
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
    publication,
    segment,
    take_lease,
)

DAY = timedelta(days=1)
YEAR = 365 * DAY


@pytest.fixture
def leader(store: Store) -> Leader:
    return Leader(store, take_lease(store))


def publish(leader: Leader, number: int, *, settled: bool = True, rejects: bool = False) -> None:
    """Publish the next ten offsets of P0 in one file; a second replica ends without a file."""
    generation, task = f"{CLICKS}:{number}", f"t{number}"
    start, end = {P0: 10 * (number - 1)}, {P0: 10 * number}
    row = replace(publication(generation, task, at(number)), start=start, end=end)
    if rejects:
        path = f"table/data/{task}/rejects-1.parquet"
        file = RejectsFile(path=path, records=1, size_bytes=7, sha256="0" * 64, quarantined=0)
        row = replace(row, rejected=1, rejects=file)
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening(generation, number, start), at(number))
        for replica in range(2):
            name = task if replica == 0 else f"{task}-twin"
            tx.tasks.start(attempt(name, generation, replica))
        tx.generations.begin_handoff(generation, 0, must_end=True, why="", now=at(number))
        tx.generations.fix_end(end_at(generation, 1, end), at(number))
        tx.segments.add(row, [segment(f"table/data/{task}/0.parquet", NOON, generation, task)])
        for name in (task, f"{task}-twin"):
            tx.tasks.store_outcome(name, PublishOutcome.COMMITTED, published=name == task)
            tx.tasks.end(name, TaskStatus.SUCCESS, "published", at(number))
            if settled:
                tx.tasks.folder_deleted(name, at(number))
        tx.generations.close(generation, GenerationState.PUBLISHED, at(number))


def give_up(leader: Leader, number: int) -> None:
    generation, task = f"{CLICKS}:{number}", f"t{number}"
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening(generation, number, {P0: 0}), at(number))
        tx.tasks.start(attempt(task, generation))
        tx.tasks.end(task, TaskStatus.FAILED, "a story", at(number))
        tx.tasks.folder_deleted(task, at(number))
        tx.generations.close(generation, GenerationState.DISCARDED, at(number))


def at(number: int) -> datetime:
    return NOON + number * DAY


def chore(leader: Leader, today: int, transactions: int = 500) -> EndOfHistory:
    """The chore on a day; history is kept for ten days, and the audit for a hundred."""
    clock = ManualClock(at(today))
    ages = HistoryAges(10 * DAY, 100 * DAY)
    return EndOfHistory(leader.store, clock, lambda: leader.term, ages, transactions)


def ranges(leader: Leader) -> list[tuple[str, int]]:
    """The publications, each with the number of ranges that it is of."""
    with leader.reads() as tx:
        return [(each.generation_id, each.ranges) for each in tx.segments.publications(CLICKS)]


def generations(leader: Leader) -> list[int]:
    with leader.reads() as tx:
        return sorted(each.ordinal for each in tx.generations.page(CLICKS, 100))


def task_ids(leader: Leader) -> list[str]:
    with leader.reads() as tx:
        return sorted(each.id for each in tx.tasks.find())


def test_old_ranges_are_folded_and_their_tasks_go_but_the_writers_of_files(leader: Leader) -> None:
    for number in range(1, 7):
        publish(leader, number)

    chore(leader, 14).run_once()  # the first three are older than ten days

    assert ranges(leader) == [("clicks:1", 3), ("clicks:4", 1), ("clicks:5", 1), ("clicks:6", 1)]
    assert generations(leader) == [1, 4, 5, 6]
    writers = [f"t{n}" for n in range(1, 7)]
    assert task_ids(leader) == sorted([*writers, "t4-twin", "t5-twin", "t6-twin"])
    with leader.reads() as tx:
        folded = tx.generations.get("clicks:1")
        [task] = [each for each in tx.tasks.find() if each.id == "t3"]
        files = tx.segments.of_supervisor(CLICKS)
    assert folded is not None
    assert (folded.start, folded.end) == ({P0: 0}, {P0: 30})
    assert task.generation_id == "clicks:1"
    assert {f.generation_id for f in files if f.task_id in {"t1", "t2", "t3"}} == {"clicks:1"}


def test_the_newest_range_stays_whatever_its_age(leader: Leader) -> None:
    """Goal: ordinals go on from it, so that no id is used twice."""
    for number in range(1, 4):
        publish(leader, number)

    chore(leader, 1_000).run_once()

    assert ranges(leader) == [("clicks:1", 2), ("clicks:3", 1)]


def test_a_range_with_a_folder_that_is_not_settled_is_left_alone(leader: Leader) -> None:
    for number in range(1, 6):
        publish(leader, number, settled=number != 3)

    chore(leader, 100).run_once()

    assert ranges(leader) == [("clicks:1", 2), ("clicks:3", 1), ("clicks:4", 1), ("clicks:5", 1)]
    assert {"t3", "t3-twin"} <= set(task_ids(leader))


def test_rejects_files_of_folded_ranges_stay_named(leader: Leader) -> None:
    """Goal: neither the clean-up nor the sweep deletes what the proof needs."""
    for number in range(1, 4):
        publish(leader, number, rejects=True)

    chore(leader, 100).run_once()

    path = "table/data/t2/rejects-1.parquet"
    with leader.reads() as tx:
        folded = tx.expiry.folded(["clicks:1", "clicks:3"])
        assert path in tx.segments.under("table/data/t2")
        assert path in [file.path for file in tx.segments.named_files()]
        assert {f.task_id for f in tx.segments.named_files() if f.path == path} == {"t2"}
    assert {key: [f.path for f in each.rejects] for key, each in folded.items()} == {
        "clicks:1": [path]
    }


def test_ranges_that_published_nothing_go_with_their_tasks(leader: Leader) -> None:
    give_up(leader, 1)
    publish(leader, 2)
    give_up(leader, 3)
    give_up(leader, 4)

    chore(leader, 13).run_once()

    assert generations(leader) == [2, 3, 4]
    assert task_ids(leader) == ["t2", "t3", "t4"]


def test_a_live_range_keeps_the_last_attempt_of_each_replica(leader: Leader) -> None:
    """Goal: a range that fails for months does not fill the database."""
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("clicks:1", 1, {P0: 0}), NOON)
        for number in range(4):
            tx.tasks.start(attempt(f"a{number}", "clicks:1", 0, number))
            tx.tasks.end(f"a{number}", TaskStatus.FAILED, "a story", at(number))
            tx.tasks.folder_deleted(f"a{number}", at(number))

    chore(leader, 12).run_once()
    assert task_ids(leader) == ["a2", "a3"], "those of the last ten days"

    chore(leader, 100).run_once()
    assert task_ids(leader) == ["a3"]
    assert generations(leader) == [1]


def test_rows_of_deleted_files_become_numbers(leader: Leader) -> None:
    for number in range(1, 4):
        publish(leader, number)
    ids = ["id of table/data/t1/0.parquet", "id of table/data/t2/0.parquet"]
    with leader.writes() as tx:
        tx.segments.mark_unused(ids, at(5))
        assert all(tx.segments.condemn(each, at(5), at(6)) for each in ids)
        waiting = QueueName(container_of(CLICKS), SEGMENT_FILES)
        tx.events.add(waiting, QueuedEvent("segment_file", ids[1]), QueueConfig(), at(6))

    chore(leader, 100).run_once()

    with leader.reads() as tx:
        [dropped] = [each.dropped["table"] for each in tx.expiry.folded(["clicks:1"]).values()]
        left = [each.id for each in tx.segments.of_supervisor(CLICKS)]
    assert (dropped.files, dropped.rows) == (1, 10), "the other one's file may still be there"
    assert [(s.partition, s.first, s.rows) for s in dropped.spans] == [(0, 2**33, 5), (1, 0, 5)]
    assert left == ["id of table/data/t2/0.parquet", "id of table/data/t3/0.parquet"]
    assert "t1" in task_ids(leader), "its publication names it"


def test_nothing_is_folded_while_a_compaction_is_live(leader: Leader) -> None:
    """Goal: the shares that it was begun with name ranges that are there."""
    for number in range(1, 4):
        publish(leader, number)
    within = Interval(NOON, NOON + HOUR)
    row = Compaction("c", "table", CLICKS, within, ("x",), (), (), "a story", NOON)
    with leader.writes() as tx:
        tx.compactions.add(row)

    chore(leader, 100).run_once()
    assert ranges(leader) == [("clicks:1", 1), ("clicks:2", 1), ("clicks:3", 1)]

    with leader.writes() as tx:
        tx.compactions.end("c", TaskStatus.FAILED, "a story", at(100))
    chore(leader, 100).run_once()
    assert ranges(leader) == [("clicks:1", 2), ("clicks:3", 1)]


def test_a_break_between_two_ranges_keeps_them_apart(leader: Leader) -> None:
    publish(leader, 1)
    with leader.writes() as tx:
        gap = OffsetGap(CLICKS, P0, 5, 10, GapKind.REPEATED, "ann", "a story", at(1))
        tx.offsets.declare(gap)
    for number in range(2, 5):
        publish(leader, number)

    chore(leader, 100).run_once()

    assert ranges(leader) == [("clicks:1", 1), ("clicks:2", 2), ("clicks:4", 1)]


def test_old_audit_entries_go_and_newer_ones_stay(leader: Leader) -> None:
    with leader.writes() as tx:
        for number in range(1, 6):
            detail = {"supervisor": CLICKS}
            tx.audit.write(AuditEntry(at(number), "ann", f"act {number}", "table", detail))

    chore(leader, 103).run_once()

    with leader.reads() as tx:
        assert [each.action for each in tx.audit.recent(10)] == ["act 5", "act 4", "act 3"]
        page = tx.audit.page(2, supervisor_id=CLICKS, before=tx.audit.page(1)[0][0])
    assert [entry.action for _, entry in page] == ["act 4", "act 3"]


def test_events_that_are_kept_longer_go_by_age_and_by_number(database_url: str) -> None:
    """Goal: a supervisor that changes its state all the time pushes out nothing of another one."""
    store = SqlStore(database_url, lease_ttl=LEASE_TTL, happenings_kept=1)
    leader = Leader(store, take_lease(store))
    for number, name in enumerate("aaaabbcccccd", 1):
        fact = LifecycleEvent(at(number), EventKind.STATE_CHANGED, name)
        with leader.writes() as tx:
            tx.happenings.record(fact)

    def left(days: int, of_each: int, of_all: int) -> str:
        ages = HistoryAges(events=timedelta(days=days))
        now = ManualClock(at(12))
        EndOfHistory(
            store, now, lambda: leader.term, ages, events_of_each=of_each, events_of_all=of_all
        ).run_once()
        with leader.reads() as tx:
            rows = tx.happenings.lasting(EVERY_EVENT, 99, 0, 99)
            assert [each.number for each in tx.happenings.after(0, 9)] == [12]
        return "".join(each.happening.supervisor_id for each in reversed(rows))

    assert left(days=1_000, of_each=99, of_all=99) == "aaaabbccccc"
    assert left(days=10, of_each=99, of_all=99) == "aaabbccccc"
    assert left(days=10, of_each=3, of_all=99) == "aaabbccc"
    assert left(days=10, of_each=3, of_all=5) == "bbccc"
    assert left(days=0, of_each=3, of_all=5) == ""
    store.close()


def test_a_run_is_bounded_and_the_next_one_goes_on(leader: Leader) -> None:
    for number in range(1, 130):
        publish(leader, number)

    first = chore(leader, 1_000, transactions=2).run_once()
    runs = 1
    while chore(leader, 1_000, transactions=2).run_once():
        runs += 1

    assert 0 < first <= 1_000
    assert runs > 1
    assert ranges(leader) == [("clicks:1", 128), ("clicks:129", 1)]


def test_a_deposed_leader_ends_no_history(leader: Leader) -> None:
    for number in range(1, 4):
        publish(leader, number)
    take_lease(leader.store, "second")

    with pytest.raises(LeaseLost):
        chore(leader, 100).run_once()

    assert ranges(leader) == [("clicks:1", 1), ("clicks:2", 1), ("clicks:3", 1)]


@pytest.mark.parametrize(
    "change",
    [
        lambda tx: tx.segments.forget_publications(CLICKS, NOON),
        lambda tx: tx.tasks.start(attempt("new", f"{CLICKS}:2", 2)),
    ],
)
def test_a_publication_that_changed_meanwhile_is_not_folded(
    leader: Leader, change: Callable[[Transaction], object]
) -> None:
    for number in range(1, 4):
        publish(leader, number)
    with leader.reads() as tx:
        into, *others = tx.expiry.old_publications(CLICKS, at(100), 10)
    with leader.writes() as tx:
        change(tx)

    with pytest.raises(StateMoved), leader.writes() as tx:
        tx.expiry.fold(Fold(into, tuple(others)))

    assert [count for _, count in ranges(leader)] == [1, 1, 1]
