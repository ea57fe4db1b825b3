"""Waits under clock skew: a wait is measured from a stored time, perhaps of another clock.

    stored at ──wait──► over                       our clock
    now ···· stored at                             theirs was ahead: the wait counts as over

The planner has no memory, so a wait cannot restart.  If the clock that stored the time was ahead of
ours, the wait would last longer by the difference of the clocks.  A difference of up to a tenth of
the wait is accepted.  With a larger difference, the wait counts as over, or the action is ordered
again and has a time of our clock from then on.

Source: protocol rule P3, ages are clamped; faults H1.
"""

from datetime import datetime, timedelta

_SKEW = 0.1
"""The accepted clock skew, as a fraction of a wait."""


def is_ahead(at: datetime, wait: timedelta, now: datetime) -> bool:
    """Return whether a stored time is so far ahead of our clock that its wait has no meaning."""
    return at - now > _SKEW * wait


def is_over(at: datetime, wait: timedelta, now: datetime) -> bool:
    """Return whether a wait from a stored time is over; it lasts at most a tenth longer."""
    return now >= at + wait or is_ahead(at, wait, now)


def known_since(at: datetime, now: datetime, led_since: datetime | None) -> datetime:
    """Return the time, by our clock, since when observations show a change stored at `at`.

    Only a time within our term may be by our clock.  Any other time was stored before the term
    began, by an overlord's clock that may differ by hours.  `led_since` is the start of our term;
    None: it is not known.
    """
    return at if led_since is None or led_since <= at <= now else led_since
