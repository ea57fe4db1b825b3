"""A compacted file takes the place of its inputs, for good and in one transaction."""

from dataclasses import replace

import pytest

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.rows import Segment
from supervisor.core.values.errors import StateMoved
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    NOON,
    P0,
    Leader,
    attempt,
    listed,
    opening,
    publication,
    segment,
)
from tests.conformance.tables.test_compaction import add, compaction

A, B, C = (segment(f"table/data/t1/{name}", NOON) for name in "abc")
NEW = replace(segment("table/data/c1/x", NOON), compaction_id="c1")
LATER = NOON + HOUR


@pytest.fixture
def published(leader: Leader) -> Leader:
    """A, B and C are used files; two compactions run."""
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1"))
        tx.segments.add(publication(), [A, B, C])
    add(leader, compaction("c1"), compaction("c2"))
    return leader


def _replace(leader: Leader, by: Segment, *inputs: Segment) -> list[ListedSegment]:
    with leader.writes() as tx:
        return tx.segments.replace([each.id for each in inputs], by, LATER)


def _out(each: Segment, by: str = "c1") -> Segment:
    return replace(each, unused_at=LATER, replaced_by=by)


def _used(leader: Leader) -> list[Segment]:
    with leader.reads() as tx:
        return tx.segments.of_data_source("table")


def test_readers_see_the_compacted_file_in_place_of_its_inputs(published: Leader) -> None:
    assert _replace(published, NEW, C, A) == listed(_out(A), _out(C))

    assert _used(published) == [NEW, B]
    with published.reads() as tx:
        assert tx.segments.get(NEW.id) == NEW
        assert tx.segments.choose("table") == [NEW, _out(A), B, _out(C)]
        assert tx.segments.of_supervisor(CLICKS) == [NEW, _out(A), B, _out(C)]


def test_what_was_replaced_is_never_put_back(published: Leader) -> None:
    """Goal: its rows are in the table already."""
    _replace(published, NEW, A, B)
    with published.writes() as tx:
        assert tx.segments.mark_used([A.id, B.id]) == []
        assert tx.segments.mark_unused([A.id, NEW.id], LATER) == listed(
            replace(NEW, unused_at=LATER)
        )
        assert tx.segments.mark_used([A.id, NEW.id]) == listed(NEW)

    assert _used(published) == [NEW, C]


def test_what_was_replaced_is_deleted_like_any_unused_file(published: Leader) -> None:
    _replace(published, NEW, A, B)
    with published.writes() as tx:
        assert tx.segments.condemn(A.id, LATER, LATER)
        assert not tx.segments.condemn(NEW.id, LATER, LATER)

    with published.reads() as tx:
        assert tx.segments.under("table/data/t1") == [A.file.path, B.file.path, C.file.path]
        assert tx.segments.under("table/data/c1") == [NEW.file.path]
        assert tx.segments.get(A.id) == replace(_out(A), deleted_at=LATER)


def test_a_compacted_file_is_named_with_the_compaction_that_wrote_it(published: Leader) -> None:
    """Goal: cleaning and verifying look for a file in the folder of its writer."""
    _replace(published, NEW, A)
    with published.reads() as tx:
        named = {file.path: file.task_id for file in tx.segments.named_files()}
        of_task = tx.segments.of_task("t1")

    assert named == {NEW.file.path: "c1"} | {s.file.path: "t1" for s in (A, B, C)}
    assert of_task == [_out(A), B, C]  # it has the row of the task's newest file, and is not its


def test_an_input_that_was_marked_unused_meanwhile_stops_the_swap(published: Leader) -> None:
    """Goal: rows that somebody dropped do not come back with a compaction."""
    with published.writes() as tx:
        tx.segments.mark_unused([B.id], NOON)

    with pytest.raises(StateMoved):
        _replace(published, NEW, A, B)

    assert _used(published) == [A, C]
    with published.reads() as tx:
        assert tx.segments.get(NEW.id) is None
        assert tx.segments.get(A.id) == A


def test_a_file_is_replaced_once(published: Leader) -> None:
    """Goal: of two compactions of one file one comes too late, and leaves nothing behind."""
    _replace(published, NEW, A, B)
    late = replace(segment("table/data/c2/x", NOON), compaction_id="c2")

    with pytest.raises(StateMoved):
        _replace(published, late, B, C)
    with pytest.raises(StateMoved):
        _replace(published, NEW, A, B)

    assert _used(published) == [NEW, C]
    with published.reads() as tx:
        assert [each.id for each in tx.segments.choose("table", ids=[late.id])] == []
        assert tx.segments.get(B.id) == _out(B)


@pytest.mark.parametrize("taken", ["id", "path"])
def test_a_file_that_is_there_already_replaces_nothing(published: Leader, taken: str) -> None:
    twice = (
        replace(NEW, id=B.id)
        if taken == "id"
        else replace(NEW, file=NEW.file.model_copy(update={"path": B.file.path}))
    )

    with pytest.raises(StateMoved):
        _replace(published, twice, A)

    assert _used(published) == [A, B, C]


def test_an_input_that_nobody_knows_stops_the_swap(published: Leader) -> None:
    with pytest.raises(StateMoved):
        _replace(published, NEW, A, segment("never", NOON))

    assert _used(published) == [A, B, C]


def test_a_compacted_file_is_compacted_again(published: Leader) -> None:
    _replace(published, NEW, A, B)
    again = replace(segment("table/data/c2/x", NOON), compaction_id="c2", columns=())

    assert _replace(published, again, C, NEW) == listed(_out(NEW, "c2"), _out(C, "c2"))

    assert _used(published) == [again]
    with published.reads() as tx:
        assert tx.segments.get(A.id) == _out(A)


def test_more_inputs_than_a_statement_takes_are_replaced(leader: Leader) -> None:
    many = [segment(f"table/data/t1/{number:04}", NOON) for number in range(1_200)]
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1"))
        tx.segments.add(publication(), many)
    add(leader, compaction("c1"))

    assert len(_replace(leader, NEW, *many)) == len(many)

    assert _used(leader) == [NEW]
