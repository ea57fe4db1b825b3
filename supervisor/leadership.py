"""Who leads: a lease in the metadata database, by observation and without comparing two clocks.

    follower ── unchanged for one TTL on my own clock, or released ──► leader (term + 1)
    leader ── my last renewal *began* two thirds of a TTL ago ──► acts no more, tries to renew
    leader ── the term row names another term ──► follower

The renewal has a thread of its own: a slow pass never costs the lease (R8).  Every write of a
leader reads the term row first, so that even a leader that has not noticed yet writes nothing (P1).
"""

import threading
from collections.abc import Callable
from datetime import timedelta

import structlog

from supervisor.core.errors import LeaseLost, SupervisorError
from supervisor.core.model import Lease
from supervisor.ports import Clock, Store

log = structlog.get_logger()


class Leadership:
    """The lease of one overlord process; `term()` is asked before every act of a leader."""

    def __init__(
        self, store: Store, clock: Clock, *, holder: str, url: str, ttl: timedelta
    ) -> None:
        """Take nothing yet: `start` or `step` does."""
        self._store = store
        self._clock = clock
        self._holder = holder
        self._url = url
        self._ttl_s = ttl.total_seconds()
        self._lock = threading.Lock()
        self._term: int | None = None
        self._renewal_began = 0.0
        self._led_since = 0.0
        self._begun: int | None = None
        """The term of which `on_lead` was told, unless it has lapsed since."""
        self._seen: Lease | None = None
        self._seen_at = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._on_lead: Callable[[], None] = lambda: None

    def term(self) -> int:
        """Return the term this process leads in.

        Raises:
            LeaseLost: it does not lead, or has not renewed for two thirds of a TTL.
        """
        with self._lock:
            fresh = self._clock.monotonic() < self._renewal_began + self._ttl_s * 2 / 3
            if self._term is not None and fresh:
                return self._term
            leader = self._seen.url if self._seen and self._seen.holder else None
        raise LeaseLost("this overlord does not lead", leader if leader != self._url else None)

    def leads(self) -> bool:
        """Tell whether `term` would return."""
        try:
            self.term()
        except LeaseLost:
            return False
        return True

    def led_since(self) -> float:
        """Return the monotonic time at which the present term began."""
        with self._lock:
            return self._led_since

    def leader_url(self) -> str | None:
        """Return the address of whoever leads, as far as is known."""
        with self._lock:
            if self._term is not None:
                return self._url
            return self._seen.url if self._seen and self._seen.holder else None

    def lost(self) -> None:
        """Step down: a write found a newer term."""
        with self._lock:
            self._term = None

    def start(self, on_lead: Callable[[], None]) -> None:
        """Renew, or wait for a chance to take over, in a thread of its own."""
        self._on_lead = on_lead
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing and give the lease up, so that the next candidate need not wait."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=self._ttl_s)
        with self._lock:
            term, self._term = self._term, None
        if term is None:
            return
        try:
            with self._store.writing() as tx:
                tx.lease.release(term, self._holder)
        except SupervisorError as error:
            log.warning("the lease was not released, it runs out by itself", error=str(error))

    def _run(self) -> None:
        while not self._stop.wait(self._ttl_s / 6):
            self.step()

    def step(self) -> None:
        """Renew or try to take over, once.  A database that does not answer changes nothing."""
        try:
            with self._lock:
                term = self._term
            if term is None:
                self._try_to_take()
            else:
                self._renew(term)
            self._tell()
        except SupervisorError as error:
            log.warning("the lease could not be read or renewed", error=str(error))

    def _renew(self, term: int) -> None:
        began = self._clock.monotonic()
        with self._store.writing() as tx:
            held = tx.lease.renew(term, self._holder)
        with self._lock:
            if not held:
                self._term = None
            elif self._clock.monotonic() >= self._renewal_began + self._ttl_s * 2 / 3:
                self._begun = None  # it lapsed meanwhile: passes were refused and have to be woken
            if held:
                self._renewal_began = began
        if not held:
            log.warning("leadership lost: another overlord leads", term=term)

    def _try_to_take(self) -> None:
        began = self._clock.monotonic()
        with self._store.reading() as tx:
            lease = tx.lease.read()
        with self._lock:
            if lease != self._seen:
                self._seen, self._seen_at = lease, began
            waits = lease is not None and bool(lease.holder)
            if waits and began < self._seen_at + self._ttl_s:
                return
        with self._store.writing() as tx:
            taken = tx.lease.take(lease, self._holder, self._url)
        if taken is None:
            return
        with self._lock:
            self._term = taken.term
            self._renewal_began = self._led_since = began
            self._seen = taken
        log.info("this overlord leads", term=taken.term)

    def _tell(self) -> None:
        """Say once that a term has begun, or goes on after a lapse; repeated until it is heard."""
        with self._lock:
            term, begun = self._term, self._begun
        if term is None or term == begun or not self.leads():
            return
        self._on_lead()
        with self._lock:
            self._begun = term
