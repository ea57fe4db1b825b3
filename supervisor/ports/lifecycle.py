"""What happened, as repositories; `ports.Transaction` carries it as `happenings`.

    tell ─► kept until the transaction commits ─► numbered and written last

The numbers come from one row that is locked from the numbering to the commit: they follow each
other in the order of the commits, and none is visible before those below it.
"""

from collections.abc import Callable
from typing import Protocol

from supervisor.core.history.lifecycle_events import LifecycleEvent, NumberedEvent

RecordEvent = Callable[[LifecycleEvent], None]
"""Given to the repositories: what they change, they tell."""


class LifecycleEvents(Protocol):
    """The newest of what happened; older ones are dropped."""

    def record(self, happening: LifecycleEvent) -> None:
        """Write it with this transaction."""
        ...

    def after(
        self, number: int, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return those with higher numbers, ascending."""
        ...

    def before(
        self, number: int | None, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return those with lower numbers, or all, newest first."""
        ...

    def trimmed(self) -> int:
        """Return up to which number they were dropped; 0: none was."""
        ...

    def newest(self) -> int:
        """Return the number of the last one; 0: nothing happened yet."""
        ...
