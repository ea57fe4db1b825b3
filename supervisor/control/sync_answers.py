"""The answers to syncs: worked out once per change and worker, and sent again until then.

    sync ── a known answer that nothing has touched ──► read the term ──► the same answer
         └─ none, or touched ──► read the term and the rows of what was touched ──► a new answer
    commit ── names what it touched ──► answers that depend on it are touched ──► wake their workers

Only the leader writes rows that an answer depends on, and each of its commits names what it touched
(`ports/touched.py`).  So a known answer is still what the rows say as long as the term row has our
term.  The term is read after the answer was taken: another leader that has written meanwhile is
seen (P1), also after this process was frozen.

Nothing stands still if a name is missing or a commit had no answer:

- The result of a look during which something of it was touched is not used again, and its worker is
  woken.
- A commit wakes all workers but those whose answer is known and untouched.
- What a commit without an answer touched is looked up at each sync, until it has taken effect or
  never will.
- After `AGE_MAX_S` the answer to a worker is looked up anew, whole.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from supervisor.control.desired_state import DesiredState, look
from supervisor.control.wakeups import Wakeups
from supervisor.core.values.errors import LeaseLost
from supervisor.ports.clock import Clock
from supervisor.ports.store import TouchingStore, Transaction
from supervisor.ports.touched import Touched
from tasks.contract.messages import SyncResponse

AGE_MAX_S = 60.0
"""Seconds until an answer is looked up anew, whole, although nothing is known to have changed."""
UNSURE_S = 60.0
"""Seconds after a commit without an answer during which it may still take effect."""
WORKERS_MAX = 1_000
"""Workers whose answers are kept; those that were not asked for the longest time go first."""


@dataclass(frozen=True)
class _Doubt:
    """A commit without an answer: until then nobody knows whether its names were touched."""

    touched: Touched
    until_s: float


@dataclass
class _KeptAnswer:
    worker_id: str
    term: int
    looked_at_s: float
    whole_at_s: float
    """When all of it was looked up; parts of it may be younger."""
    state: DesiredState
    touched: Touched = field(default_factory=Touched)
    """What was touched since it was looked up, from the moment when it depends on some of that."""
    is_stale: bool = False

    def touch(self, touched: Touched) -> None:
        """Take notice of a commit since the answer was looked up."""
        if self.depends_on(touched):
            self.touched.add(touched)
            self.is_stale = True

    def depends_on(self, touched: Touched) -> bool:
        """Whether the answer may differ after such a commit."""
        return bool(
            self.worker_id in touched.workers
            or touched.supervisors & self.state.supervisors
            or touched.tables & self.state.tables
        )


class SyncAnswers:
    """The answers of one overlord; one instance per process, safe to call from many threads."""

    def __init__(
        self, store: TouchingStore, clock: Clock, pause_lease: timedelta, changed: Wakeups
    ) -> None:
        """Listen to the commits of `store`, and wake the workers concerned by `changed`."""
        self._store = store
        self._clock = clock
        self._pause_lease = pause_lease
        self._changed = changed
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _KeptAnswer] = OrderedDict()
        """Worker -> its last answer."""
        self._under_way: list[Touched] = []
        """For each look that is under way, what was touched since it began."""
        self._doubts: list[_Doubt] = []
        store.on_touched(self._on_touched)

    def answer(self, worker_id: str, term: int) -> SyncResponse:
        """Return what a worker should run, as of a moment during this call.

        Raises:
            LeaseLost: `term` is not the present one.
        """
        known = self._usable(worker_id, term)
        if known is None:
            return self._looked_up(worker_id, term)
        with self._store.reading() as tx:
            _require_present(tx, term)
        return known.state.answer

    def forget(self) -> None:
        """Forget all answers: a term begins."""
        with self._lock:
            self._known.clear()

    def _usable(self, worker_id: str, term: int) -> _KeptAnswer | None:
        with self._lock:
            known = self._of_term(worker_id, term)
            if known is None or known.is_stale or any(self._doubts_about(known)):
                return None
            self._known.move_to_end(worker_id)
            return known

    def _of_term(self, worker_id: str, term: int) -> _KeptAnswer | None:
        """Return the last answer, touched or not; None: it has to be looked up whole."""
        known = self._known.get(worker_id)
        is_young = known and self._clock.monotonic() < known.whole_at_s + AGE_MAX_S
        return known if known and is_young and known.term == term else None

    def _doubts_about(self, known: _KeptAnswer) -> Iterator[Touched]:
        for doubt in self._doubts:
            if known.looked_at_s < doubt.until_s and known.depends_on(doubt.touched):
                yield doubt.touched

    def _looked_up(self, worker_id: str, term: int) -> SyncResponse:
        began_s, touched = self._clock.monotonic(), Touched()
        with self._lock:
            before = self._of_term(worker_id, term)
            still = {} if before is None else dict(before.state.shares)
            if before is not None:
                for one in (before.touched, *self._doubts_about(before)):
                    still = {name: s for name, s in still.items() if name not in one.supervisors}
            whole_at_s = began_s if before is None else before.whole_at_s
            self._under_way.append(touched)  # in one step with the choice of what is used again
        try:
            with self._store.reading() as tx:
                _require_present(tx, term)
                state = look(tx, worker_id, term, self._pause_lease, still)
        except BaseException:
            with self._lock:
                self._end(touched)
            raise
        known = _KeptAnswer(worker_id, term, began_s, whole_at_s, state)
        with self._lock:
            self._end(touched)  # in one step with its keeping: a commit is heard by one of both
            known.touch(touched)
            self._keep(known)
        if known.is_stale:
            self._changed.notify([worker_id])  # that commit may have been heard before the wait
        return state.answer

    def _end(self, touched: Touched) -> None:
        self._under_way = [one for one in self._under_way if one is not touched]

    def _keep(self, known: _KeptAnswer) -> None:
        present = self._known.get(known.worker_id)
        if known.is_stale and present and not present.is_stale and present.term == known.term:
            return  # another look was later and is untouched
        self._known[known.worker_id] = known
        self._known.move_to_end(known.worker_id)
        if len(self._known) > WORKERS_MAX:
            self._known.popitem(last=False)

    def _on_touched(self, touched: Touched) -> None:
        now_s = self._clock.monotonic()
        with self._lock:
            self._doubts = [d for d in self._doubts if now_s < d.until_s + AGE_MAX_S]
            if touched.unsure:
                self._doubts.append(_Doubt(touched, now_s + UNSURE_S))
            for one in self._under_way:
                one.add(touched)
            for known in self._known.values():
                known.touch(touched)
            at_rest = {name for name, known in self._known.items() if not known.is_stale}
        self._changed.notify_but(at_rest)


def _require_present(tx: Transaction, term: int) -> None:
    lease = tx.lease.read()
    if lease is None or lease.term != term or not lease.holder:
        url = lease.url or None if lease else None
        raise LeaseLost(f"term {term} is not the present one", url)
