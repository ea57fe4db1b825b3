"""Each offset is one thing: a table of cases, and any history against a model offset by offset."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.coverage.partitions import PartitionCoverage, coverage_of
from supervisor.core.history.coverage.publications import (
    OVERLAP,
    CoveredRange,
    Published,
    put_together,
)
from supervisor.core.history.coverage.strands import CoverageKind, OffsetRun, Tally, clipped
from supervisor.core.model.rows import CommittedOffset, GapKind, GenerationState, OffsetGap
from tests.supervisor.core.snapshots import MINUTE, NOON, TOPIC, generation, part

P0, P1 = part(0), part(1)
K = CoverageKind


def published(
    ordinal: int, first: int, end: int, *, at: timedelta = timedelta(0), rows: int = 0
) -> CoveredRange:
    when = NOON + ordinal * MINUTE + at
    return CoveredRange(f"{TOPIC}:{ordinal}", when, {P0: first}, {P0: end}, rows, 1, 1)


def gap(kind: GapKind, first: int, end: int, last_ordinal: int | None = 0) -> OffsetGap:
    at = NOON + (last_ordinal or 0) * MINUTE
    return OffsetGap(TOPIC, P0, first, end, kind, "ada", "why", at, last_ordinal)


@dataclass(frozen=True)
class Case:
    """The rows of one partition, and its runs."""

    runs: Sequence[tuple[int, int, CoverageKind]]
    committed: tuple[int, int]
    ranges: Sequence[CoveredRange] = ()
    gaps: Sequence[OffsetGap] = ()
    live: Sequence[object] = field(default_factory=list)


PUBLISHING = generation(3, {P0: 20}, {P0: 30}, state=GenerationState.PUBLISHING)
READING = generation(4, {P0: 30})
CASES = {
    "nothing is read yet": Case([], (5, 5)),
    "ranges that follow each other are one run": Case(
        [(5, 20, K.PUBLISHED)], (5, 20), [published(1, 5, 9), published(2, 9, 20)]
    ),
    "what is read and published next": Case(
        [(0, 20, K.PUBLISHED), (20, 30, K.PUBLISHING), (30, 33, K.READING)],
        (0, 20),
        [published(1, 0, 20)],
        live=[PUBLISHING, READING],
    ),
    "lost and skipped are declared": Case(
        [(0, 5, K.PUBLISHED), (5, 8, K.LOST), (8, 10, K.SKIPPED), (10, 20, K.PUBLISHED)],
        (0, 20),
        [published(1, 0, 5), published(2, 10, 20)],
        [gap(GapKind.LOST, 5, 8, 1), gap(GapKind.SKIPPED, 8, 10, 1)],
    ),
    "a publication that is missing": Case(
        [(0, 5, K.PUBLISHED), (5, 10, K.UNEXPLAINED), (10, 20, K.PUBLISHED)],
        (0, 20),
        [published(1, 0, 5), published(3, 10, 20)],
    ),
    "two publications of the same offsets": Case(
        [(0, 4, K.PUBLISHED), (4, 6, K.UNEXPLAINED), (6, 9, K.PUBLISHED)],
        (0, 9),
        [published(1, 0, 6), published(2, 4, 9)],
    ),
    "set back, and not read again yet": Case(
        [(0, 4, K.PUBLISHED), (4, 9, K.REPEATED)],
        (0, 4),
        [published(1, 0, 9)],
        [gap(GapKind.REPEATED, 4, 9, 1)],
    ),
    "set back, and read again in part": Case(
        [(0, 4, K.PUBLISHED), (4, 9, K.REPEATED)],
        (0, 6),
        [published(1, 0, 9), published(2, 4, 6)],
        [gap(GapKind.REPEATED, 4, 9, 1)],
    ),
    "skipped, and read after all": Case(
        [(0, 9, K.PUBLISHED)],
        (0, 9),
        [published(1, 0, 4), published(2, 4, 9)],
        [gap(GapKind.SKIPPED, 4, 6, 1), gap(GapKind.REPEATED, 4, 6, 1)],
    ),
    "beyond what is committed": Case(
        [(0, 4, K.PUBLISHED), (4, 9, K.UNEXPLAINED)], (0, 4), [published(1, 0, 9)]
    ),
    "a topic that was recreated": Case(
        [(0, 3, K.PUBLISHED)],
        (0, 3),
        [published(1, 0, 90), published(2, 0, 3)],
        [gap(GapKind.LOST, 50, 60, 1), gap(GapKind.RECREATED, 0, 90, 1)],
    ),
    "a topic that was recreated, as an earlier release declared it": Case(
        [(0, 3, K.PUBLISHED)],
        (0, 3),
        [published(1, 0, 90, at=-2 * MINUTE), published(2, 0, 3)],
        [gap(GapKind.RECREATED, 0, 90, None)],
    ),
}


def covered_by(case: Case) -> PartitionCoverage:
    first, following = case.committed
    [covered] = coverage_of(
        {P0: CommittedOffset(TOPIC, P0, following, first, "id-1")},
        put_together(Published(), case.ranges, case.gaps),
        case.gaps,
        case.live,  # type: ignore[arg-type]  # generations
        {READING.id: {P0: 33}},
    )
    return covered


@pytest.mark.parametrize("name", CASES)
def test_offsets_add_up(name: str) -> None:
    case = CASES[name]
    first, following = case.committed

    covered = covered_by(case)

    assert covered.runs == tuple(OffsetRun(*run) for run in case.runs)
    counts = covered.counts()
    unread = counts[K.PUBLISHING] + counts[K.READING]
    known = sum(counts.values()) - unread
    assert known >= following - first
    assert (covered.recreated_at is not None) == ("recreated" in name)


def test_each_run_has_what_the_ledger_knows_of_it() -> None:
    case = Case(
        [],
        (0, 20),
        [published(1, 0, 3, rows=3), published(2, 3, 5, rows=2), published(3, 10, 20, rows=9)],
        [gap(GapKind.LOST, 5, 10, 2)],
        [PUBLISHING, READING],
    )

    assert [(run.kind, tally) for run, tally in covered_by(case).shown(None, None)] == [
        (K.PUBLISHED, Tally(5, 2, 2)),
        (K.LOST, Tally(0, 0, 0)),
        (K.PUBLISHED, Tally(9, 1, 1)),
        (K.PUBLISHING, Tally(None, None, 1)),
        (K.READING, Tally(None, None, 1)),
    ]


def test_a_part_of_a_range_has_no_rows_of_its_own() -> None:
    """Goal: a number that is shown is the ledger's, and none is guessed."""
    again = Case([], (0, 4), [published(1, 0, 9, rows=9)], [gap(GapKind.REPEATED, 4, 9, 1)])
    whole = Case([], (0, 9), [published(1, 0, 9, rows=9)])

    assert [tally for _, tally in covered_by(again).shown(None, None)] == [Tally(*[None] * 3)] * 2
    assert [tally for _, tally in covered_by(whole).shown(None, None)] == [Tally(9, 1, 1)]
    assert covered_by(whole).shown(2, None) == [(OffsetRun(2, 9, K.PUBLISHED), Tally(*[None] * 3))]


