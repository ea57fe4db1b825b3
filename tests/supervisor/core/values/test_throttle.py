"""How often one caller may ask and fail, on any clock."""

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.values.throttle import (
    Bucket,
    Failures,
    Lockout,
    Rate,
    failed,
    locked_s,
    retry_after,
    take,
)

RATE = Rate(per_s=2, burst=4)
RULE = Lockout(failures_max=3, lasts_s=60)
_waits = st.lists(st.floats(0, 5), max_size=60)


@given(_waits)
def test_no_more_is_taken_than_the_burst_and_what_came_in(waits: list[float]) -> None:
    bucket: Bucket | None = None
    now, taken = 0.0, 0
    for wait in waits:
        now += wait
        bucket, wait_s = take(bucket, RATE, now)
        taken += wait_s == 0
    assert taken <= RATE.burst + RATE.per_s * now + 1e-6


@given(_waits)
def test_whoever_waits_as_told_is_served(waits: list[float]) -> None:
    bucket: Bucket | None = None
    now = 0.0
    for wait in waits:
        now += wait
        bucket, wait_s = take(bucket, RATE, now)
        if wait_s:
            bucket, again = take(bucket, RATE, now + wait_s + 1e-9)
            assert again < 1e-6


def test_a_clock_that_stands_still_or_steps_back_gives_nothing() -> None:
    bucket, _ = take(None, RATE, 10.0)
    for _ in range(3):
        bucket, _ = take(bucket, RATE, 10.0)
    assert take(bucket, RATE, 5.0)[1] > 0


def test_after_so_many_failures_nobody_is_heard_for_a_while() -> None:
    failures: Failures | None = None
    for second in range(2):
        failures = failed(failures, RULE, second)
        assert locked_s(failures, RULE, second) == 0
    failures = failed(failures, RULE, 2)
    assert locked_s(failures, RULE, 2) == 60
    assert locked_s(failures, RULE, 61) == 1
    assert locked_s(failures, RULE, 62) == 0


def test_failures_are_forgotten_after_a_quiet_time() -> None:
    failures = failed(failed(None, RULE, 0), RULE, 1)
    assert failed(failures, RULE, 61) == Failures(1, 61)
    assert failed(failures, RULE, 60) == Failures(3, 60)


def test_a_header_tells_whole_seconds() -> None:
    assert [retry_after(wait) for wait in (0.01, 1, 1.2)] == [1, 1, 2]
