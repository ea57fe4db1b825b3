"""Waits that are measured from a stored time, which another overlord's clock may have told.

    stored at ──wait──► over                       our clock
    now ···· stored at                             theirs was ahead: the wait counts as over

Whoever decides has no memory, so a wait cannot begin anew: one that was stored by a clock ahead of
ours would last longer by all that the clocks differ.  Up to a tenth of the wait that is borne; with
more the wait is over, or what it was for is ordered again and has a time of ours from then on.

Source: protocol rule P3, ages are clamped; faults H1.
"""

from datetime import datetime, timedelta

_SKEW = 0.1
"""Of a wait: so much later than its overlords' clocks differ it may end."""


def is_ahead(at: datetime, wait: timedelta, now: datetime) -> bool:
    """Tell whether a stored time lies so far ahead of ours that a wait from it says nothing."""
    return at - now > _SKEW * wait


def is_over(at: datetime, wait: timedelta, now: datetime) -> bool:
    """Tell whether a wait from a stored time is over; it lasts a tenth longer at most, from now."""
    return now >= at + wait or is_ahead(at, wait, now)


def known_since(at: datetime, now: datetime, led_since: datetime | None) -> datetime:
    """Return from when on, by our clock, what we look at shows what was stored at `at`.

    Only a time within our term may be by our clock.  Any other was stored before the term began, by
    an overlord's clock that may differ by hours.  `led_since` of None: when it began is not known.
    """
    return at if led_since is None or led_since <= at <= now else led_since
