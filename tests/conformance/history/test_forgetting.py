"""What is deleted of a forgotten supervisor, and what stays: on every store alike."""

from dataclasses import replace
from datetime import datetime

from supervisor.core.model.rows import (
    GapKind,
    GenerationState,
    OffsetGap,
    StoredPlan,
    Task,
    TaskStatus,
)
from supervisor.ports.store import Transaction
from tasks.contract.messages import PublishOutcome
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    IDS,
    NOON,
    P0,
    P1,
    TOPIC_ID,
    Leader,
    attempt,
    end_at,
    listed,
    opening,
    publication,
    segment,
)
from tests.supervisor.core.snapshots import spec

EVERYTHING = 1_000


def ended(
    tx: Transaction, number: int, *, settled: datetime | None = NOON, stale: bool = False
) -> Task:
    """A generation that was discarded, with one task that failed."""
    name, task = f"g{number}", attempt(f"t{number}", f"g{number}")
    assert tx.generations.open(CLICKS, "table", opening(name, number, {P0: 0, P1: 0}), NOON)
    assert tx.tasks.start(task)
    assert tx.tasks.end(task.id, TaskStatus.FAILED, "a story", NOON)
    assert tx.generations.close(name, GenerationState.DISCARDED, NOON)
    if stale:
        tx.tasks.store_outcome(task.id, PublishOutcome.STALE, published=False)
    if settled is not None:
        tx.tasks.folder_deleted(task.id, settled)
    return task


def forgotten(tx: Transaction, up_to: int, limit: int = EVERYTHING) -> int:
    """Delete until nothing more is deleted; return how many rows went."""
    total = 0
    while rows := tx.generations.forget(CLICKS, up_to, limit):
        assert rows <= limit
        total += rows
    return total


def left(leader: Leader, *numbers: int) -> list[int]:
    with leader.reads() as tx:
        return [n for n in numbers if tx.generations.get(f"g{n}") is not None]


def test_unpublished_generations_go_and_the_newest_stays_without_its_tasks(leader: Leader) -> None:
    """Goal: ordinals are counted on from the newest, so that no id is ever given twice."""
    with leader.writes() as tx:
        for number in (1, 2, 3):
            ended(tx, number)

    with leader.writes() as tx:
        forgotten(tx, up_to=3)

    assert left(leader, 1, 2, 3) == [3]
    with leader.reads() as tx:
        newest = tx.generations.newest(CLICKS)
        assert newest is not None
        assert newest.start == {P0: 0, P1: 0}
        assert tx.tasks.find(supervisor_id=CLICKS) == []


def test_the_newest_goes_once_a_newer_one_is_there(leader: Leader) -> None:
    with leader.writes() as tx:
        ended(tx, 1)
        ended(tx, 2)
        ended(tx, 3)
        forgotten(tx, up_to=1)

    assert left(leader, 1, 2, 3) == [2, 3]
    with leader.reads() as tx:
        assert tx.tasks.get("t2") is not None  # of the supervisor that has the id now


def test_small_batches_come_to_the_same_end(leader: Leader) -> None:
    with leader.writes() as tx:
        for number in (1, 2, 3, 4):
            ended(tx, number)
        forgotten(tx, up_to=4, limit=1)

    assert left(leader, 1, 2, 3, 4) == [4]


def test_a_task_whose_folder_is_not_settled_holds_its_generation(leader: Leader) -> None:
    """Goal: its row is what the cleanup of its folder goes by."""
    with leader.writes() as tx:
        ended(tx, 1, settled=None)
        ended(tx, 2)
        forgotten(tx, up_to=2)
        assert tx.generations.unsettled(CLICKS, 2)

    assert left(leader, 1, 2) == [1, 2]
    with leader.writes() as tx:
        tx.tasks.folder_deleted("t1", NOON)
        forgotten(tx, up_to=2)
        assert not tx.generations.unsettled(CLICKS, 2)
    assert left(leader, 1, 2) == [2]


def test_what_is_kept_for_people_is_neither_deleted_nor_waited_for(leader: Leader) -> None:
    with leader.writes() as tx:
        ended(tx, 1, settled=None, stale=True)
        ended(tx, 2)
        forgotten(tx, up_to=2)
        assert not tx.generations.unsettled(CLICKS, 2)

    assert left(leader, 1) == [1]
    assert leader.task("t1").outcome is PublishOutcome.STALE


