"""The tracker: a commit never passes a record that is not finished, in whatever order they end."""

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.reports.tracker import Tracker

OFFSETS = st.lists(st.integers(0, 60), max_size=30, unique=True).map(sorted)


@given(OFFSETS, st.data())
def test_a_commit_passes_no_unfinished_record(offsets: list[int], data: st.DataObject) -> None:
    tracker = Tracker(next_offset=0)
    for offset in offsets:
        assert tracker.begin(offset)
    finished: set[int] = set()
    for offset in data.draw(st.permutations([*offsets, *range(0, 60, 7)])):
        tracker.finish(offset)
        finished.add(offset)
        open_ones = [each for each in offsets if each not in finished]
        assert tracker.lowest_unfinished == min(open_ones, default=tracker.next_offset)
        assert tracker.in_flight == len(open_ones)


def test_what_is_read_again_while_under_way_is_left_out() -> None:
    """Goal: a partition that is polled again from its committed offset does nothing twice."""
    tracker = Tracker(next_offset=5)

    assert [tracker.begin(offset) for offset in (4, 5, 7, 6, 7, 8)] == [
        False,
        True,
        True,
        False,
        False,
        True,
    ]
    assert tracker.in_flight == 3


def test_each_offset_is_committed_once() -> None:
    tracker = Tracker(next_offset=5)
    assert tracker.due() == 5
    tracker.committed = 5
    assert tracker.due() is None

    tracker.begin(5)
    tracker.begin(6)
    tracker.finish(6)
    assert tracker.due() is None

    tracker.finish(5)
    assert tracker.due() == 7
