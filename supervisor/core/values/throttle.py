"""How often one caller may ask, and how often it may fail; times are seconds of any clock."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """A token bucket's bounds."""

    per_s: float
    burst: float


@dataclass(frozen=True)
class Bucket:
    """What was left of a bucket at a moment."""

    left: float
    at_s: float


def take(bucket: Bucket | None, rate: Rate, now_s: float) -> tuple[Bucket, float]:
    """Return the bucket after one more request, and the seconds to wait for it; 0: it is taken.

    A request that has to wait takes nothing.  None is a full bucket.
    """
    before = Bucket(rate.burst, now_s) if bucket is None else bucket
    passed = max(0.0, now_s - before.at_s)
    left = min(rate.burst, before.left + passed * rate.per_s)
    if left >= 1:
        return Bucket(left - 1, now_s), 0.0
    return Bucket(left, now_s), (1 - left) / rate.per_s


@dataclass(frozen=True)
class Lockout:
    """After so many failures in a row nobody is heard for so long."""

    failures_max: int
    lasts_s: float


@dataclass(frozen=True)
class Failures:
    """How often somebody failed without a success, and when last."""

    count: int
    last_s: float


def failed(before: Failures | None, rule: Lockout, now_s: float) -> Failures:
    """Count one more; failures are forgotten once a lockout's time has passed without one."""
    if before is None or now_s - before.last_s >= rule.lasts_s:
        return Failures(1, now_s)
    return Failures(before.count + 1, now_s)


def locked_s(failures: Failures | None, rule: Lockout, now_s: float) -> float:
    """Return for how many seconds more nobody is heard; 0: not locked."""
    if failures is None or failures.count < rule.failures_max:
        return 0.0
    return max(0.0, failures.last_s + rule.lasts_s - now_s)


def retry_after(wait_s: float) -> int:
    """Return whole seconds for a Retry-After header: at least one."""
    return max(1, math.ceil(wait_s))