def test_a_published_generation_stays_with_all_its_tasks(leader: Leader) -> None:
    """Goal: the table is not touched, whatever is forgotten."""
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 0}), NOON)
        for number in (0, 1):
            tx.tasks.start(attempt(f"t{number}", replica=number))
        tx.generations.begin_handoff("g1", 0, must_end=True, why="a story", now=NOON)
        tx.generations.fix_end(end_at("g1", 1, {P0: 10}), NOON)
        tx.segments.add(publication(task_id="t1"), [segment("a.parquet", NOON)])
        tx.generations.close("g1", GenerationState.PUBLISHED, NOON)
        for number in (0, 1):
            tx.tasks.end(f"t{number}", TaskStatus.SUCCESS, "a story", NOON)
            tx.tasks.folder_deleted(f"t{number}", NOON)
        ended(tx, 2)
        forgotten(tx, up_to=2)

    assert left(leader, 1) == [1]
    with leader.reads() as tx:
        assert [t.id for t in tx.tasks.of_generations(["g1"])] == ["t0", "t1"]
        assert [s.id for s in tx.segments.of_data_source("table")] == ["id of a.parquet"]


def test_live_ranges_and_other_supervisors_are_not_touched(leader: Leader) -> None:
    with leader.writes() as tx:
        ended(tx, 1)
        tx.generations.open(CLICKS, "table", opening("g2", 2, {P0: 0}), NOON)
        other = opening("o1", 1, {P0: 0})
        tx.generations.open("others", "table", other, NOON)
        tx.generations.close("o1", GenerationState.EMPTY, NOON)
        tx.generations.open("others", "table", replace(other, generation_id="o2", ordinal=2), NOON)
        assert forgotten(tx, up_to=9) > 0

    assert left(leader, 1, 2) == [2]
    with leader.reads() as tx:
        assert [g.id for g in tx.generations.live()] == ["g2", "o2"]
        assert tx.generations.get("o1") is not None


def test_forgotten_specs_go_up_to_the_tombstone(leader: Leader) -> None:
    """Goal: a spec that was stored meanwhile is not lost, and versions go on behind it."""
    with leader.writes() as tx:
        for given in (spec(), None, spec()):
            tx.specs.append(CLICKS, given, NOON, "me")
        tx.specs.forget(CLICKS, 2)

        assert [v.version for v in tx.specs.history(CLICKS)] == [3]
        assert tx.specs.version(CLICKS, 1) is None
        assert tx.specs.version(CLICKS, 3) is not None
        assert tx.specs.append(CLICKS, None, NOON, "me").version == 4
        tx.specs.forget(CLICKS, 4)
        assert tx.specs.newest(CLICKS) is None
        assert tx.specs.all_newest() == []
        assert tx.specs.append(CLICKS, spec(), NOON, "me").version == 1


def test_forgotten_offsets_gaps_and_plans_are_those_of_one_supervisor(leader: Leader) -> None:
    with leader.writes() as tx:
        for who in (CLICKS, "others"):
            tx.offsets.initialise(who, TOPIC_ID, {P0: 5})
            gap = OffsetGap(who, P0, 1, 2, GapKind.SKIPPED, author="me", why="so", at=NOON)
            tx.offsets.declare(gap)
            tx.plans.record(StoredPlan(who, NOON, 1, ()))
        tx.offsets.forget(CLICKS)
        tx.plans.forget(CLICKS)

    with leader.reads() as tx:
        assert (tx.offsets.of(CLICKS), tx.offsets.gaps(CLICKS)) == ({}, [])
        assert tx.plans.recent(CLICKS, 9) == []
        assert tx.offsets.of("others")[P0].next_offset == 5
        assert len(tx.offsets.gaps("others")) == len(tx.plans.recent("others", 9)) == 1
    with leader.writes() as tx:
        assert tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0})
        tx.offsets.advance(CLICKS, {P0: 0}, {P0: 1}, IDS)


def test_publications_are_forgotten_once_and_their_rejects_count_no_more(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 0}), NOON)
        tx.tasks.start(attempt("t1"))
        with_rejects = replace(publication(), rejected=3)
        tx.segments.add(with_rejects, [segment("a.parquet", NOON)])
        assert tx.segments.rejected(CLICKS) == 3

        assert tx.segments.forget_publications(CLICKS, NOON) == 1
        assert tx.segments.forget_publications(CLICKS, NOON + HOUR) == 0

    with leader.reads() as tx:
        [found] = tx.segments.publications(CLICKS)
        assert (found.forgotten_at, tx.segments.rejected(CLICKS)) == (NOON, 0)
        assert tx.segments.data_sources() == ["table"]


def test_one_segment_is_found_by_its_id_deleted_or_not(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 0}), NOON)
        tx.tasks.start(attempt("t1"))
        tx.segments.add(publication(), [segment("a.parquet", NOON), segment("b.parquet", NOON)])
        [gone] = tx.segments.mark_unused(["id of a.parquet"], NOON)
        assert tx.segments.condemn(gone.id, NOON, NOON + HOUR)

    with leader.reads() as tx:
        found = tx.segments.get(gone.id)
        assert found is not None
        assert listed(found) == [replace(gone, deleted_at=NOON + HOUR)]
        assert tx.segments.get("id of c.parquet") is None
        assert [s.id for s in tx.segments.choose("table")] == ["id of b.parquet"]
        assert [s.id for s in tx.segments.choose("table", deleted=True)] == [
            "id of a.parquet",
            "id of b.parquet",
        ]