def test_a_range_of_two_partitions_has_rows_of_neither_alone() -> None:
    rows = {p: CommittedOffset(TOPIC, p, 5, 0, "id-1") for p in (P0, P1)}
    shared = CoveredRange(f"{TOPIC}:1", NOON, {P0: 0, P1: 0}, {P0: 5, P1: 5}, 10, 0, 1)

    covered = coverage_of(rows, put_together(Published(), [shared], []), [], [], {})

    assert [each.shown(None, None)[0][1] for each in covered] == [Tally(None, 0, 1)] * 2


def test_an_earlier_topic_is_a_run_with_what_was_published_of_it() -> None:
    case = Case(
        [],
        (0, 3),
        [
            published(1, 0, 50, rows=50),
            published(2, 0, 4, rows=4),
            published(3, 4, 7, rows=2),
            published(4, 0, 3, rows=3),
        ],
        [gap(GapKind.RECREATED, 0, 50, 1), gap(GapKind.RECREATED, 0, 7, 3)],
    )

    covered = covered_by(case)

    assert covered.shown(None, None) == [
        (OffsetRun(0, 50, K.RECREATED), Tally(50, 1, 1)),
        (OffsetRun(0, 7, K.RECREATED), Tally(6, 2, 2)),
        (OffsetRun(0, 3, K.PUBLISHED), Tally(3, 1, 1)),
    ]
    assert covered.shown(40, None) == [(OffsetRun(40, 50, K.RECREATED), Tally(*[None] * 3))]
    assert K.RECREATED not in covered.counts()


