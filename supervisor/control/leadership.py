"""Leader election by a lease in the metadata database, without comparing two clocks.

    follower ── unchanged for one TTL on my own clock, or released ──► leader (term + 1)
    leader ── my last renewal *began* two thirds of a TTL ago ──► acts no more, tries to renew
    leader ── the term row names another term ──► follower: its passes and long polls end

The renewal has a thread and a connection of its own: neither a slow pass nor slow readers cost the
lease (R8).  A term begins in a second thread, because that work grows with what is stored.  An
unexpected error costs one renewal, as an expected error does.  If a thread ends all the same,
`loop_ended` is True, and the process ends.  Every write of a leader reads the term row first, so
that a deposed leader writes nothing (P1), even before it notices.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from supervisor.core.attention.cluster import LeaderReplaced
from supervisor.core.model.rows import Lease
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store

log = structlog.get_logger()

LOOKS_PER_TTL = 10
"""How often a follower looks; its last look is at the moment when it may take over."""
RENEWALS_PER_TTL = 6
_SOON_S = 0.02


@dataclass
class LeaseCounts:
    """Counts of lease renewals, takeovers and losses in this process."""

    renewed: int = 0
    unanswered: int = 0
    """Reads and renewals of the lease that failed in the metadata database."""
    taken: int = 0
    lost: int = 0
    """Terms of this process that another overlord has ended."""


def _nothing() -> None:
    """Do nothing: the default callback."""


class Leadership:
    """The lease of one overlord process; `term()` is called before every act of a leader."""

    def __init__(
        self, store: Store, clock: Clock, *, holder: str, url: str, ttl: timedelta
    ) -> None:
        self._store = store
        self._clock = clock
        self._holder = holder
        self._url = url
        self._ttl_s = ttl.total_seconds()
        self._lock = threading.Lock()
        self._term: int | None = None
        self._renewal_began = 0.0
        self._led_since = 0.0
        self._beginnings = 0
        """How often this process has begun to lead; also after a lapse of the lease."""
        self._begun = 0
        """The last of the beginnings for which `on_lead` has returned."""
        self._seen: Lease | None = None
        self._seen_at = 0.0
        self._renewal_seen_at: datetime | None = None
        """When this process last saw a lease that had changed, or held one itself."""
        self._ended = False
        """Another overlord has ended a term of ours, and `on_lost` was not called yet."""
        self._stopping = False
        self._wake = threading.Event()
        self._looked = threading.Event()
        self._threads: tuple[threading.Thread, ...] = ()
        """The thread that renews the lease, and the thread that begins terms."""
        self._on_lead: Callable[[], None] = _nothing
        self._on_lost: Callable[[], None] = _nothing
        self._fenced_writes = 0
        self._counts = LeaseCounts()
        self._replaced: LeaderReplaced | None = None
        self._silent_since: datetime | None = None

    def term(self) -> int:
        """Return the term this process leads in.

        Raises:
            LeaseLost: it does not lead, or has not renewed for two thirds of a TTL.
        """
        with self._lock:
            if self._term is not None and self._is_fresh(self._renewal_began):
                return self._term
            leader = self._other()
        raise LeaseLost("this overlord does not lead", leader)

    def leads(self) -> bool:
        """Whether `term` would return."""
        try:
            self.term()
        except LeaseLost:
            return False
        return True

    def led_since(self) -> float:
        """Return the monotonic time since which this process leads without a lapse.

        During a lapse no syncs are taken, so the lapse must not count against a worker.  Then this
        is the present time: after a freeze, a pass may run before the lease is renewed.
        """
        with self._lock:
            leads = self._term is not None and self._is_fresh(self._renewal_began)
            return self._led_since if leads else self._clock.monotonic()

    def leader_url(self) -> str | None:
        """Return the leader's address; None once the leader has been silent for too long to act."""
        if self.leads():
            return self._url
        with self._lock:
            return self._other()

    @property
    def fenced_writes(self) -> int:
        """The number of writes of this process that were refused because another term had begun."""
        with self._lock:
            return self._fenced_writes

    @property
    def counts(self) -> LeaseCounts:
        """A copy of the lease counts so far."""
        with self._lock:
            return replace(self._counts)

    @property
    def replaced(self) -> LeaderReplaced | None:
        """The last overlord of another address whose lease this process took over, if any."""
        with self._lock:
            return self._replaced

    @property
    def silent_since(self) -> datetime | None:
        """When the database first left a look at the lease unanswered; None: it answers."""
        with self._lock:
            return self._silent_since

    @property
    def leaderless_since(self) -> datetime | None:
        """When a leader gave its last sign that this process saw; None: it has seen none."""
        with self._lock:
            return self._renewal_seen_at

    def seconds_left(self) -> float:
        """Return for how long this process may act without another renewal; 0: it may not."""
        with self._lock:
            if self._term is None:
                return 0.0
            until = self._renewal_began + self._ttl_s * 2 / 3
        return max(0.0, until - self._clock.monotonic())

    def lost(self, term: int | None = None) -> None:
        """Step down: a write in `term` met a newer term.  None: step down from any term."""
        with self._lock:
            self._fenced_writes += 1
        log.warning("a write was refused: another overlord leads", term=term)
        self.deposed(term)

    def deposed(self, term: int | None) -> None:
        """Step down: a newer term than `term` was seen.  None: step down from any term."""
        with self._lock:
            led = self._term is not None and term in {None, self._term}
            if led:
                self._term, self._ended = None, True
                self._counts.lost += 1
        self._wake.set()  # find out who leads, then call `on_lost`

    def start(self, on_lead: Callable[[], None], on_lost: Callable[[], None] = _nothing) -> None:
        """Renew the lease, or wait for a chance to take it over, in a thread of its own.

        `on_lead` is called after each term of this process begins, in a second thread: however long
        it takes, the lease is renewed.  `on_lost` is called after another overlord has ended a
        term, in the thread of the lease, so it is short.
        """
        self._on_lead, self._on_lost = on_lead, on_lost
        lease = threading.Thread(target=self._run, name="lease", daemon=True)
        term = threading.Thread(target=self._run_beginnings, name="term", daemon=True)
        term.start()  # first: nobody leads who cannot begin a term
        lease.start()
        self._threads = (lease, term)

    @property
    def loop_ended(self) -> bool:
        """Whether a thread has ended without `stop`: nothing is renewed, or no term begins."""
        ended = any(not thread.is_alive() for thread in self._threads)
        return ended and not self._stopping

    def stop(self) -> None:
        """Stop renewing and release the lease, so that the next candidate need not wait."""
        self._stopping = True
        self._wake.set()
        self._looked.set()
        for thread in self._threads[:1]:
            thread.join(timeout=self._ttl_s)
        with self._lock:
            term, self._term = self._term, None
        if term is not None:
            self._release(term)
        for thread in self._threads[1:]:  # the next candidate need not wait for this one
            thread.join(timeout=self._ttl_s)

    def _release(self, term: int) -> None:
        try:
            with self._store.writing() as tx:
                tx.lease.release(term, self._holder)
        except SupervisorError as error:
            log.warning("the lease was not released, it runs out by itself", error=str(error))

    def _run(self) -> None:
        while True:
            self._wake.wait(self._until_next_s())
            self._wake.clear()
            if self._stopping:
                return
            self._round(self._look)
            self._looked.set()

    def _run_beginnings(self) -> None:
        while True:
            self._looked.wait()
            self._looked.clear()
            if self._stopping:
                return
            self._round(self._begin)

    def _round(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception:  # around a round: the next one tries again
            with self._lock:
                self._counts.unanswered += 1
            log.exception("a look at the lease, or the beginning of a term, failed")

    def _until_next_s(self) -> float:
        with self._lock:
            if self._term is not None:
                return self._ttl_s / RENEWALS_PER_TTL
            due_in = self._seen_at + self._ttl_s - self._clock.monotonic()
        look_s = self._ttl_s / LOOKS_PER_TTL
        return max(due_in, _SOON_S) if 0 < due_in < look_s else look_s

    def _is_fresh(self, since: float) -> bool:
        """Whether a leader whose lease was renewed at `since` may still act."""
        return self._clock.monotonic() < since + self._ttl_s * 2 / 3

    def _other(self) -> str | None:
        """Return the address of the leader that this process follows."""
        seen = self._seen
        followed = seen is not None and seen.holder and self._is_fresh(self._seen_at)
        return seen.url if seen is not None and followed and seen.url != self._url else None

    def step(self) -> None:
        """Look at the lease once and begin a new term, one after the other, without a thread."""
        self._look()
        self._begin()

    def _look(self) -> None:
        """Renew the lease or try to take it over, once; without an answer nothing changes."""
        began = self._clock.now()
        try:
            if (term := self._present()) is not None:
                self._renew(term)
            if self._present() is None:
                self._try_to_take()
            with self._lock:
                self._silent_since = None
        except SupervisorError as error:
            with self._lock:
                self._counts.unanswered += 1
                self._silent_since = self._silent_since or began
            log.warning("the lease could not be read or renewed", error=str(error))
        finally:
            self._notify_lost()

    def _present(self) -> int | None:
        with self._lock:
            return self._term

    def _renew(self, term: int) -> None:
        began = self._clock.monotonic()
        with self._store.writing() as tx:
            held = tx.lease.renew(term, self._holder)
        with self._lock:
            if not held:
                self._counts.lost += self._term is not None
                self._term, self._ended = None, True
            elif not self._is_fresh(self._renewal_began):
                # The lease lapsed: refused passes have to be woken, and no worker was heard
                # meanwhile.
                self._beginnings += 1
                self._led_since = began
            if held:
                self._renewal_began = began
                self._renewal_seen_at = self._clock.now()
                self._counts.renewed += 1
        if not held:
            log.warning("leadership lost: another overlord leads", term=term)

    def _try_to_take(self) -> None:
        began = self._clock.monotonic()
        with self._store.reading() as tx:
            lease = tx.lease.read()
        with self._lock:
            if lease != self._seen:
                self._seen, self._seen_at = lease, began
                if lease is not None and lease.holder:
                    self._renewal_seen_at = self._clock.now()
            waits = lease is not None and bool(lease.holder)
            if waits and began < self._seen_at + self._ttl_s:
                return
        with self._store.writing() as tx:
            taken = tx.lease.take(lease, self._holder, self._url)
        if taken is None:
            return
        with self._lock:
            self._term = taken.term
            self._beginnings += 1
            self._counts.taken += 1
            self._renewal_began = self._led_since = began
            self._seen = taken
            if lease is not None and lease.holder and lease.url != self._url:
                self._replaced = LeaderReplaced(lease.url, self._url, self._clock.now())
        log.info("this overlord leads", term=taken.term)

    def _begin(self) -> None:
        """Call `on_lead` once per term, and again after a lapse; a call that raises is repeated.

        A lapse during the call counts as another beginning.
        """
        with self._lock:
            beginning, begun = self._beginnings, self._begun
        if beginning == begun or not self.leads():
            return
        try:
            self._on_lead()
        except SupervisorError as error:
            with self._lock:
                self._counts.unanswered += 1
            log.warning("a term has not begun yet", error=str(error))
            return
        with self._lock:
            self._begun = beginning

    def _notify_lost(self) -> None:
        """Call `on_lost` once after another overlord has ended a term of ours."""
        with self._lock:
            ended = self._ended
        if not ended:
            return
        self._on_lost()
        with self._lock:
            self._ended = False
