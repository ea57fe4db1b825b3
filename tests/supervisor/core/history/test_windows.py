"""Windows of the history: what is in them, and how far one page looks."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.history.windows import (
    SCANNED_MAX,
    EventWindow,
    RangeWindow,
    next_position,
    scanned_down_to,
)
from tests.supervisor.core.snapshots import NOON

SECOND = timedelta(seconds=1)


def happened(second: int, kind: EventKind = EventKind.TASK_STARTED) -> LifecycleEvent:
    return LifecycleEvent(NOON + second * SECOND, kind, "clicks")


def test_the_begin_is_in_the_window_and_the_end_is_not() -> None:
    window = EventWindow(begin=NOON, end=NOON + 10 * SECOND)
    inside = [second for second in (-1, 0, 9, 10) if window.admits(happened(second))]
    assert inside == [0, 9]


def test_a_window_of_types_and_of_a_supervisor_has_nothing_else() -> None:
    window = EventWindow("clicks", frozenset({EventKind.STATE_CHANGED}))
    assert window.admits(happened(0, EventKind.STATE_CHANGED))
    assert not window.admits(happened(0))
    assert not EventWindow("views").admits(happened(0))
    assert EventWindow().admits(happened(0))


def test_only_what_narrows_bounds_how_far_a_page_looks() -> None:
    assert not EventWindow("clicks").narrow
    assert not RangeWindow().narrow
    assert RangeWindow(group=0).narrow, "the group 0 is a group"
    assert scanned_down_to(10**6, 5, narrow=False) == 5
    assert scanned_down_to(10**6, 5, narrow=True) == 10**6 - 1 - SCANNED_MAX
    assert scanned_down_to(10, 5, narrow=True) == 5


@given(
    st.sets(st.integers(1, 90_000), max_size=60),
    st.integers(1, 9),
    st.integers(0, 50_000),
)
def test_pages_see_each_match_once_and_end(matching: set[int], limit: int, first: int) -> None:
    """Goal: however far apart the matches are, none is missed, and no page looks too far."""
    newest, seen, pages = 90_000, list[int](), 0
    position: int | None = newest + 1
    while position is not None:
        down_to = scanned_down_to(position, first, narrow=True)
        assert position - 1 - down_to <= SCANNED_MAX
        rows = sorted((n for n in matching if down_to < n < position), reverse=True)[: limit + 1]
        seen += rows[:limit]
        following = next_position(rows, limit, down_to, first)
        assert following is None or following < position
        position, pages = following, pages + 1

    assert seen == sorted((n for n in matching if n > first), reverse=True)
    assert pages <= len(matching) // limit + (newest - first) // SCANNED_MAX + 2
