"""The scheduler of passes: one at a time per supervisor, several supervisors in parallel.

Events only wake the loop; each pass reads from the rows what there is to do.  A failing supervisor
never delays another: its failed pass is recorded and repeated after a growing wait.
"""

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import structlog

from supervisor.control.metrics import PassTaken
from supervisor.core.planning.passes import Pass, PassError
from supervisor.core.queue.events import owner_of
from supervisor.core.values.errors import LeaseLost, SpecUnreadable, SupervisorError
from supervisor.core.values.hysteresis import Hysteresis
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

log = structlog.get_logger()

BUSY_PASSES = 20
"""Passes in a row with actions, after which the loop pauses for `BREATH_S`."""
BREATH_S = 0.5
ERRORS_KEPT = 20
THRESHOLD = 3
"""Failed passes in a row that make a supervisor unhealthy; as many good ones end it."""
PROOF_S = 2.0
"""The maximum wait, in seconds, between good passes after failures, to prove recovery soon."""
OVERDUE_S = 60.0
"""Seconds after which a pass that has not ended makes its supervisor unhealthy."""
HELD_UP_S = 1.0
"""Seconds that the loop waits after a failed round, for example without a free thread."""
REST_S = 300.0
"""Seconds between passes over a completed or unreadable supervisor, whatever wake-up is lost."""


@dataclass
class _LoopEntry:
    running: bool = False
    running_since: float = 0.0
    """The monotonic time when the running pass was given to a thread."""
    again: bool = False
    busy: int = 0
    streak: Hysteresis = field(default_factory=Hysteresis)
    last: Pass | None = None
    rests_until: float | None = None
    """The monotonic time until which a completed supervisor rests; None: it has work left."""
    unread: int | None = None
    """The spec version that the last pass could not read: only a newer release can."""
    errors: deque[PassError] = field(default_factory=lambda: deque(maxlen=ERRORS_KEPT))


@dataclass(frozen=True)
class PassTroubles:
    """What went wrong in the passes over one supervisor."""

    errors: Sequence[PassError] = ()
    """The last failed passes, newest first."""
    failing: PassError | None = None
    """The last error while the passes fail; None: the supervisor is healthy."""


NO_TROUBLES = PassTroubles()


