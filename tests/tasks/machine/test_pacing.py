"""How large a batch may be: it settles where a batch lasts its target."""

from datetime import timedelta

import pytest

from tasks.contract.ingest_spec import Tuning
from tasks.machine.pacing import Limits, Pace, first_pace

TUNING = Tuning(batch_target=timedelta(seconds=2), batch_rows_min=500, batch_rows_max=500_000)
LIMITS = Limits()


def lasted(pace: Pace, rows_per_s: float, fixed_s: float) -> float:
    size = pace.size(TUNING, LIMITS, lag=0, ending=False)
    return fixed_s + size.rows / rows_per_s


@pytest.mark.parametrize("rows_per_s", [2_000, 50_000, 150_000])
@pytest.mark.parametrize("first", [500, 20_000, 500_000])
def test_a_live_batch_settles_near_its_target(rows_per_s: float, first: int) -> None:
    pace = Pace(rows=first)
    seconds = []
    for _ in range(200):
        size = pace.size(TUNING, LIMITS, lag=0, ending=False)
        seconds.append(lasted(pace, rows_per_s, fixed_s=0.4))
        pace = pace.after(size, size.rows, seconds[-1], TUNING)

    assert max(seconds[20:]) < 2.5
    assert min(seconds[20:]) > 0.9


def test_a_batch_that_was_too_long_makes_the_next_one_much_smaller() -> None:
    pace = Pace(rows=100_000)
    size = pace.size(TUNING, LIMITS, lag=0, ending=False)

    assert pace.after(size, 100_000, 60.0, TUNING).rows == 50_000


def test_a_batch_that_found_little_teaches_nothing_about_the_bound() -> None:
    pace = Pace(rows=100_000)
    size = pace.size(TUNING, LIMITS, lag=10, ending=False)

    assert pace.after(size, 10, 0.4, TUNING).rows == 100_000


def test_far_behind_a_batch_may_last_longer() -> None:
    pace = Pace(rows=20_000, rows_per_s=10_000)

    live = pace.size(TUNING, LIMITS, lag=80_000, ending=False)
    behind = pace.size(TUNING, LIMITS, lag=80_001, ending=False)

    assert (live.rows, live.target_s) == (20_000, 2)
    assert (behind.rows, behind.target_s) == (100_000, 10)


def test_far_behind_the_first_batch_is_small_so_that_rows_show_soon() -> None:
    """Case: a worker that had just started showed its first rows after 7 to 14 s."""
    pace = first_pace(TUNING, LIMITS)

    first = pace.size(TUNING, LIMITS, lag=10**9, ending=False)
    pace = pace.after(first, first.rows, 4.0, TUNING)
    second = pace.size(TUNING, LIMITS, lag=10**9, ending=False)

    assert (first.rows, first.target_s) == (20_000, 10)
    assert second.rows == 200_000


def test_no_batch_exceeds_what_the_spec_allows() -> None:
    pace = Pace(rows=400_000, rows_per_s=10_000)
    assert pace.size(TUNING, LIMITS, lag=10**9, ending=False).rows == 500_000
    size = pace.size(TUNING, LIMITS, lag=0, ending=False)
    assert pace.after(size, 400_000, 0.1, TUNING).rows == 500_000


def test_the_bound_never_falls_below_a_batch_worth_its_cost() -> None:
    pace = Pace(rows=600)
    size = pace.size(TUNING, LIMITS, lag=0, ending=False)

    assert pace.after(size, 600, 100.0, TUNING).rows == 500
    assert pace.cancelled(TUNING).rows == 500


def test_batches_that_pauses_cancel_become_small_enough_also_far_behind() -> None:
    """Else a taskDuration shorter than one catch-up batch would never read anything."""
    pace = Pace(rows=20_000, rows_per_s=10_000)
    sizes = []
    for _ in range(8):
        sizes.append(pace.size(TUNING, LIMITS, lag=10**9, ending=False).rows)
        pace = pace.cancelled(TUNING)

    assert sizes == [100_000, 50_000, 25_000, 12_500, 6_250, 3_125, 2_500, 2_500]


def test_pauses_before_anything_is_measured_make_the_first_batch_smaller() -> None:
    pace = Pace(rows=20_000)
    sizes = []
    for _ in range(8):
        sizes.append(pace.size(TUNING, LIMITS, lag=10**9, ending=False).rows)
        pace = pace.cancelled(TUNING)

    assert sizes == [20_000, 10_000, 5_000, 2_500, 1_250, 625, 500, 500]


def test_a_bound_of_one_row_is_kept() -> None:
    tuning = Tuning(batch_rows_max=1)

    assert first_pace(tuning, LIMITS).rows == 1


def test_retries_grow_to_their_bound() -> None:
    assert [LIMITS.retry_s(n) for n in (1, 2, 3, 6, 1_000)] == [0.5, 1, 2, 10, 10]
