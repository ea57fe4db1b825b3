"""Authentication: from credentials to a caller; bounded and slow where a caller may be guessing.

    token, or secret of a session ──► SHA-256, looked up      ──► caller
    name and password ──► proved a moment ago? ──► yes        ──► caller
                              └── no ──► locked? ──► argon2   ──► caller, or one failure more

Rows of principals are cached for 2 s, so a revoked one may be used that much longer.  Everything
that is kept in memory is bounded.
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from supervisor.core.values.errors import SupervisorError, TooManyRequests, Unauthenticated
from supervisor.core.values.permissions import Caller, DeniedTry, Kind, Principal
from supervisor.core.values.sessions import Session
from supervisor.core.values.throttle import (
    Bucket,
    Failures,
    Lockout,
    Rate,
    failed,
    locked_s,
    retry_after,
    take,
)
from supervisor.ports.access import Passwords
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.services.access.principals import fingerprint
from supervisor.services.access.remembered import Remembered
from supervisor.services.access.sessions import Sessions

ROWS_LAST_S = 2.0
PROVED_LASTS_S = 60.0
DENIED_KINDS_MAX = 100
"""The maximum of different denied tries between two flushes; further ones count as one kind."""
PER_ADDRESS = 10
"""An address may fail this many times as often as one name from it."""
ENDED = "the session has ended: log in again"
WRONG = "the name, the password or the token is wrong, has expired or was revoked"


@dataclass(frozen=True)
class Credentials:
    """The credentials of a request: a token, or a name and a password."""

    name: str | None
    """The user's name; None: the secret is a token."""
    secret: str = field(repr=False)


@dataclass(frozen=True)
class AccessRules:
    """The operator's limits for failed logins and requests."""

    lockout: Lockout
    rate: Rate


