"""Rate limiting by token bucket, and lockout after failures; times are seconds of any clock."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """A token bucket's bounds."""

    per_s: float
    burst: float


@dataclass(frozen=True)
class Bucket:
    """The content of a bucket at a moment."""

    left: float
    at_s: float


def take(bucket: Bucket | None, rate: Rate, now_s: float) -> tuple[Bucket, float]:
    """Return the bucket after one more request, and the seconds to wait; 0: the request may run.

    A request that has to wait takes no token.  A bucket of None is full.
    """
    before = Bucket(rate.burst, now_s) if bucket is None else bucket
    passed = max(0.0, now_s - before.at_s)
    left = min(rate.burst, before.left + passed * rate.per_s)
    if left >= 1:
        return Bucket(left - 1, now_s), 0.0
    return Bucket(left, now_s), (1 - left) / rate.per_s


@dataclass(frozen=True)
class Lockout:
    """The lockout rule: after so many failures in a row, calls are refused for so long."""

    failures_max: int
    lasts_s: float


@dataclass(frozen=True)
class Failures:
    """The failures of a caller without a success between them, and the time of the last one."""

    count: int
    last_s: float


def failed(before: Failures | None, rule: Lockout, now_s: float) -> Failures:
    """Count one more failure; the count restarts if a lockout time has passed without a failure."""
    if before is None or now_s - before.last_s >= rule.lasts_s:
        return Failures(1, now_s)
    return Failures(before.count + 1, now_s)


def locked_s(failures: Failures | None, rule: Lockout, now_s: float) -> float:
    """Return for how many more seconds calls are refused; 0: not locked."""
    if failures is None or failures.count < rule.failures_max:
        return 0.0
    return max(0.0, failures.last_s + rule.lasts_s - now_s)


def retry_after(wait_s: float) -> int:
    """Return whole seconds for a Retry-After header: at least one."""
    return max(1, math.ceil(wait_s))
