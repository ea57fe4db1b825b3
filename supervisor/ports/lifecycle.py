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
    """The newest lifecycle events; older ones are trimmed.

    Trimmed events of the kinds in `LASTING` are kept longer, apart from the others.
    """

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

    def lasting(
        self, window: EventWindow, before: int, down_to: int, limit: int
    ) -> list[NumberedEvent]:
        """Return the trimmed events of a window that are kept longer; as `within`."""
        ...

    def lasting_down_to(self, window: EventWindow, before: int, rows_max: int) -> int:
        """Return the number above which, up to `before`, at most so many of these events lie.

        Of the window, its supervisor counts alone.  0: there are no more than `rows_max`.
        """
        ...

    def time_at(self, number: int) -> datetime | None:
        """Return when the newest kept event up to a number happened; None: there is none."""
        ...

    def trimmed(self) -> int:
        """Return the highest number that was trimmed; 0: none was.

        All events with higher numbers are there, and `after` has no others.
        """
        ...

    def newest(self) -> int:
        """Return the number of the newest lifecycle event; 0: there was none yet."""
        ...
