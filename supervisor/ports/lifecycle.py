"""The repository port of lifecycle events; `Transaction` has it as `happenings`.

    tell ─► kept until the transaction commits ─► numbered and written last

The numbers come from one row, which is locked from the numbering to the commit.  So numbers follow
the order of the commits, and no number is visible before the numbers below it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from supervisor.core.history.lifecycle_events import LifecycleEvent, NumberedEvent
from supervisor.core.history.windows import EventWindow

RecordEvent = Callable[[LifecycleEvent], None]
"""The callback by which a repository records the lifecycle event of its change."""


class LifecycleEvents(Protocol):
    """The newest lifecycle events; older ones are deleted."""

    def record(self, happening: LifecycleEvent) -> None:
        """Record a lifecycle event with this transaction."""
        ...

    def after(
        self, number: int, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return lifecycle events with higher numbers, ascending."""
        ...

    def before(
        self, number: int | None, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return lifecycle events, newest first; with a `number` only lower numbers."""
        ...

    def within(
        self, window: EventWindow, before: int, down_to: int, limit: int
    ) -> list[NumberedEvent]:
        """Return the events of a window, newest first, whose numbers lie between the two."""
        ...

    def time_at(self, number: int) -> datetime | None:
        """Return when the newest event up to a number happened; None: it was trimmed."""
        ...

    def trimmed(self) -> int:
        """Return the highest number whose lifecycle event has been deleted; 0: none was."""
        ...

    def newest(self) -> int:
        """Return the number of the newest lifecycle event; 0: there was none yet."""
        ...
