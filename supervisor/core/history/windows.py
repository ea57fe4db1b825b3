"""Windows of the history: which events and which ranges a list is about."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import GenerationState

SCANNED_MAX = 20_000
"""Rows that a page of a window looks at.  The page then ends with what it has, and the next page
goes on: no page costs what the whole history does."""


@dataclass(frozen=True)
class EventWindow:
    """The events of a list; what is left out narrows nothing."""

    supervisor_id: str | None = None
    kinds: frozenset[EventKind] = frozenset()
    begin: datetime | None = None
    end: datetime | None = None
    """Exclusive."""

    @property
    def narrow(self) -> bool:
        """Whether many events may lie between two that match."""
        return bool(self.kinds or self.begin or self.end)

    def admits(self, event: LifecycleEvent) -> bool:
        """Whether an event is one of the window."""
        return (
            (not self.kinds or event.kind in self.kinds)
            and self.supervisor_id in {None, event.supervisor_id}
            and (self.begin is None or event.at >= self.begin)
            and (self.end is None or event.at < self.end)
        )


@dataclass(frozen=True)
class RangeWindow:
    """The ranges of a list, of one supervisor; what is left out narrows nothing."""

    group: int | None = None
    states: frozenset[GenerationState] = frozenset()
    begin: datetime | None = None
    """Ranges that had ended by then are left out."""
    end: datetime | None = None
    """Ranges that were opened then or later are left out."""

    @property
    def narrow(self) -> bool:
        """Whether many ranges may lie between two that match."""
        return self.group is not None or bool(self.states or self.begin or self.end)


EVERY_EVENT, EVERY_RANGE = EventWindow(), RangeWindow()


def scanned_down_to(start: int, first: int, *, narrow: bool) -> int:
    """Return the number above which a page looks, if it begins below `start`; `first`: the lowest.

    A list that nothing narrows finds its rows at once, and needs no bound.
    """
    return max(first, start - 1 - SCANNED_MAX) if narrow else first


def next_position(positions: Collection[int], limit: int, down_to: int, first: int) -> int | None:
    """Return the position before which the next page begins; None: there is none.

    `positions`: of up to `limit` + 1 rows, newest first.
    """
    if len(positions) > limit:
        return list(positions)[limit - 1]
    return down_to + 1 if down_to > first else None
