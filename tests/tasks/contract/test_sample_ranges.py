"""Which offsets a sample reads: properties of the parts, whatever the partitions hold."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.contract.offsets import TopicPartition
from tasks.contract.sample_ranges import PARTITIONS_MAX, parts

LOG = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 40)),
    st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)),
    max_size=60,
)
"""Partition -> (earliest, how many offsets)."""
Log = dict[TopicPartition, tuple[int, int]]


@given(log=LOG, rows=st.integers(1, 5_000), newest=st.booleans())
def test_parts_lie_in_the_log_and_grow(log: Log, rows: int, newest: bool) -> None:
    earliest = {p: first for p, (first, _) in log.items()}
    latest = {p: first + held for p, (first, held) in log.items()}

    ranges = parts(earliest, latest, rows, newest=newest)

    held = sum(number for _, number in log.values())
    assert bool(ranges) == bool(held)
    before = 0
    for start, end in ranges:
        assert start.keys() == end.keys()
        assert 0 < len(start) <= PARTITIONS_MAX
        assert all(earliest[p] <= start[p] < end[p] <= latest[p] for p in start)
        at_its_end = [end[p] == latest[p] if newest else start[p] == earliest[p] for p in start]
        assert all(at_its_end)
        size = sum(end[p] - start[p] for p in start)
        assert size > before
        before = size


@given(log=LOG, rows=st.integers(1, 5_000), newest=st.booleans())
def test_the_first_part_has_as_many_offsets_as_rows_if_there_are(
    log: Log, rows: int, newest: bool
) -> None:
    earliest = {p: first for p, (first, _) in log.items()}
    latest = {p: first + held for p, (first, held) in log.items()}
    filled = [p for p, (_, held) in log.items() if held]

    for start, end in parts(earliest, latest, rows, newest=newest)[:1]:
        sizes = {p: end[p] - start[p] for p in start}
        assert sum(sizes.values()) <= rows
        if len(filled) <= PARTITIONS_MAX:
            held = {p: log[p][1] for p in filled}
            assert sum(sizes.values()) == min(rows, sum(held.values()))
            cut = [sizes.get(p, 0) for p in filled if sizes.get(p, 0) < held[p]]
            assert not cut or max(sizes.values()) - min(cut) <= 1, "spread unevenly"
