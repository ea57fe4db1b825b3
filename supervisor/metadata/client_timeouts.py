"""How long a PostgreSQL that says nothing is waited for; imported where its driver is installed.

A server that was stopped, or a network that swallows packets, keeps its connections open and obeys
none of its own timeouts: only the client's clock ends that wait.  Whoever finds the server silent
spares the others the same wait (F7):

    answers ── no answer in time ──► silent: all are refused at once, one a second may try
       ▲                                │
       └────────── it got an answer ────┘
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
"""For the empty question that begins every use of a pooled connection."""
TRY_EVERY_S = 1.0
_LOOK_S = 0.05

RV = TypeVar("RV")


class CircuitBreaker:
    """Whether the server was found silent; one per engine, shared by all threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """It answers, until somebody finds that it does not."""
        self._clock = clock
        self._lock = threading.Lock()
        self._try_at: float | None = None
        self.times_found = 0

    def trip(self) -> None:
        """Refuse everybody for a while: the server did not answer in time."""
        with self._lock:
            self._try_at = self._clock() + TRY_EVERY_S
            self.times_found += 1

    def reset(self) -> None:
        """Let everybody through: the server answered."""
        with self._lock:
            self._try_at = None

    def require_closed(self) -> None:
        """Return if the server may be asked; while it is silent, one caller a second may.

        Raises:
            MetadataUnavailable: it was found silent just now.
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
        """Wait as every connection does, but not for ever."""
        if timeout is None:  # older drivers do not know it
            return super().wait(self._bounded(gen), interval)
        return super().wait(self._bounded(gen), interval, timeout)

    def _bounded(self, gen: PQGen[RV]) -> Generator[Any, Any, RV]:
        until = time.monotonic() + self.patience_s
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                # 0: the driver only looks around, nothing has come.
                if not ready and time.monotonic() >= until:
                    self._give_up()
                wanted = gen.send(ready)
        except StopIteration as end:
            found: RV = end.value
            return found

    def _give_up(self) -> None:
        self.pgconn.finish()  # an answer that came now would be taken for the next one's
        if self.silence is not None:
            self.silence.trip()
        raise psycopg.OperationalError(f"no answer within {self.patience_s:g} s")


def bound_waits(engine: Engine, *, statement_s: float) -> None:
    """Bound each wait of an engine: `PING_S` for the first answer, then `statement_s`."""
    silence = CircuitBreaker()
    ping_s = min(PING_S, statement_s)

    @event.listens_for(engine, "do_connect")
    def connect(
        _dialect: object, _record: object, cargs: Sequence[Any], cparams: Mapping[str, Any]
    ) -> BoundedWaitConnection:
        silence.require_closed()
        before = silence.times_found
        made = _in_a_thread(lambda: BoundedWaitConnection.connect(*cargs, **cparams))
        connection = _unless_silent(made, lambda: silence.times_found > before)
        connection.patience_s, connection.silence = statement_s, silence
        return connection

    @event.listens_for(engine, "checkin")
    def rest(connection: BoundedWaitConnection | None, _record: object) -> None:
        if connection is not None:  # None: it was closed
            connection.patience_s = ping_s

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        silence.reset()
        used: object = connection.connection.dbapi_connection
        assert isinstance(used, BoundedWaitConnection)
        used.patience_s = statement_s


def never_pipeline(engine: Engine) -> None:
    """Await an answer after each statement, so that the server sees a session that idles.

    The driver would send the rows of a list in a pipeline, and a session in one is never idle: a
    leader that was frozen there kept its lock on the term for as long as it slept (D2).  New rows
    go by the thousand in one statement; others, which are few, go one after the other.
    """
    engine.dialect.use_insertmanyvalues_wo_returning = True

    @event.listens_for(engine, "do_executemany")
    def one_by_one(
        cursor: "psycopg.Cursor[Any]", statement: str, parameters: Sequence[Any], _: object
    ) -> bool:
        for each in parameters:
            cursor.execute(statement, each)
        return True  # it is done


def _in_a_thread(connect: Callable[[], BoundedWaitConnection]) -> "Future[BoundedWaitConnection]":
    """Connect beside the caller: a name server may hang as well, which no setting bounds."""
    made: Future[BoundedWaitConnection] = Future()

    def run() -> None:
        try:
            made.set_result(connect())
        except BaseException as error:  # noqa: BLE001 -- it is the caller's
            made.set_exception(error)

    threading.Thread(target=run, name="connect", daemon=True).start()
    return made


def _unless_silent(
    connecting: "Future[BoundedWaitConnection]", silent: Callable[[], bool]
) -> BoundedWaitConnection:
    """Return the new connection; give up waiting once somebody finds the server silent."""
    while not wait([connecting], _LOOK_S).done:
        if silent():
            connecting.add_done_callback(_close_late)
            raise MetadataUnavailable("the metadata database does not answer")
    return connecting.result()


def _close_late(connecting: "Future[BoundedWaitConnection]") -> None:
    if connecting.exception() is None:
        connecting.result().close()
