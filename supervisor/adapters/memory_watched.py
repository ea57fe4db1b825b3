"""States and lag of supervisors, in memory."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from supervisor.adapters.memory_rows import Tables
from supervisor.core.lag import Lag
from supervisor.ports_watched import StoredState

_MS = timedelta(milliseconds=1)


class MemoryWatched:
    """See `ports_watched.Watched`."""

    def __init__(self, tables: Tables) -> None:
        self._states = tables.states
        self._lag = tables.lag

    def state(self, supervisor_id: str) -> StoredState | None:
        """Return the last state that was written."""
        return self._states.get_row(supervisor_id)

    def put_state(self, supervisor_id: str, state: StoredState) -> None:
        """Write a state in place of the one before."""
        self._states.put(supervisor_id, state)

    def add_lag(self, at: datetime, lag: Mapping[str, Lag], keep_from: datetime) -> None:
        """Write one sample of each supervisor, and drop those from before `keep_from`."""
        for supervisor_id, found in lag.items():
            age = None if found.age is None else found.age // _MS * _MS
            self._lag.put((supervisor_id, at), replace(found, age=age))
        for key in [key for key in self._lag if key[1] < keep_from]:
            self._lag.drop(key)

    def lag(self, supervisor_id: str, start: datetime, end: datetime) -> list[tuple[datetime, Lag]]:
        """Return the samples in `[start, end)`, oldest first."""
        mine = [(key[1], row) for key, row in self._lag.items() if key[0] == supervisor_id]
        return sorted(
            ((at, row) for at, row in mine if start <= at < end), key=lambda pair: pair[0]
        )

    def forget(self, supervisor_id: str) -> None:
        """Delete the rows of a supervisor."""
        self._states.drop(supervisor_id)
        for key in [key for key in self._lag if key[0] == supervisor_id]:
            self._lag.drop(key)
