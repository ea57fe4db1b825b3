"""Rates over the last minutes: what a task counted within a window, per second of it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.rates import (
    STEP_S,
    WINDOWS_S,
    YOUNGEST_S,
    RangeReader,
    SampleSeries,
    extended,
    rates,
    row_rate,
    sample_of,
    trimmed,
)
from tasks.contract.messages import Counters

TENTH = 0.1
FIRST, NEXT = RangeReader("r1", is_new=False), RangeReader("r2", is_new=True)


def _history(counted: list[tuple[float, int]]) -> SampleSeries:
    history: SampleSeries = ()
    for at_s, processed in counted:
        history = extended(history, sample_of(Counters(processed=processed), at_s))
    return history


def _processed(history: SampleSeries, now_s: float) -> dict[str, float]:
    return {window: found["processed"] for window, found in rates(history, now_s).items()}


growing = st.lists(
    st.tuples(st.floats(0.2, 200.0), st.integers(0, 10_000)), min_size=1, max_size=120
).map(
    lambda steps: [
        (sum(s for s, _ in steps[: n + 1]), sum(c for _, c in steps[: n + 1]))
        for n in range(len(steps))
    ]
)
"""(seconds, counted) of a task whose counters only grow."""


@given(growing, st.floats(0, 2_000))
def test_no_rate_is_more_than_what_was_counted_nor_below_none(
    counted: list[tuple[float, int]], later_s: float
) -> None:
    now = counted[-1][0] + later_s
    seen = counted[-1][1] - counted[0][1]

    rates = _processed(_history(counted), now)

    for window, seconds in WINDOWS_S.items():
        assert -1e-6 <= rates[window] * seconds <= seen + 1e-6


@given(growing)
def test_a_longer_window_holds_what_a_shorter_one_does(counted: list[tuple[float, int]]) -> None:
    found = _processed(_history(counted), counted[-1][0])

    held = [found[window] * seconds for window, seconds in WINDOWS_S.items()]

    assert all(shorter <= longer + 1e-6 for shorter, longer in pairwise(held))


@given(growing)
def test_a_history_has_a_bound_and_keeps_the_newest(counted: list[tuple[float, int]]) -> None:
    history = _history(counted)

    assert len(history) <= 2 * max(WINDOWS_S.values()) / STEP_S + 3
    assert (history[-1].at_s, history[-1].counts[0]) == counted[-1]
    assert all(earlier.at_s < later.at_s for earlier, later in pairwise(history))


@given(st.integers(1, 1_000), st.floats(0.5, 30.0))
def test_a_steady_task_has_its_rate_in_each_window(per_step: int, step_s: float) -> None:
    steps = int(max(WINDOWS_S.values()) / step_s) + 50
    history = _history([(n * step_s, n * per_step) for n in range(steps)])

    found = _processed(history, (steps - 1) * step_s)

    for rate in found.values():
        assert rate == pytest.approx(per_step / step_s, rel=TENTH)


def test_a_burst_leaves_the_windows_one_after_the_other() -> None:
    """Goal: divided by the whole window, also when the task is younger, as in Druid."""
    history = _history([(0.0, 0), (1.0, 900)])

    assert _processed(history, 2.0) == {"1m": 15.0, "5m": 3.0, "15m": 1.0}
    history = extended(history, sample_of(Counters(processed=900), 100.0))
    assert _processed(history, 100.0) == {"1m": 0.0, "5m": 3.0, "15m": 1.0}


def test_what_was_counted_before_the_first_look_is_not_claimed() -> None:
    assert _processed(_history([(0.0, 5_000)]), 1.0) == dict.fromkeys(WINDOWS_S, 0.0)
    assert _processed((), 1.0) == dict.fromkeys(WINDOWS_S, 0.0)


def test_counters_that_fall_begin_anew() -> None:
    history = _history([(0.0, 0), (20.0, 600), (40.0, 100), (50.0, 160)])

    assert _processed(history, 50.0)["1m"] == 1.0


@given(growing, st.floats(0, 2_000))
def test_rows_a_second_of_one_old_task_are_the_rate_of_the_shortest_window(
    counted: list[tuple[float, int]], later_s: float
) -> None:
    history = _history(counted)
    now_s = max(counted[-1][0] + later_s, history[0].at_s + WINDOWS_S["1m"])
    expected = round(_processed(history, now_s)["1m"], 1)

    assert row_rate([(FIRST, history)], now_s) == expected
    if now_s >= counted[-1][0] + WINDOWS_S["1m"]:
        assert expected == 0.0


def test_rows_a_second_of_young_tasks_are_those_since_they_were_first_seen() -> None:
    """Goal: a task of 20 s is not a third as fast as it is; one of 5 s has no rate at all."""
    history = _history([(100.0, 40), (105.0, 540), (120.0, 2_040)])

    assert row_rate([(FIRST, history)], 120.0) == 100.0
    assert row_rate([(FIRST, history[:1])], 100.0 + YOUNGEST_S) == 0.0
    assert row_rate([(FIRST, history[:1])], 99.9 + YOUNGEST_S) is None
    assert row_rate([(FIRST, ())], 120.0) is None
    assert row_rate([], 120.0) is None


@given(st.integers(30, 100), st.integers(0, 20), st.integers(1, 30))
def test_rows_a_second_stay_the_same_over_a_handoff(
    ends_s: int, silent_s: int, later_s: int
) -> None:
    """Goal: the window is the same before, between and after two tasks, for what both made."""
    old = _history([(float(at), 100 * at) for at in range(ends_s + 1)])
    begins_s = ends_s + silent_s
    new = _history([(float(begins_s + at), 100 * at) for at in range(later_s + 1)])
    now_s = float(begins_s + later_s)

    rate = row_rate([(FIRST, trimmed(old)), (NEXT, new)], now_s)

    window = min(60, now_s)
    quiet = max(0, begins_s - max(ends_s, now_s - window))
    assert rate == pytest.approx(100 * (window - quiet) / window, abs=TENTH)


def test_replicas_count_once_and_ranges_together() -> None:
    far, near = _history([(0.0, 0), (60.0, 900)]), _history([(0.0, 0), (60.0, 600)])
    replica = RangeReader("r1", is_new=False)

    assert row_rate([(FIRST, near), (replica, far)], 60.0) == 15.0
    assert row_rate([(FIRST, near), (NEXT, far)], 60.0) == 25.0


def test_no_part_is_shown_as_the_whole() -> None:
    """Goal: after a change of leader a worker that is not heard of yet may read; a new task not."""
    history = _history([(0.0, 0), (60.0, 900)])

    assert row_rate([(FIRST, history), (RangeReader("r2", is_new=False), ())], 60.0) is None
    assert row_rate([(FIRST, history), (FIRST, ())], 60.0) == 15.0, "another replica is known"
    assert row_rate([(FIRST, history), (NEXT, ())], 60.0) == 15.0
