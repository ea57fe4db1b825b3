"""The end of segments: unused and used again, condemned, and which files are named until then."""

from dataclasses import replace
from datetime import datetime

import pytest

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.rows import NamedFile, Segment
from tasks.contract.messages import RejectsFile
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    MINUTE,
    NOON,
    P0,
    P1,
    Leader,
    attempt,
    listed,
    opening,
    publication,
    segment,
)

A, B, C = (segment(path, NOON + n * HOUR) for n, path in enumerate(("t/d/t1/c", "b", "t/d/t1/a")))
OTHERS = replace(segment("o", NOON, "g2", "t2"), data_source="other")
LATER = NOON + MINUTE


@pytest.fixture
def published(leader: Leader) -> Leader:
    """Three segments of one table, hour by hour, and one of another, are published."""
    leader.opens(opening("g1", 1, {P0: 0}))
    leader.opens(opening("g2", 2, {P1: 0}))
    rejects = RejectsFile(path="t/d/t1/b", records=2, size_bytes=9, sha256="1" * 64)
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1", "g1"))
        tx.tasks.start(attempt("t2", "g2"))
        tx.segments.add(replace(publication(), rejects=rejects), [C, A, B])
        tx.segments.add(replace(publication("g2", "t2"), data_source="other"), [OTHERS])
    return leader


def _unused(segment: Segment, at: datetime = NOON) -> Segment:
    return replace(segment, unused_at=at)


def _mark_unused(leader: Leader, *segments: Segment, now: datetime = NOON) -> list[ListedSegment]:
    with leader.writes() as tx:
        return tx.segments.mark_unused([s.id for s in segments], now)


def _used(leader: Leader, table: str = "table") -> list[Segment]:
    with leader.reads() as tx:
        return tx.segments.of_data_source(table)


def _chosen(
    leader: Leader, start: datetime | None = None, end: datetime | None = None
) -> list[Segment]:
    with leader.reads() as tx:
        return tx.segments.choose("table", start=start, end=end)


def test_an_unused_segment_is_gone_from_its_table_and_nothing_else(published: Leader) -> None:
    assert _mark_unused(published, C, A) == listed(_unused(A), _unused(C))
    assert _used(published) == [B]
    assert _used(published, "other") == [OTHERS]
    with published.reads() as tx:
        everything = [_unused(A), B, _unused(C)]
        assert tx.segments.of_task("t1") == everything
        assert tx.segments.of_supervisor(CLICKS) == [OTHERS, *everything]
        assert tx.segments.choose("table") == everything


def test_marking_answers_what_it_changed(published: Leader) -> None:
    """Goal: a second mark neither restarts the grace time nor counts as a change."""
    with published.writes() as tx:
        assert tx.segments.mark_used([A.id]) == []
        assert tx.segments.mark_unused([A.id, "never", A.id], NOON) == listed(_unused(A))
        assert tx.segments.mark_unused([A.id, B.id], LATER) == listed(_unused(B, LATER))
        assert tx.segments.mark_unused([], NOON) == []
        assert tx.segments.mark_used([A.id, C.id, "never"]) == listed(A)
    assert _used(published) == [A, C]


def test_a_segment_is_chosen_if_it_lies_wholly_in_the_interval(published: Leader) -> None:
    assert _chosen(published, NOON, NOON + 2 * HOUR) == [A, B]
    assert _chosen(published, NOON + MINUTE) == [B, C]
    assert _chosen(published, end=NOON + 2 * HOUR - MINUTE) == [A]
    assert _chosen(published, NOON, NOON) == []


def test_segments_are_chosen_by_their_ids_within_their_table(published: Leader) -> None:
    with published.reads() as tx:
        assert tx.segments.choose("table", ids=[C.id, A.id, OTHERS.id, "never"]) == [A, C]
        assert tx.segments.choose("table", ids=[C.id, A.id], end=NOON + HOUR) == [A]
        assert tx.segments.choose("table", ids=[]) == []
        assert tx.segments.choose("never") == []


