"""Which engine runs executions: a row of their database, against the setting of a process.

An execution lives on the engine that it began on: its records lie in the tables, or on the topics.
So the row changes only while none lives.
"""

from sqlalchemy import Connection, delete, func, insert, select, update

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import ENGINE, EXECUTIONS, OUTBOX
from supervisor.adapters.executions.writing_term import hold_term
from supervisor.core.executions.states import ExecutionState
from supervisor.ports.clock import Clock
from supervisor.ports.flows.engine_kinds import EngineKind, EngineRefused

__all__ = ["EngineChoice"]

_LIVE = [state for state in ExecutionState if not state.ended]


class EngineChoice:
    """The choice of this process; safe to use from many threads."""

    def __init__(self, database: ExecutionDatabase, kind: EngineKind, clock: Clock) -> None:
        """Use a database that somebody else closes and migrates; `kind`: what is set here."""
        self._database = database
        self._kind = kind
        self._clock = clock

    def look(self) -> None:
        """Read whether this engine may run; nothing is changed.

        Raises:
            EngineRefused: executions live on the other one; the text has their number.
            StoreAway, StoreRefuses: the database.
        """
        with self._database.reading() as connection:
            self._refuse(connection, _kind(connection))

    def take(self, term: int) -> None:
        """Take the engine that is set, as the leader of a term.

        Raises:
            EngineRefused, StoreAway, StoreRefuses: as `look`.
            LeaseLost: a later term has written.
        """
        with self._database.reading() as connection:
            if _kind(connection) is self._kind:
                return
        with self._database.writing() as connection:
            hold_term(connection, term)  # the leader before begins nothing more
            now = _kind(connection)
            self._refuse(connection, now)
            if now is not self._kind:
                self._put(connection, new=now is None)

    def _refuse(self, connection: Connection, now: EngineKind | None) -> None:
        other = now or EngineKind.SQL  # without a row an earlier release has run them
        live = 0 if other is self._kind else _live(connection)
        if live:
            raise EngineRefused(self._kind, other, live)

    def _put(self, connection: Connection, *, new: bool) -> None:
        values = {"kind": self._kind, "since": self._clock.now()}
        if new:
            connection.execute(insert(ENGINE), {"id": 1, **values})
        else:
            connection.execute(update(ENGINE).values(**values))
        if self._kind is EngineKind.SQL:  # they are about executions that have ended
            connection.execute(delete(OUTBOX))


def _kind(connection: Connection) -> EngineKind | None:
    kind = connection.execute(select(ENGINE.c.kind)).scalar_one_or_none()
    return None if kind is None else EngineKind(kind)


def _live(connection: Connection) -> int:
    states = EXECUTIONS.c.state
    return (
        connection.scalar(select(func.count()).select_from(EXECUTIONS).where(states.in_(_LIVE)))
        or 0
    )
