"""Which old publications become one, and what of shares and dropped files then is said."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.expiry import (
    FOLDED_MAX,
    NO_FILES,
    DroppedFiles,
    Fold,
    folded_shares,
    folds,
)
from supervisor.core.model.rows import GapKind, OffsetGap, Publication
from supervisor.core.tables.compaction import Share
from tasks.contract.messages import OffsetSpan
from tests.conformance.stories import CLICKS, NOON, P0, P1, P2, publication


def old(ordinal: int, start: int, end: int, *partitions: int, ranges: int = 1) -> Publication:
    """A publication of partitions, P0 without any, that all have the same offsets."""
    parts = [(P0, P1, P2)[p] for p in partitions or (0,)]
    return replace(
        publication(f"g:{ordinal}", f"t{ordinal}", NOON + timedelta(minutes=ordinal)),
        start=dict.fromkeys(parts, start),
        end=dict.fromkeys(parts, end),
        rows=end - start,
        rejected=1,
        ranges=ranges,
    )


def gap(last_ordinal: int | None, kind: GapKind = GapKind.REPEATED, minute: int = 0) -> OffsetGap:
    at = NOON + timedelta(minutes=minute, seconds=30)
    return OffsetGap(CLICKS, P0, 0, 1, kind, "ann", "why", at, last_ordinal)


def shape(found: list[Fold]) -> list[list[int]]:
    """The ordinals of each fold, that it goes into first."""
    return [[each.into.ordinal, *(other.ordinal for other in each.others)] for each in found]


def test_ranges_that_follow_each_other_become_one() -> None:
    [fold] = folds([old(1, 0, 10), old(2, 10, 10), old(3, 10, 25)], [], 50)

    result = fold.result()

    assert (result.generation_id, result.task_id) == ("g:1", "t1")
    assert (result.start, result.end) == ({P0: 0}, {P0: 25})
    assert (result.rows, result.rejected, result.ranges) == (25, 3, 3)
    assert result.digest is None


def test_groups_are_folded_apart() -> None:
    every = [old(1, 0, 9, 0), old(2, 5, 8, 1, 2), old(3, 9, 12, 0), old(4, 8, 9, 1, 2)]

    assert shape(list(folds(every, [], 50))) == [[1, 3], [2, 4]]


def test_a_fold_is_cut_into_steps_each_on_top_of_the_one_before() -> None:
    first, second = folds([old(n, n, n + 1) for n in range(1, 8)], [], 3)

    assert shape([first, second]) == [[1, 2, 3, 4], [1, 5, 6, 7]]
    assert second.into == first.result()


@pytest.mark.parametrize(
    "following",
    [
        pytest.param(old(2, 11, 20), id="offsets between them are in neither"),
        pytest.param(old(2, 0, 20), id="it reads again"),
        pytest.param(old(2, 10, 20, 0, 1), id="other partitions"),
        pytest.param(replace(old(2, 10, 20), data_source="other"), id="another table"),
        pytest.param(old(2, 10, 20, ranges=FOLDED_MAX), id="too many together"),
    ],
)
def test_ranges_stay_apart(following: Publication) -> None:
    assert list(folds([old(1, 0, 10), following], [], 50)) == []


@pytest.mark.parametrize(
    ("declared", "apart"),
    [
        (gap(1), True),
        (gap(0), False),
        (gap(2), False),
        (gap(None, minute=1), True),
        (gap(None, minute=0), False),
        (gap(None, minute=2), False),
        (gap(None, GapKind.RECREATED, minute=9), True),
        (replace(gap(1), partition=P1), False),
    ],
)
def test_a_declared_break_between_ranges_keeps_them_apart(
    declared: OffsetGap, *, apart: bool
) -> None:
    """Goal: which publications are from before a break stays to be seen."""
    found = list(folds([old(1, 0, 10), old(2, 10, 20)], [declared], 50))

    assert (found == []) is apart


def _span(first: int, last: int, rows: int, partition: int = 0) -> OffsetSpan:
    return OffsetSpan(topic="topic", partition=partition, first=first, last=last, rows=rows)


def test_dropped_files_are_added_by_partition() -> None:
    some = DroppedFiles(1, 7, (_span(0, 9, 5), _span(3, 4, 2, partition=1)))

    total = some + DroppedFiles(2, 3, (_span(20, 29, 3),))

    assert total == DroppedFiles(3, 10, (_span(0, 29, 8), _span(3, 4, 2, partition=1)))
    assert NO_FILES + some == some


def test_shares_of_folded_ranges_become_one() -> None:
    shares = (Share("g:1", 5, (_span(0, 9, 5),)), Share("g:3", 2, (_span(20, 29, 2),)))

    assert folded_shares(shares, {"g:3": "g:1"}) == (Share("g:1", 7, (_span(0, 29, 7),)),)


def test_the_span_of_a_foreign_range_stays_between() -> None:
    """Goal: a row of a forgotten range is never taken for one of the folded range."""
    shares = (
        Share("g:1", 5, (_span(0, 9, 5),)),
        Share("forgotten:7", 4, (_span(10, 19, 4),)),
        Share("g:3", 2, (_span(20, 29, 2),)),
    )

    assert folded_shares(shares, {"g:3": "g:1"}) == (
        Share("forgotten:7", 4, (_span(10, 19, 4),)),
        Share("g:1", 7, (_span(0, 9, 5), _span(20, 29, 2))),
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.booleans()), max_size=30),
    st.integers(1, 5),
)
def test_whatever_is_folded_covers_the_same_offsets_once(
    steps: list[tuple[int, int, bool]], at_once: int
) -> None:
    """Each step: a partition reads some offsets, at times after it has skipped one."""
    reached, every = {0: 0, 1: 0, 2: 0}, []
    for ordinal, (partition, length, skips) in enumerate(steps, 1):
        start = reached[partition] + skips
        reached[partition] = start + length
        every.append(old(ordinal, start, start + length, partition))

    rows = {each.generation_id: each for each in every}
    for fold in folds(every, [], at_once):
        assert rows[fold.into.generation_id] == fold.into
        assert 1 <= len(fold.others) <= at_once
        assert all(rows.pop(each.generation_id) == each for each in fold.others)
        rows[fold.into.generation_id] = fold.result()

    def offsets(of: list[Publication]) -> list[tuple[object, int]]:
        return [
            (p, n) for each in of for p in each.start for n in range(each.start[p], each.end[p])
        ]

    left = sorted(rows.values(), key=lambda each: each.published_at)
    assert sorted(offsets(left), key=str) == sorted(offsets(every), key=str)
    assert sum(each.rows for each in left) == sum(each.rows for each in every)
    breaks = sum(skips for _, _, skips in steps)
    assert len(left) <= 3 + breaks, "only a skipped offset keeps ranges apart"
