"""The bucket: never more than its rate, also after a silence or a jump of the clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.reports.pace import PaceBucket

STEPS = st.lists(st.tuples(st.floats(0.0, 3.0), st.integers(1, 40)), min_size=1, max_size=40)


@given(STEPS, st.sampled_from([0.5, 20.0, 1_000.0]))
def test_no_span_of_time_has_more_than_its_rate(
    steps: list[tuple[float, int]], rate: float
) -> None:
    bucket, now, taken = PaceBucket(rate), 0.0, 0
    for pause, wanted in steps:
        now += pause
        now += bucket.wait_s(wanted, now)
        bucket.take(wanted, now)
        taken += wanted
        # What the last one took beyond the bucket is owed, and is waited for by the next one.
        assert taken - max(wanted, bucket.capacity) <= rate * now + bucket.capacity + 1e-6


def test_a_clock_that_goes_back_opens_nothing() -> None:
    bucket = PaceBucket(rate=10.0)
    bucket.take(1, now=100.0)

    assert bucket.wait_s(1, now=1.0) == pytest.approx(0.1)
    assert bucket.wait_s(1, now=100.0) == pytest.approx(0.1)


def test_after_a_silence_a_tenth_of_a_second_is_there() -> None:
    bucket = PaceBucket(rate=100.0)
    bucket.take(10, now=0.0)

    assert bucket.wait_s(10, now=0.0) == pytest.approx(0.1)
    assert bucket.wait_s(10, now=3_600.0) == 0.0
    bucket.take(10, now=3_600.0)
    assert bucket.wait_s(1, now=3_600.0) == pytest.approx(0.01)


def test_more_than_it_holds_is_taken_from_a_full_bucket_and_owed() -> None:
    """Goal: a batch that is larger than the bucket does not wait for ever."""
    bucket = PaceBucket(rate=10.0)

    assert bucket.wait_s(50, now=0.0) == 0.0
    bucket.take(50, now=0.0)

    assert bucket.wait_s(1, now=0.0) == pytest.approx(5.0)
