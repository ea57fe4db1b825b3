"""A page of lifecycle events: the newest of all kinds, then those that are kept longer.

    newest ─────────────► trimmed + 1 │ trimmed ─────────────────────► oldest that is kept
    of all kinds, without a hole      │ of the kinds in `LASTING`, and what the archive has

A position is a number in both parts, so a page may begin in one and end in the other.
"""

from dataclasses import dataclass

from supervisor.core.history.lifecycle_events import LASTING, NumberedEvent
from supervisor.core.history.windows import SCANNED_MAX, EventWindow, scanned_down_to
from supervisor.ports.lifecycle import LifecycleEvents
from supervisor.services.history.archive_reader import CLOCKS_DIFFER, Stretch, joined


@dataclass(frozen=True)
class OlderPart:
    """What of a page lies below the events of all kinds."""

    start: int
    """The page goes on below this number."""
    room: int
    """At most so many rows."""
    lasting: Stretch[NumberedEvent]
    """Those that the metadata keeps longer."""


@dataclass(frozen=True)
class EventPart:
    """What the metadata has of a page."""

    rows: list[NumberedEvent]
    following: int | None
    """The number before which the next page begins; None: there is none, or see `older`."""
    older: OlderPart | None = None
    """None: the page ends before."""

    def joined(
        self, archived: Stretch[NumberedEvent] | None
    ) -> tuple[list[NumberedEvent], int | None]:
        """Return the page with what the archive has, and where the next one begins."""
        if self.older is None:
            return self.rows, self.following
        parts = [self.older.lasting, *([] if archived is None else [archived])]
        more, following = joined(parts, self.older.start, self.older.room)
        return [*self.rows, *more], following


def event_part(events: LifecycleEvents, window: EventWindow, start: int, limit: int) -> EventPart:
    """Return at most `limit` events below a number; a page looks at a bounded number of rows."""
    trimmed = events.trimmed()
    down_to = scanned_down_to(start, trimmed, narrow=window.narrow)
    rows = events.within(window, start, down_to, limit + 1)
    if len(rows) > limit:
        return EventPart(rows[:limit], rows[limit - 1].number)
    if down_to > trimmed:
        return EventPart(rows, None if _is_over(events, window, down_to) else down_to + 1)
    start, room = min(start, trimmed + 1), limit - len(rows)
    return EventPart(rows, None, OlderPart(start, room, _lasting(events, window, start, room)))


def _lasting(
    events: LifecycleEvents, window: EventWindow, start: int, limit: int
) -> Stretch[NumberedEvent]:
    others_alone = window.kinds and window.kinds.isdisjoint(LASTING)
    if others_alone or _is_over(events, window, start - 1):
        return Stretch([], 0)
    down_to = events.lasting_down_to(window, start, SCANNED_MAX)
    rows = [(each.number, each) for each in events.lasting(window, start, down_to, limit + 1)]
    if len(rows) > limit:
        return Stretch(rows[:limit], (rows[limit - 1][0] if limit else start) - 1)
    over = down_to == 0 or _is_over(events, window, down_to)
    return Stretch(rows, 0 if over else down_to)


def _is_over(events: LifecycleEvents, window: EventWindow, down_to: int) -> bool:
    """Whether no event up to a number can be in the window, because they all are too old."""
    if window.begin is None:
        return False
    at = events.time_at(down_to)
    return at is None or at < window.begin - CLOCKS_DIFFER