def test_more_segments_than_a_statement_takes_are_marked(published: Leader) -> None:
    """Goal: a table of many files is emptied by one call."""
    many = [f"never {number}" for number in range(70_000)]
    ids = [*many, A.id, B.id]
    with published.writes() as tx:
        assert tx.segments.mark_unused(ids, NOON) == listed(_unused(A), _unused(B))
        assert tx.segments.choose("table", ids=ids) == [_unused(A), _unused(B)]
        assert tx.segments.mark_used(ids) == listed(A, B)


def test_a_condemned_segment_is_never_used_again(published: Leader) -> None:
    _mark_unused(published, A, B)
    with published.writes() as tx:
        assert tx.segments.condemn(A.id, NOON, LATER)
        assert tx.segments.condemn(A.id, NOON, LATER + HOUR), "an earlier run was cut short"
        assert tx.segments.mark_used([A.id, B.id]) == listed(B)
        assert tx.segments.mark_unused([A.id], LATER) == []

    gone = replace(_unused(A), deleted_at=LATER)
    assert _used(published) == [B, C]
    assert _chosen(published) == [B, C]
    with published.reads() as tx:
        assert tx.segments.of_task("t1") == [gone, B, C]
        assert tx.segments.choose("table", ids=[A.id]) == []


def test_a_segment_that_is_used_or_was_marked_again_is_not_condemned(published: Leader) -> None:
    """Goal: a late event of an earlier mark does not cut the new grace time short."""
    _mark_unused(published, A, now=LATER)
    with published.writes() as tx:
        refused = [
            tx.segments.condemn(A.id, NOON, LATER),
            tx.segments.condemn(B.id, NOON, LATER),
            tx.segments.condemn("never", NOON, LATER),
        ]
    assert refused == [False, False, False]
    assert _chosen(published) == [_unused(A, LATER), B, C]


def test_files_are_named_until_they_are_condemned(published: Leader) -> None:
    """Goal: what is not named may be deleted, so an unused file is still named."""
    _mark_unused(published, A, B)
    with published.writes() as tx:
        tx.segments.condemn(B.id, NOON, LATER)
    with published.reads() as tx:
        named = tx.segments.named_files()
    assert named == [
        NamedFile("o", 2**40, "0" * 64, "t2"),
        NamedFile("t/d/t1/a", 2**40, "0" * 64, "t1"),
        NamedFile("t/d/t1/b", 9, "1" * 64, "t1"),
        NamedFile("t/d/t1/c", 2**40, "0" * 64, "t1"),
    ]


def test_paths_are_found_by_id_also_of_what_is_condemned(published: Leader) -> None:
    _mark_unused(published, A, B)
    with published.writes() as tx:
        tx.segments.condemn(B.id, NOON, LATER)
    with published.reads() as tx:
        found = tx.segments.paths_of(frozenset({C.id, B.id, "never"}))
        assert (found, tx.segments.paths_of(())) == ([B.file.path, C.file.path], [])


def test_paths_under_a_folder_are_those_behind_its_slash(leader: Leader) -> None:
    """Goal: `_` and `%` in a name stand for themselves, and t1 is not the folder of t10."""
    leader.opens(opening("g1", 1, {P0: 0}))
    paths = [
        "t/t_1",
        "t/t_1-",
        "t/t_1.x/a",
        "t/t_1/a",
        "t/t_1/b/c",
        "t/t_10/a",
        "t/tx1/a",
        "T/t_1/a",
    ]
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1", "g1"))
        tx.segments.add(publication(), [segment(path, NOON) for path in paths])
        gone = f"id of {paths[4]}"
        tx.segments.mark_unused([gone, "id of t/t_1/a"], NOON)
    with leader.reads() as tx:
        assert tx.segments.under("t/t_1") == ["t/t_1/a", "t/t_1/b/c"]
    with leader.writes() as tx:
        tx.segments.condemn(gone, NOON, NOON)
    with leader.reads() as tx:
        assert tx.segments.under("t/t_1") == ["t/t_1/a", "t/t_1/b/c"]
        assert tx.segments.under("never") == []


def test_a_forgotten_publication_is_read_back_as_such(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    forgotten = replace(publication(), forgotten_at=NOON)
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1", "g1"))
        tx.segments.add(forgotten, [])
    with leader.reads() as tx:
        assert tx.segments.publications(CLICKS) == [forgotten]
