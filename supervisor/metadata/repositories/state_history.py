"""The repository of supervisor states and lag samples."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from supervisor.core.history.lag import Lag
from supervisor.metadata.schema.history import lag_samples, supervisor_states
from supervisor.metadata.schema.moments import moment_of, step_of
from supervisor.metadata.schema.rows import insert_unless_taken
from supervisor.metadata.schema.tables import PRESENT
from supervisor.ports.state_history import StoredState

_AT = lag_samples.c
_STATE = supervisor_states.c
_MS, _SECOND = timedelta(milliseconds=1), timedelta(seconds=1)
_STATES = select(
    _STATE.supervisor_id, _STATE.state, _STATE.detailed, _STATE.why, _STATE.since
).join(PRESENT, PRESENT.c.supervisor_id == _STATE.supervisor_id)
_MOMENT = select(func.max(_AT.at)).where(
    _AT.at > bindparam("earliest"), _AT.at <= bindparam("latest")
)
_LAG_ABOUT = select(lag_samples).where(_AT.at == _MOMENT.scalar_subquery())

_STEP = step_of(_AT.at).label("step_begin")
LAG_STEPPED = (
    select(
        _AT.supervisor_id,
        _STEP,
        func.max(_AT.records).label("records"),
        func.max(_AT.millis).label("millis"),
    )
    .where(
        _AT.supervisor_id.in_(bindparam("ids", expanding=True)),
        _AT.at >= bindparam("earliest"),
        _AT.at < bindparam("latest"),
    )
    .group_by(_AT.supervisor_id, _STEP)
    .order_by(_AT.supervisor_id, _STEP)
)


class SqlWatched:
    """See `ports.state_history.Watched`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def state(self, supervisor_id: str) -> StoredState | None:
        """Return the last stored state."""
        mine = _STATE.supervisor_id == supervisor_id
        row = self._db.execute(select(supervisor_states).where(mine)).one_or_none()
        return None if row is None else _read_state(row)

    def states(self) -> dict[str, StoredState]:
        """Return supervisor -> its last stored state, of those that are not terminated."""
        return {
            supervisor_id: StoredState(*rest) for supervisor_id, *rest in self._db.execute(_STATES)
        }

    def put_state(self, supervisor_id: str, state: StoredState) -> None:
        """Store a state; it replaces the state before."""
        row = {"supervisor_id": supervisor_id, **vars(state)}
        if not insert_unless_taken(self._db, (supervisor_states, [row])):
            mine = _STATE.supervisor_id == supervisor_id
            self._db.execute(update(supervisor_states).where(mine).values(row))

    def add_lag(self, at: datetime, lag: Mapping[str, Lag], keep_from: datetime) -> None:
        """Store one sample per supervisor, and delete samples from before `keep_from`."""
        rows = [
            {
                "supervisor_id": supervisor_id,
                "at": at,
                "records": lag[supervisor_id].records,
                "millis": _millis(lag[supervisor_id]),
            }
            for supervisor_id in sorted(lag)
        ]
        if rows:
            self._db.execute(insert(lag_samples), rows)
        self._db.execute(delete(lag_samples).where(_AT.at < keep_from))

    def lag(self, supervisor_id: str, start: datetime, end: datetime) -> list[tuple[datetime, Lag]]:
        """Return the samples in `[start, end)`, oldest first."""
        mine = (_AT.supervisor_id == supervisor_id, _AT.at >= start, _AT.at < end)
        rows = self._db.execute(select(lag_samples).where(*mine).order_by(_AT.at))
        return [(row.at, _read_lag(row)) for row in rows]

    def lag_stepped(
        self, supervisor_ids: Collection[str], start: datetime, end: datetime, step: timedelta
    ) -> dict[str, list[tuple[datetime, Lag]]]:
        """Return supervisor -> (begin of the step, worst lag), oldest first; see the port."""
        where = {"ids": sorted(supervisor_ids), "earliest": start, "latest": end}
        steps: dict[str, list[tuple[datetime, Lag]]] = {}
        for row in self._db.execute(LAG_STEPPED, where | {"step_s": step // _SECOND}):
            place = moment_of(row.step_begin), _read_lag(row)
            steps.setdefault(row.supervisor_id, []).append(place)
        return steps

    def lag_about(self, earliest: datetime, latest: datetime) -> dict[str, Lag]:
        """Return supervisor -> its sample of the newest moment with some; see the port."""
        rows = self._db.execute(_LAG_ABOUT, {"earliest": earliest, "latest": latest})
        return {row.supervisor_id: _read_lag(row) for row in rows}

    def forget(self, supervisor_id: str) -> None:
        """Delete the stored state and samples of a supervisor."""
        self._db.execute(delete(lag_samples).where(_AT.supervisor_id == supervisor_id))
        self._db.execute(delete(supervisor_states).where(_STATE.supervisor_id == supervisor_id))


def _read_state(row: Row[Any]) -> StoredState:
    return StoredState(row.state, row.detailed, row.why, row.since)


def _read_lag(row: Row[Any]) -> Lag:
    return Lag(row.records, None if row.millis is None else row.millis * _MS)


def _millis(lag: Lag) -> int | None:
    return None if lag.age is None else lag.age // _MS
