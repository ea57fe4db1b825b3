"""What is watched of supervisors over time, as a repository: their states, and their lag."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from supervisor.core.history.lag import Lag


@dataclass(frozen=True)
class StoredState:
    """The state of a supervisor as a leader last found it."""

    state: str
    detailed: str
    why: str
    since: datetime


class Watched(Protocol):
    """States, one row each, and a day of lag."""

    def state(self, supervisor_id: str) -> StoredState | None:
        """Return the last state that was written."""
        ...

    def put_state(self, supervisor_id: str, state: StoredState) -> None:
        """Write a state in place of the one before."""
        ...

    def add_lag(self, at: datetime, lag: Mapping[str, Lag], keep_from: datetime) -> None:
        """Write one sample of each supervisor, and drop those from before `keep_from`."""
        ...

    def lag(self, supervisor_id: str, start: datetime, end: datetime) -> list[tuple[datetime, Lag]]:
        """Return the samples in `[start, end)`, oldest first."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete the rows of a supervisor."""
        ...
