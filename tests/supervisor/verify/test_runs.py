"""Runs of offsets behave as sets do."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from supervisor.verify.runs import RunBuilder, Runs

offsets = st.sets(st.integers(0, 60))


def as_runs(offsets: set[int]) -> Runs:
    builder = RunBuilder()
    for offset in sorted(offsets):
        builder.add(offset)
    return builder.runs()


def as_set(runs: Runs) -> set[int]:
    return {offset for first, end in runs for offset in range(first, end)}


@given(offsets, offsets)
def test_runs_are_sets(left: set[int], right: set[int]) -> None:
    a, b = as_runs(left), as_runs(right)

    assert as_set(a) == left
    assert as_set(a | b) == left | right
    assert as_set(a & b) == left & right
    assert as_set(a - b) == left - right
    assert a.count() == len(left)
    assert (a == b) == (left == right)
    assert bool(a) == bool(left)


@given(offsets, st.integers(0, 60), st.integers(0, 60))
def test_a_clip_keeps_what_lies_inside(some: set[int], first: int, end: int) -> None:
    assert as_set(as_runs(some).clip(first, end)) == {o for o in some if first <= o < end}


@given(offsets)
def test_runs_neither_touch_nor_overlap(some: set[int]) -> None:
    runs = list(as_runs(some))

    assert all(first < end for first, end in runs)
    assert all(end < later for (_, end), (later, _) in pairwise(runs))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8))))
def test_overlapping_pairs_become_one_run(pairs: list[tuple[int, int]]) -> None:
    runs = Runs.unsorted((first, first + length) for first, length in pairs)

    assert as_set(runs) == {o for first, length in pairs for o in range(first, first + length)}
    assert runs == as_runs(as_set(runs))