class Loop:
    """Wakes, schedules and runs passes; `make` makes one pass over one supervisor."""

    def __init__(self, make: Callable[[str], Pass | None], clock: Clock, *, threads: int) -> None:
        self.after_pass: Callable[[str], None] = lambda _: None
        """Called with each supervisor whose pass has ended, good or failed, in the pass's thread.
        """
        self.dropped: Callable[[str], None] = lambda _: None
        """Called with each supervisor that is dropped: it is terminated or at rest."""
        self.measured: Callable[[PassTaken], None] = lambda _: None
        """Called with the measures of each pass, in its thread."""
        self._make = make
        self._clock = clock
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="pass")
        self._changed = threading.Condition()
        self._due: list[tuple[float, str]] = []
        self._entries: dict[str, _LoopEntry] = {}
        self._at_work = 0
        """Passes that have a thread now; other running passes wait for one."""
        self._stopping = False
        self._thread = threading.Thread(target=self._dispatch, name="loop", daemon=True)

    def start(self) -> None:
        """Begin to run due passes."""
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether the loop's thread has ended without `stop`, so that no pass is made any more."""
        return self._thread.ident is not None and not self._thread.is_alive() and not self._stopping

    def stop(self) -> None:
        """Let running passes end and start no more; also allowed before `start`."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(timeout=10)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def wake(self, supervisor_id: str, *, in_s: float = 0.0) -> None:
        """Make a pass over one supervisor soon, or in some seconds; a running pass is repeated."""
        with self._changed:
            if self._stopping:
                return
            entry = self._entries.setdefault(supervisor_id, _LoopEntry())
            if entry.running and in_s <= 0:
                entry.again = True
            else:
                heapq.heappush(self._due, (self._clock.monotonic() + in_s, supervisor_id))
                self._changed.notify_all()

    def rouse(self, supervisor_id: str, version: int) -> None:
        """Make a pass soon, unless the last one found this version completed, or unreadable."""
        with self._changed:
            entry = self._entries.get(supervisor_id)
            if entry is not None and entry.unread == version:
                return
            if entry is not None and entry.rests_until is not None and entry.last is not None:
                same = entry.last.seen.current.version == version
                if same and self._clock.monotonic() < entry.rests_until:
                    return
        self.wake(supervisor_id)

    def last_pass(self, supervisor_id: str) -> Pass | None:
        """Return the last successful pass."""
        with self._changed:
            entry = self._entries.get(supervisor_id)
            return None if entry is None else entry.last

    def last_passes(self, supervisor_ids: Iterable[str]) -> dict[str, Pass]:
        """Return supervisor -> the last successful pass, of those with one."""
        with self._changed:
            entries = ((each, self._entries.get(each)) for each in supervisor_ids)
            return {
                each: entry.last
                for each, entry in entries
                if entry is not None and entry.last is not None
            }

    def troubles(self, supervisor_ids: Iterable[str]) -> dict[str, PassTroubles]:
        """Return supervisor -> what went wrong, of those whose passes have failed, or do not end.

        A pass that does not end counts as one that fails.
        """
        with self._changed:
            entries = ((each, self._entries.get(each)) for each in supervisor_ids)
            return {
                each: PassTroubles([*reversed(entry.errors)], self._failing(entry))
                for each, entry in entries
                if entry is not None and (entry.errors or entry.running)
            }

    def errors(self, supervisor_id: str) -> list[PassError]:
        """Return the last failed passes, newest first."""
        return [*self.troubles([supervisor_id]).get(supervisor_id, NO_TROUBLES).errors]

    def failing(self, supervisor_id: str) -> PassError | None:
        """Return the last error while the supervisor's passes fail; None: it is healthy."""
        return self.troubles([supervisor_id]).get(supervisor_id, NO_TROUBLES).failing

    def _failing(self, entry: _LoopEntry) -> PassError | None:
        if entry.running:
            runs_s = self._clock.monotonic() - entry.running_since
            if runs_s > OVERDUE_S:
                why = f"a pass over it has not ended for {runs_s:,.0f} s"
                return PassError(self._clock.now(), "PassOverdue", why)
        return entry.errors[-1] if entry.streak.failing else None

    def supervisors(self) -> int:
        """Return how many supervisors this loop has passes for."""
        with self._changed:
            return len(self._entries)

    def waiting(self) -> int:
        """Return how many due passes wait for a thread; above 0, the loop does not keep up."""
        with self._changed:
            return sum(entry.running for entry in self._entries.values()) - self._at_work

    def forget(self) -> None:
        """Drop all that is known, and what is due: another overlord leads now.

        Of a pass that runs, only that it does so: what earlier ones saw may be hours old once this
        overlord leads again.
        """
        with self._changed:
            self._due.clear()
            self._entries = {
                supervisor_id: _LoopEntry(
                    running=True, running_since=entry.running_since, again=entry.again
                )
                for supervisor_id, entry in self._entries.items()
                if entry.running
            }

    def _dispatch(self) -> None:
        while not self._stopping:
            try:
                self._dispatch_next()
            except Exception:  # a failed round is repeated
                log.exception("passes are held up")
                with self._changed:
                    self._changed.wait_for(lambda: self._stopping, HELD_UP_S)

    def _dispatch_next(self) -> None:
        """Wait until a pass is due, and begin it."""
        with self._changed:
            while not self._stopping and not self._ready():
                self._changed.wait(self._wait_s())
            if self._stopping:
                return
            due, supervisor_id = heapq.heappop(self._due)
            entry = self._entries.setdefault(supervisor_id, _LoopEntry())
            if entry.running:
                entry.again = True
                return
            self._drop_later(supervisor_id)
            entry.running, entry.running_since = True, self._clock.monotonic()
        try:
            self._pool.submit(self._run, supervisor_id, due)
        except RuntimeError:  # the system has no thread left
            self._finish(supervisor_id, None, next_s=0.0)
            raise

    def _ready(self) -> bool:
        return bool(self._due) and self._due[0][0] <= self._clock.monotonic()

    def _wait_s(self) -> float | None:
        return max(0.0, self._due[0][0] - self._clock.monotonic()) if self._due else None

    def _drop_later(self, supervisor_id: str) -> None:
        """Drop the scheduled passes of a supervisor: the one that starts sets the next time."""
        kept = [item for item in self._due if item[1] != supervisor_id]
        if len(kept) != len(self._due):
            heapq.heapify(kept)
            self._due = kept

    def _run(self, supervisor_id: str, due: float) -> None:
        with self._changed:
            if self._stopping:  # the loop was stopped while this pass waited for a thread
                return
            self._at_work += 1
        began = self._clock.monotonic()
        try:
            with structlog.contextvars.bound_contextvars(supervisor=supervisor_id):
                self._run_once(supervisor_id, began - due)
        finally:
            with self._changed:
                self._at_work -= 1

    def _run_once(self, supervisor_id: str, late_s: float) -> None:
        began = self._clock.monotonic()
        try:
            completed_pass = self._make(supervisor_id)
        except LeaseLost:
            self._finish(supervisor_id, None, next_s=None)
        except Exception as error:  # noqa: BLE001 -- a failing supervisor must not stop the others
            took_s = self._clock.monotonic() - began
            self._failed(supervisor_id, error)
            self._pass_on(lambda: self.measured(PassTaken(late_s, took_s, good=False)))
            self._pass_on(lambda: self.after_pass(supervisor_id))
        else:
            took_s = self._clock.monotonic() - began
            actions = () if completed_pass is None else completed_pass.decided.actions
            names = [type(action).__name__ for action in actions]
            taken = PassTaken(late_s, took_s, good=True, actions=names)
            self._succeeded(supervisor_id, completed_pass)
            self._pass_on(lambda: self.measured(taken))
            self._pass_on(lambda: self.after_pass(supervisor_id))
            if completed_pass is None or (
                completed_pass.decided.over and completed_pass.seen.current.spec is None
            ):
                self._pass_on(lambda: self.drop(supervisor_id))

    def _pass_on(self, call: Callable[[], None]) -> None:
        """Call a listener after the pass; its failure does not affect the next pass."""
        try:
            call()
        except Exception:  # the pass itself is over
            log.exception("what follows a pass failed")

    def _succeeded(self, supervisor_id: str, last_pass: Pass | None) -> None:
        if last_pass is None:
            self._finish(supervisor_id, None, next_s=None)
            return
        with self._changed:
            entry = self._entries.setdefault(supervisor_id, _LoopEntry())
            entry.streak, entry.unread = entry.streak.then(THRESHOLD, good=True), None
            entry.busy = entry.busy + 1 if last_pass.decided.actions else 0
            breath = BREATH_S if entry.busy >= BUSY_PASSES else 0.0
            failing, over = (
                entry.streak.failing,
                last_pass.decided.over and not entry.streak.failing,
            )
            entry.rests_until = self._clock.monotonic() + REST_S if over else None
        wait = (last_pass.decided.wake_at - self._clock.now()).total_seconds()
        if failing:
            wait = min(wait, PROOF_S)
        self._finish(supervisor_id, last_pass, next_s=None if over else max(wait, breath))

    def drop(self, supervisor_id: str) -> None:
        """Forget a supervisor without work, unless it has been woken meanwhile."""
        with self._changed:
            entry = self._entries.get(supervisor_id)
            woken = any(name == supervisor_id for _, name in self._due)
            if entry is None or entry.running or woken:
                return
            del self._entries[supervisor_id]
        self.dropped(supervisor_id)

    def _failed(self, supervisor_id: str, error: Exception) -> None:
        expected = isinstance(error, SupervisorError)
        text = str(error) if expected else f"internal error: {error!r}"
        with self._changed:
            entry = self._entries.setdefault(supervisor_id, _LoopEntry())
            entry.streak = entry.streak.then(THRESHOLD, good=False)
            entry.unread = error.version if isinstance(error, SpecUnreadable) else None
            entry.errors.append(PassError(self._clock.now(), type(error).__name__, text))
            wait = REST_S if entry.unread else min(30.0, 0.5 * 2 ** min(entry.streak.bad, 10))
        log.error(
            "a pass failed",
            supervisor=supervisor_id,
            error=text,
            exc_info=None if expected else error,
        )
        self._finish(supervisor_id, None, next_s=wait)

    def _finish(self, supervisor_id: str, last_pass: Pass | None, *, next_s: float | None) -> None:
        with self._changed:
            entry = self._entries.setdefault(supervisor_id, _LoopEntry())
            entry.running = False
            entry.last = last_pass or entry.last
            again, entry.again = entry.again, False
        if again:
            self.wake(supervisor_id)
        elif next_s is not None:
            self.wake(supervisor_id, in_s=max(0.0, next_s))


def dead_owners(tx: Transaction) -> set[str]:
    """Return the supervisors with a dead event queue."""
    owners = (owner_of(row.queue.container) for row in tx.events.dead())
    return {owner for owner in owners if owner is not None}


def wake_all(store: Store, loop: Loop) -> None:
    """Make a pass over every supervisor that may have work, also over terminated ones.

    No spec is read here: a pass reads its own.  Supervisors at rest cost nothing: a reset or a new
    version ends the rest in its own transaction.  Only a dead queue is noticed here.

    Raises:
        Unavailable: the metadata database did not answer.
    """
    with store.reading() as tx:
        versions = {head.supervisor_id: head.version for head in tx.specs.awake()}
        busy = set(tx.generations.live_tables())
        busy |= {t.supervisor_id for t in tx.tasks.active()}
        busy |= dead_owners(tx)
    for supervisor_id in sorted(versions.keys() | busy):
        if supervisor_id in busy:
            loop.wake(supervisor_id)
        else:
            loop.rouse(supervisor_id, versions[supervisor_id])
