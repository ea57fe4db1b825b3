"""Sessions: a browser that has proved who it is once, and shows a secret from then on.

    login ──► a new secret, each time ──► cookie ──► SHA-256, looked up ──► session ──► principal

A session proves nothing alone: the console's header and origin are required as well
(`api/http/console.py`).  Rows are cached for 2 s like those of principals; a logout counts at once
in this process, and within 2 s in the others.
"""

import secrets
import threading
from dataclasses import replace
from datetime import datetime

import structlog

from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.errors import SupervisorError
from supervisor.core.values.permissions import Actor, Caller
from supervisor.core.values.sessions import OF_ONE_MAX, Session
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.services.access.principals import fingerprint
from supervisor.services.access.remembered import Remembered

log = structlog.get_logger()

ROWS_LAST_S = 2.0


class Sessions:
    """Begins, finds and ends sessions; one instance per process, safe from many threads."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._rows: Remembered[tuple[float, Session]] = Remembered()
        self._ends = 0

    def begin(self, caller: Caller, before: str | None = None) -> tuple[str, Session]:
        """Begin a session of a proved caller; return its secret, which nobody has seen, and it.

        `before` is the secret that the browser showed until now: its session ends, so that no
        browser leaves one behind.
        """
        secret, now = secrets.token_urlsafe(32), self._clock.now()
        session = Session(fingerprint(secret), caller.name, now, now)
        with self._store.writing() as tx:
            if before is not None:
                tx.access.end_session(fingerprint(before))
            tx.access.begin_session(session, OF_ONE_MAX)
            tx.audit.write(_entry(caller, "session begin", now))
        if before is not None:
            self._forget_ended(fingerprint(before))
        return secret, session

    def find(self, secret: str) -> Session | None:
        """Return the session of a secret, ended or not; the use of a live one is stored.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        digest, now_s = fingerprint(secret), self._clock.monotonic()
        with self._lock:
            known, ends = self._rows.get((digest,)), self._ends
        if known is not None and now_s - known[0] < ROWS_LAST_S:
            return known[1]
        with self._store.reading() as tx:
            session = tx.access.session(digest)
        if session is None:
            with self._lock:
                self._rows.drop((digest,))
            return None
        now = self._clock.now()
        if session.live(now) and session.is_due(now):
            session = self._noted(session, now)
        with self._lock:
            if ends == self._ends:  # else it may have ended since it was read
                self._rows.put((digest,), (now_s, session))
        return session

    def end(self, caller: Caller) -> bool:
        """End the session that proved this caller, unless it has ended; False: none did."""
        if caller.session is None:
            return False
        with self._store.writing() as tx:
            if tx.access.end_session(caller.session):
                tx.audit.write(_entry(caller, "session end", self._clock.now()))
        self._forget_ended(caller.session)
        return True

    def _noted(self, session: Session, now: datetime) -> Session:
        try:
            with self._store.writing() as tx:
                tx.access.use_session(session.digest, now)
        except SupervisorError as trouble:  # a request that reads is served all the same
            log.warning("the use of a session is not stored", error=str(trouble))
            return session
        return replace(session, used_at=now)

    def _forget_ended(self, digest: str) -> None:
        with self._lock:
            self._ends += 1
            self._rows.drop((digest,))


def _entry(caller: Caller, action: str, now: datetime) -> AuditEntry:
    return AuditEntry(now, Actor.of(caller, ""), action, caller.name)
