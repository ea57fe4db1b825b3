"""Client-side timeouts and a circuit breaker for an unresponsive PostgreSQL.

A frozen server, or a network that drops packets, keeps its connections open and obeys none of its
own timeouts.  Only a timeout by the client's clock ends that wait.  The first caller that times out
trips the breaker, which spares all other callers the same wait (F7):

    closed ── no answer in time ──► open: all callers are refused at once, one a second may try
       ▲                               │
       └────── a try got an answer ────┘

Import this module only where the PostgreSQL driver is installed.
"""

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from sqlalchemy import Connection, Engine, event

from supervisor.core.values.errors import MetadataUnavailable

PING_S = 0.6
"""Timeout of the ping, an empty statement, that begins every use of a pooled connection."""
TRY_EVERY_S = 1.0
_LOOK_S = 0.05

RV = TypeVar("RV")


class CircuitBreaker:
    """The circuit breaker: one per engine, shared by all threads.

    It starts closed: the server is assumed to respond.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._try_at: float | None = None
        self.times_found = 0

    def trip(self) -> None:
        """Trip the breaker after a timeout: refuse all callers for `TRY_EVERY_S`."""
        with self._lock:
            self._try_at = self._clock() + TRY_EVERY_S
            self.times_found += 1

    def reset(self) -> None:
        """Reset the breaker after an answer of the server: let all callers through."""
        with self._lock:
            self._try_at = None

    def require_closed(self) -> None:
        """Return if the caller may use the server; while the breaker is open, one a second may.

        Raises:
            MetadataUnavailable: the server did not answer a moment ago.
        """
        with self._lock:
            if self._try_at is None:
                return
            now = self._clock()
            if now >= self._try_at:
                self._try_at = now + TRY_EVERY_S
                return
        raise MetadataUnavailable("the metadata database does not answer")


class BoundedWaitConnection(psycopg.Connection[Any]):
    """A connection that is closed when an answer takes longer than `patience_s`."""

    patience_s: float = 10.0
    silence: CircuitBreaker | None = None

    def wait(self, gen: PQGen[RV], interval: float = _LOOK_S, timeout: float | None = None) -> RV:
        """Wait as the driver does, but at most `patience_s` seconds."""
        if timeout is None:  # older drivers do not know the parameter
            return super().wait(self._bounded(gen), interval)
        return super().wait(self._bounded(gen), interval, timeout)

    def _bounded(self, gen: PQGen[RV]) -> Generator[Any, Any, RV]:
        until = time.monotonic() + self.patience_s
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                # 0: the driver's poll interval has passed and no data has come.
                if not ready and time.monotonic() >= until:
                    self._give_up()
                wanted = gen.send(ready)
        except StopIteration as end:
            found: RV = end.value
            return found

    def _give_up(self) -> None:
        self.pgconn.finish()  # a late answer would be taken for that of the next statement
        if self.silence is not None:
            self.silence.trip()
        raise psycopg.OperationalError(f"no answer within {self.patience_s:g} s")


def bound_waits(engine: Engine, *, statement_s: float) -> None:
    """Bound each wait of an engine: `PING_S` for the first answer, then `statement_s` seconds."""
    silence = CircuitBreaker()
    ping_s = min(PING_S, statement_s)

    @event.listens_for(engine, "do_connect")
    def connect(
        _dialect: object, _record: object, cargs: Sequence[Any], cparams: Mapping[str, Any]
    ) -> BoundedWaitConnection:
        silence.require_closed()
        before = silence.times_found
        future = _in_a_thread(lambda: BoundedWaitConnection.connect(*cargs, **cparams))
        connection = _unless_silent(future, lambda: silence.times_found > before)
        connection.patience_s, connection.silence = statement_s, silence
        return connection

    @event.listens_for(engine, "checkin")
    def rest(connection: BoundedWaitConnection | None, _record: object) -> None:
        if connection is not None:  # None: the connection was closed
            connection.patience_s = ping_s

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        silence.reset()
        used: object = connection.connection.dbapi_connection
        assert isinstance(used, BoundedWaitConnection)
        used.patience_s = statement_s


def never_pipeline(engine: Engine) -> None:
    """Await an answer after each statement, so that the server sees an idle session.

    The driver would send the rows of a list in a pipeline, and a session in a pipeline is never
    idle.  A leader that was frozen there kept its lock on the term for as long as it was frozen
    (D2).  New rows go by the thousand in one statement.  Other statements are few, and they run one
    after the other.
    """
    engine.dialect.use_insertmanyvalues_wo_returning = True

    @event.listens_for(engine, "do_executemany")
    def one_by_one(
        cursor: "psycopg.Cursor[Any]", statement: str, parameters: Sequence[Any], _: object
    ) -> bool:
        for each in parameters:
            cursor.execute(statement, each)
        return True  # the statements have been executed here


def _in_a_thread(connect: Callable[[], BoundedWaitConnection]) -> "Future[BoundedWaitConnection]":
    """Connect in a thread of its own: a name server may hang, and no setting bounds that wait."""
    future: Future[BoundedWaitConnection] = Future()

    def run() -> None:
        try:
            future.set_result(connect())
        except BaseException as error:  # noqa: BLE001 -- the caller gets it from the future
            future.set_exception(error)

    threading.Thread(target=run, name="connect", daemon=True).start()
    return future


def _unless_silent(
    connecting: "Future[BoundedWaitConnection]", silent: Callable[[], bool]
) -> BoundedWaitConnection:
    """Return the new connection; give up once another caller has tripped the breaker."""
    while not wait([connecting], _LOOK_S).done:
        if silent():
            connecting.add_done_callback(_close_late)
            raise MetadataUnavailable("the metadata database does not answer")
    return connecting.result()


def _close_late(connecting: "Future[BoundedWaitConnection]") -> None:
    if connecting.exception() is None:
        connecting.result().close()
