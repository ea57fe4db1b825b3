"""A page of lifecycle events: the newest of all kinds, then those that are kept longer.

    newest ─────────────► trimmed + 1 │ trimmed ─────────────────────► oldest that is kept
    of all kinds, without a hole      │ of the kinds in `LASTING`

A position is a number in both parts, so a page may begin in one and end in the other.
"""

from datetime import timedelta

from supervisor.core.history.lifecycle_events import LASTING, NumberedEvent
from supervisor.core.history.windows import SCANNED_MAX, EventWindow, scanned_down_to
from supervisor.ports.lifecycle import LifecycleEvents

CLOCKS_DIFFER = timedelta(hours=1)
"""Events are in the order of their commits: one leader's clock may be behind that of the last."""

Rows = tuple[list[NumberedEvent], int | None]
"""Events, newest first, and the position before which the next page begins; None: there is none."""


def event_rows(events: LifecycleEvents, window: EventWindow, start: int, limit: int) -> Rows:
    """Return at most `limit` events below a number; a page looks at a bounded number of rows."""
    trimmed = events.trimmed()
    down_to = scanned_down_to(start, trimmed, narrow=window.narrow)
    rows = events.within(window, start, down_to, limit + 1)
    if len(rows) > limit:
        return rows[:limit], rows[limit - 1].number
    if down_to > trimmed:
        return rows, None if _is_over(events, window, down_to) else down_to + 1
    if window.kinds.isdisjoint(LASTING) and window.kinds:
        return rows, None
    older, following = _lasting(events, window, min(start, trimmed + 1), limit - len(rows))
    return [*rows, *older], following


def _lasting(events: LifecycleEvents, window: EventWindow, start: int, limit: int) -> Rows:
    if _is_over(events, window, start - 1):
        return [], None
    down_to = events.lasting_down_to(window, start, SCANNED_MAX)
    rows = events.lasting(window, start, down_to, limit + 1)
    if len(rows) > limit:
        return rows[:limit], rows[limit - 1].number if limit else start
    over = down_to == 0 or _is_over(events, window, down_to)
    return rows, None if over else down_to + 1


def _is_over(events: LifecycleEvents, window: EventWindow, down_to: int) -> bool:
    """Whether no event up to a number can be in the window, because they all are too old."""
    if window.begin is None:
        return False
    at = events.time_at(down_to)
    return at is None or at < window.begin - CLOCKS_DIFFER
