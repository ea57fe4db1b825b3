"""Which files become one: small ones of one chunk, none twice, no two ranges mixed up."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.rows import Segment, TaskStatus
from supervisor.core.tables.compaction import (
    FAILURES_COUNT_FOR,
    FAILURES_MAX,
    FILES_MAX,
    SPANS_MAX,
    Candidate,
    Compaction,
    Share,
    Target,
    batches,
    columns_of,
    failed_too_often,
    joined,
    shares_of,
)
from supervisor.core.values.intervals import Interval
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan, SegmentFile

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NAME = Column(name="name", type="string")
TARGET = Target(rows=1_000, size_bytes=1_000_000)


def file(
    number: int,
    *,
    rows: int = 10,
    size: int = 1_000,
    hours: int = 0,
    first: int | None = None,
    columns: tuple[Column, ...] = (NAME,),
) -> Segment:
    """The file of range `number`, with ten rows of partition 0 from `first`."""
    start = number * 1_000 if first is None else first
    span = OffsetSpan(topic="t", partition=0, first=start, last=start + rows - 1, rows=rows)
    return Segment(
        f"s{number:03d}",
        "table",
        "clicks",
        f"g{number}",
        f"task{number}",
        NOON + timedelta(seconds=number),
        SegmentFile(
            path=f"table/data/task{number}/0.parquet",
            interval_start=NOON + hours * HOUR,
            interval_end=NOON + (hours + 1) * HOUR,
            rows=rows,
            size_bytes=size,
            sha256="0" * 64,
            time_min=NOON,
            time_max=NOON,
            spans=(span,),
        ),
        columns=columns,
    )


def view(segments: Sequence[ListedSegment]) -> list[Candidate]:
    whole = [each for each in segments if isinstance(each, Segment)]
    return [Candidate(segment, shares_of(segment, {})) for segment in whole]


def chosen(used: list[Segment], target: Target = TARGET, **rest: object) -> list[list[str]]:
    found = batches(used, target, view, **rest)  # type: ignore[arg-type]
    return [[each.segment.id for each in batch] for batch in found]


def test_small_files_of_one_chunk_become_one() -> None:
    assert chosen([file(n) for n in range(4)]) == [["s000", "s001", "s002", "s003"]]


def test_chunks_and_supervisors_stay_apart() -> None:
    other = replace(file(5), supervisor_id="other")
    used = [file(0), file(1), file(2, hours=1), file(3, hours=1), other]

    assert chosen(used) == [["s000", "s001"], ["s002", "s003"]]


def test_a_file_of_half_the_target_is_left_alone_by_rows_and_by_bytes() -> None:
    used = [file(0), file(1, rows=500), file(2, size=500_000), file(3)]

    assert chosen(used) == [["s000", "s003"]]
    assert chosen([file(0, rows=501), file(1)]) == []


def test_no_file_grows_beyond_the_target() -> None:
    used = [file(n, rows=400) for n in range(5)]

    assert chosen(used) == [["s000", "s001"], ["s002", "s003"]]
    assert chosen([file(n, size=400_000) for n in range(3)]) == [["s000", "s001"]]


def test_one_compaction_is_bounded() -> None:
    found = chosen([file(n, rows=1, size=1) for n in range(FILES_MAX + 2)])

    assert [len(batch) for batch in found] == [FILES_MAX, 2]


def test_one_compaction_is_bounded_by_spans_too() -> None:
    """Goal: what its worker is told stays so small that it is taken, whatever the partitions."""
    many = SPANS_MAX // 4
    wide = []
    for number in range(6):
        whole = file(number)
        [span] = whole.file.spans
        spans = tuple(span.model_copy(update={"partition": p}) for p in range(many))
        wide.append(replace(whole, file=whole.file.model_copy(update={"spans": spans})))

    assert [len(batch) for batch in chosen(wide)] == [4, 2]


def test_ranges_that_overlap_are_never_put_together() -> None:
    """Goal: each row of a compacted file belongs to one range, which its offset tells."""
    again = file(2, first=0)  # read twice, after a reset

    assert chosen([file(0), file(1), again]) == [["s000", "s001"]]


def test_several_files_of_one_range_may_interleave() -> None:
    twin = replace(file(0), id="s000b", generation_id="g0")

    assert chosen([file(0), twin]) == [["s000", "s000b"]]


def test_rolled_up_rows_stay_among_themselves() -> None:
    def rolled(segments: Sequence[ListedSegment]) -> list[Candidate]:
        return [replace(c, kind=c.segment.id in {"s001", "s003"}) for c in view(segments)]

    found = batches([file(n) for n in range(4)], TARGET, rolled)

    assert [[c.segment.id for c in batch] for batch in found] == [
        ["s000", "s002"],
        ["s001", "s003"],
    ]


def test_the_newest_chunks_are_left_to_those_who_write_them() -> None:
    used = [file(0), file(1), file(2, hours=3), file(3, hours=3)]

    assert chosen(used, skip_latest=HOUR) == [["s000", "s001"]]
    assert chosen(used, skip_latest=4 * HOUR) == []


def test_what_is_left_out_or_has_no_known_columns_is_not_touched() -> None:
    used = [file(0), file(1), file(2), file(3, columns=())]

    assert chosen(used, left_out={"s001"}) == [["s000", "s002"]]
    assert chosen([]) == []


def test_raw_records_have_no_columns_and_are_put_together_all_the_same() -> None:
    used = [replace(file(number, columns=()), data_source="table__errors") for number in (0, 1)]

    assert chosen(used) == [["s000", "s001"]]


def test_few_files_are_not_worth_it() -> None:
    assert chosen([file(0), file(1)], replace(TARGET, files_min=3)) == []
    assert chosen([file(0)], replace(TARGET, files_min=1)) == []


def test_nothing_is_looked_up_that_stands_alone() -> None:
    """Goal: a look at a large table that is compact costs no queries."""

    def looked_up(_: Sequence[ListedSegment]) -> list[Candidate]:
        raise AssertionError("nobody should ask")

    assert list(batches([file(n, hours=n) for n in range(50)], TARGET, looked_up)) == []


@given(
    st.lists(
        st.tuples(
            st.integers(1, 700),  # rows
            st.integers(1, 700_000),  # bytes
            st.integers(0, 3),  # chunk
            st.integers(0, 5_000),  # first offset: ranges may overlap
        ),
        max_size=30,
    ),
    st.integers(2, 4),
)
def test_whatever_there_is_each_file_is_in_one_batch_and_each_batch_fits(
    drawn: list[tuple[int, int, int, int]], files_min: int
) -> None:
    used = [
        file(n, rows=rows, size=size, hours=hours, first=first)
        for n, (rows, size, hours, first) in enumerate(drawn)
    ]
    target = replace(TARGET, files_min=files_min)

    planned = list(batches(used, target, view))

    ids = Counter(each.segment.id for batch in planned for each in batch)
    assert not ids or max(ids.values()) == 1
    for batch in planned:
        files = [each.segment.file for each in batch]
        assert len(files) >= files_min
        assert len({(f.interval_start, f.interval_end) for f in files}) == 1
        assert sum(f.rows for f in files) <= target.rows
        assert sum(f.size_bytes for f in files) <= target.size_bytes
        offsets = Counter(
            offset for f in files for s in f.spans for offset in range(s.first, s.last + 1)
        )
        assert max(offsets.values()) == 1


def test_shares_of_several_files_add_up_by_range() -> None:
    twin = replace(file(0, first=50), id="s000b", generation_id="g0")
    shares = [share for each in (file(1), file(0), twin) for share in shares_of(each, {})]

    assert joined(shares) == (
        Share("g0", 20, (OffsetSpan(topic="t", partition=0, first=0, last=59, rows=20),)),
        Share("g1", 10, (OffsetSpan(topic="t", partition=0, first=1_000, last=1_009, rows=10),)),
    )


def ended(*, blamed: bool = True, ago: timedelta = HOUR) -> Compaction:
    return Compaction(
        "c",
        "table",
        "clicks",
        Interval(NOON, NOON + HOUR),
        ("s1", "s2"),
        (NAME,),
        (),
        "me",
        NOON,
        status=TaskStatus.FAILED,
        ended_at=NOON - ago,
        blamed=blamed,
    )


def test_what_was_compacted_again_keeps_its_shares() -> None:
    whole = (Share("g7", 10, ()), Share("g8", 5, ()))
    row = replace(ended(), id="c1", shares=whole)

    assert shares_of(replace(file(0), compaction_id="c1"), {"c1": row}) == whole


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        ([ended()] * FAILURES_MAX, {"s1", "s2"}),
        ([ended()] * (FAILURES_MAX - 1), set()),
        ([ended(blamed=False)] * FAILURES_MAX, set()),
        ([ended(ago=FAILURES_COUNT_FOR + HOUR)] * FAILURES_MAX, set()),
    ],
)
def test_files_that_fail_again_and_again_are_left_alone_for_a_day(
    failures: list[Compaction], expected: set[str]
) -> None:
    assert failed_too_often(failures, NOON) == expected


def test_columns_are_as_wide_as_in_any_file_and_the_newest_come_first() -> None:
    number, text = Column(name="n", type="long"), Column(name="n", type="string")
    new = Column(name="new", type="double")

    assert columns_of([file(0, columns=(NAME, number)), file(1, columns=(new, text))]) == (
        new,
        Column(name="n", type="json"),
        NAME,
    )
