"""The repository port of state history: the last state and the lag samples of supervisors."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from supervisor.core.history.lag import Lag


@dataclass(frozen=True)
class StoredState:
    """The state of a supervisor in the leader's last pass."""

    state: str
    detailed: str
    why: str
    since: datetime


class Watched(Protocol):
    """One state row per supervisor, and one day of lag samples."""

    def state(self, supervisor_id: str) -> StoredState | None:
        """Return the last stored state."""
        ...

    def states(self) -> dict[str, StoredState]:
        """Return supervisor -> its last stored state, of those that are not terminated."""
        ...

    def put_state(self, supervisor_id: str, state: StoredState) -> None:
        """Store a state; it replaces the state before."""
        ...

    def add_lag(self, at: datetime, lag: Mapping[str, Lag], keep_from: datetime) -> None:
        """Store one sample per supervisor, and delete samples from before `keep_from`."""
        ...

    def lag(self, supervisor_id: str, start: datetime, end: datetime) -> list[tuple[datetime, Lag]]:
        """Return the samples in `[start, end)`, oldest first."""
        ...

    def lag_stepped(
        self, supervisor_ids: Collection[str], start: datetime, end: datetime, step: timedelta
    ) -> dict[str, list[tuple[datetime, Lag]]]:
        """Return supervisor -> (begin of the step, worst lag), oldest first, in `[start, end)`.

        Steps are of whole seconds and begin at multiples of `step` since 1970.  One statement; a
        supervisor without a sample is left out.
        """
        ...

    def lag_about(self, earliest: datetime, latest: datetime) -> dict[str, Lag]:
        """Return supervisor -> its sample, of the newest moment in `(earliest, latest]` with some.

        A leader samples all supervisors at the same moment.
        """
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete the stored state and samples of a supervisor."""
        ...