intervals = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted).map(tuple)


@given(st.lists(intervals, max_size=12), st.integers(0, 12))
def test_any_ranges_in_two_readings_are_as_a_count_of_each_offset(
    ranges: list[tuple[int, int]], read_first: int
) -> None:
    """Goal: what is kept between two questions changes no answer."""
    each = [published(n, *bounds) for n, bounds in enumerate(ranges, 1)]
    known = put_together(Published(), each[:read_first], [])

    whole = put_together(known, each, [])

    wanted = Counter(at for first, end in ranges for at in range(first, end))
    depths = whole.depths.get(P0, ())
    assert {p: sorted(each) for p, each in whole.strands.items()} == {
        p: sorted(strands) for p, strands in put_together(Published(), each, []).strands.items()
    }
    assert Counter({at: d.ranges for d in depths for at in range(d.first, d.end)}) == wanted
    assert whole.ranges == len(ranges)
    assert all(a.end < b.first or a.ranges != b.ranges for a, b in pairwise(depths))


def test_only_the_newest_publications_are_read_again() -> None:
    """Goal: a year of history is read once; a publication with a late clock is not missed."""
    ranges = [published(n, n, n + 1) for n in range(200)]

    known = put_together(Published(), ranges, [])

    newest = ranges[-1].published_at
    assert known.since == newest - OVERLAP
    assert len(known.recent) == OVERLAP // MINUTE + 1
    late = published(300, 200, 201, at=-102 * MINUTE)
    assert known.since <= late.published_at < newest
    again = put_together(known, [*ranges[-5:], late], [])
    assert again.depths == {P0: ((0, 201, 1),)}
    assert again.ranges == 201


def test_a_topic_that_was_recreated_since_is_noticed() -> None:
    known = put_together(Published(), [published(1, 0, 9)], [gap(GapKind.LOST, 9, 10, 1)])

    assert known.is_of([gap(GapKind.SKIPPED, 0, 1, 1)])
    assert not known.is_of([gap(GapKind.RECREATED, 0, 9, 1)])


def test_each_partition_has_its_own() -> None:
    rows = {p: CommittedOffset(TOPIC, p, 5, 0, "id-1") for p in (P1, P0)}
    one = CoveredRange(f"{TOPIC}:1", NOON, {P0: 0, P1: 2}, {P0: 5, P1: 2}, 5, 0, 1)

    covered = coverage_of(rows, put_together(Published(), [one], []), [], [], {})

    assert [each.committed.partition for each in covered] == [P0, P1]
    assert [each.runs for each in covered] == [
        (OffsetRun(0, 5, K.PUBLISHED),),
        (OffsetRun(0, 5, K.UNEXPLAINED),),
    ]


def test_a_window_has_the_parts_of_runs_inside() -> None:
    runs = [OffsetRun(0, 5, K.PUBLISHED), OffsetRun(5, 9, K.LOST)]

    assert clipped(runs, None, None) == runs
    assert clipped(runs, 3, 6) == [OffsetRun(3, 5, K.PUBLISHED), OffsetRun(5, 6, K.LOST)]
    assert clipped(runs, 9, None) == []
    assert clipped(runs, 5, 5) == []