class Authentication:
    """Authenticates callers; one instance per process, safe from many threads."""

    def __init__(
        self, store: Store, clock: Clock, passwords: Passwords, rules: AccessRules
    ) -> None:
        self._store, self._clock, self._passwords = store, clock, passwords
        self._rules = rules
        self.sessions = Sessions(store, clock)
        self._key = secrets.token_bytes(32)
        self._nobodys = passwords.hash(secrets.token_urlsafe(16))  # an unknown name takes as long
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._flushing = threading.Lock()
        self._rows: tuple[float, Mapping[str, Principal], Mapping[str, Principal]] | None = None
        self._proved: Remembered[float] = Remembered()
        self._failures: Remembered[Failures] = Remembered()
        self._buckets: Remembered[Bucket] = Remembered()
        self._denied: dict[tuple[str, str, str, str], DeniedTry] = {}

    # -- callers -------------------------------------------------------------------------------

    def known(self, credentials: Credentials, address: str) -> Caller | None:
        """Return the caller if a cache or a token proves it; None: the password has to be proved.

        Raises:
            Unauthenticated: the token is unknown, expired or revoked.
            TooManyRequests: this name, or this address, has failed too often.
        """
        by_name, by_secret = self._principals()
        if credentials.name is None:
            digest = fingerprint(credentials.secret)
            row = by_secret.get(digest)
            if row is not None and hmac.compare_digest(row.secret, digest) and self._live(row):
                return _caller(row, address)
            self._require_unlocked("", address)
            self._fail("", address)
            raise Unauthenticated(WRONG)
        row = by_name.get(credentials.name)
        if row is not None and row.kind is Kind.USER and self._live(row):
            with self._lock:
                until = self._proved.get(self._proof(row, credentials))
            if until is not None and self._clock.monotonic() < until:
                return _caller(row, address)
        self._require_unlocked(credentials.name, address)
        return None

    def by_session(self, secret: str, address: str) -> Caller:
        """Return the caller whose session has this secret; it may do what its principal may now.

        A session that has ended is no guess, so that a page that was left open locks nobody out.

        Raises:
            Unauthenticated: there is no such session, or it or its principal has ended.
            TooManyRequests: this address has shown too many secrets that nobody has.
            Unavailable: the metadata database does not answer.
        """
        session = self.sessions.find(secret)
        if session is None:
            self._require_unlocked("", address)
            self._fail("", address)
            raise Unauthenticated(ENDED)
        row = self._principals()[0].get(session.principal)
        if row is None or not self._live(row) or not session.live(self._clock.now()):
            raise Unauthenticated(ENDED)
        return _in_session(_caller(row, address), session)

    def begin_session(self, caller: Caller, before: str | None) -> tuple[str, Caller]:
        """Begin a session of a proved caller; return its secret, and the caller in it.

        `before` is the secret that the browser showed until now; its session ends.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        secret, session = self.sessions.begin(caller, before)
        return secret, _in_session(caller, session)

    def prove(self, credentials: Credentials, address: str) -> Caller:
        """Return the caller if the password is right; an unknown name takes as long as a known one.

        Raises:
            Unauthenticated: the name or the password is wrong.
            TooManyRequests: this name, or this address, has failed too often.
        """
        name = credentials.name or ""
        self._require_unlocked(name, address)  # it may have failed while this try waited
        row = self._principals()[0].get(name)
        usable = row is not None and row.kind is Kind.USER and self._live(row)
        secret = row.secret if row is not None and usable else self._nobodys
        right = self._passwords.verify(secret, credentials.secret)
        if row is None or not usable or not right:
            self._fail(name, address)
            raise Unauthenticated(WRONG)
        with self._lock:
            self._failures.drop((name, address))
            until = self._clock.monotonic() + PROVED_LASTS_S
            self._proved.put(self._proof(row, credentials), until)
        return _caller(row, address)

    def _proof(self, row: Principal, credentials: Credentials) -> tuple[str, ...]:
        """Return a cache key that reveals no password and changes with the stored secret."""
        message = f"{row.name}\0{row.secret}\0{credentials.secret}".encode()
        return (hmac.new(self._key, message, hashlib.sha256).hexdigest(),)

    def _live(self, row: Principal) -> bool:
        return row.live(self._clock.now())

    def _principals(self) -> tuple[Mapping[str, Principal], Mapping[str, Principal]]:
        """Return name -> principal, and secret -> principal for those with tokens."""
        with self._loading:
            now_s = self._clock.monotonic()
            if self._rows is None or now_s - self._rows[0] >= ROWS_LAST_S:
                with self._store.reading() as tx:
                    rows = tx.access.all()
                tokens = {row.secret: row for row in rows if row.kind is not Kind.USER}
                self._rows = now_s, {row.name: row for row in rows}, tokens
            return self._rows[1], self._rows[2]

    # -- rates ---------------------------------------------------------------------------------

    def admit(self, caller: Caller) -> None:
        """Count a request of a caller against its rate; workers are not limited.

        Raises:
            TooManyRequests: the caller exceeds the operator's rate.
        """
        if caller.kind is Kind.WORKER:
            return
        key = (caller.name, caller.address)
        with self._lock:
            now_s = self._clock.monotonic()
            bucket, wait_s = take(self._buckets.get(key), self._rules.rate, now_s)
            self._buckets.put(key, bucket)
        if wait_s:
            raise TooManyRequests("too many requests: ask more slowly", retry_after(wait_s))

    def _require_unlocked(self, name: str, address: str) -> None:
        rule, now_s = self._rules.lockout, self._clock.monotonic()
        with self._lock:
            wait_s = max(
                locked_s(self._failures.get((name, address)), rule, now_s),
                locked_s(self._failures.get((address,)), self._of_address, now_s),
            )
        if wait_s:
            message = "too many wrong passwords or tokens from here: wait, then try again"
            raise TooManyRequests(message, retry_after(wait_s))

    def _fail(self, name: str, address: str) -> None:
        now_s = self._clock.monotonic()
        with self._lock:
            for key, rule in (
                ((name, address), self._rules.lockout),
                ((address,), self._of_address),
            ):
                self._failures.put(key, failed(self._failures.get(key), rule, now_s))

    @property
    def _of_address(self) -> Lockout:
        rule = self._rules.lockout
        return Lockout(rule.failures_max * PER_ADDRESS, rule.lasts_s)

    # -- denied tries --------------------------------------------------------------------------

    def note(self, name: str | None, address: str, what: str, why: str) -> None:
        """Record a denied try for the next flush.

        A claimed name is kept only if a principal has it: people type passwords into the wrong
        field.
        """
        known = self._rows[1] if self._rows is not None else {}
        who = name if name is not None and name in known else ""
        key, now = (who, address, what, why), self._clock.now()
        with self._lock:
            if key not in self._denied and len(self._denied) >= DENIED_KINDS_MAX:
                key = ("", "", "", "further tries, counted together")
            before = self._denied.get(key)
            if before is None:
                before = DeniedTry(now, now, 0, *key)
            self._denied[key] = DeniedTry(before.first_at, now, before.times + 1, *key)

    def flush(self) -> None:
        """Write the denied tries since the last flush, with one row for equal tries.

        A flush waits for the one before: a caller that reads afterwards sees what that has taken.
        """
        with self._flushing:
            with self._lock:
                noted, self._denied = self._denied, {}
            if not noted:
                return
            try:
                with self._store.writing() as tx:
                    tx.access.deny(list(noted.values()))
            except SupervisorError:
                with self._lock:  # for the next flush
                    self._denied = dict([*self._denied.items(), *noted.items()][:DENIED_KINDS_MAX])
                raise


def _caller(row: Principal, address: str) -> Caller:
    return Caller(row.name, row.kind, row.grants, address, row.expires_at)


def _in_session(caller: Caller, session: Session) -> Caller:
    until = session.until if caller.until is None else min(caller.until, session.until)
    return replace(caller, until=until, session=session.digest)
