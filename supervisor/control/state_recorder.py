"""The recorder of supervisor states and lag, after each pass of the leader.

a pass has ended ──► its state differs from the last one written ──► row and event
│                ├──► its brokers fell silent, or answer again ──► event, at once
│                ├──► all that a bounded supervisor names is read ──► it is put to rest
│                └──► conditions of many passes, in memory ──► what needs somebody
└──► the log's ends, in memory ──► lag in time     every minute ──► samples
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from pydantic import JsonValue

from supervisor.control.loop import Loop
from supervisor.core.attention.pass_conditions import PassConditions, conditions_after
from supervisor.core.attention.streams import is_unreachable
from supervisor.core.history.headroom import EarliestHistory, with_earliest
from supervisor.core.history.lag import LAG_KEPT, Lag, LogEnds, lag_ages, with_look
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.progress import best_position, lag_by_partition
from supervisor.core.planning.rules.bounds import is_completed
from supervisor.core.planning.states import SupervisorState, state_of
from supervisor.core.values.errors import StateMoved, SupervisorError
from supervisor.ports.clock import Clock
from supervisor.ports.state_history import StoredState
from supervisor.ports.store import Store
from tasks.contract.offsets import TopicPartition

log = structlog.get_logger()


@dataclass
class StateRecorder:
    """Records states and lag after passes; one instance per process, safe from many threads."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    loop: Loop
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _written: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    """Supervisor -> the term in which its state was last looked up, and that state."""
    _silent: dict[str, int] = field(default_factory=dict)
    """Supervisor whose brokers are silent -> the term in which that was recorded."""
    _ends: dict[str, tuple[LogEnds, ...]] = field(default_factory=dict)
    _moves: dict[str, EarliestHistory] = field(default_factory=dict)
    """Supervisor -> how the earliest offsets of its partitions moved."""
    _conditions: dict[str, PassConditions] = field(default_factory=dict)

    def after_pass(self, supervisor_id: str) -> None:
        """Record the state that the last pass found; after a failure the next pass records it."""
        last_pass = self.loop.last_pass(supervisor_id)
        if last_pass is None:
            return
        stream = last_pass.seen.stream
        if stream.read_at is not None:
            look = LogEnds(stream.read_at, stream.stable)
            with self._lock:
                self._ends[supervisor_id] = with_look(self._ends.get(supervisor_id, ()), look)
                known = self._moves.get(supervisor_id, EarliestHistory())
                self._moves[supervisor_id] = with_earliest(
                    known, look.at, stream.earliest, stream.topic_ids
                )
        self._watch(last_pass.seen)
        try:
            failing = self.loop.failing(supervisor_id)
            self._note(supervisor_id, state_of(last_pass.seen, last_pass, failing))
            self._note_silence(last_pass.seen)
            if last_pass.decided.over and failing is None:
                self._put_to_rest(last_pass.seen.current)
        except SupervisorError as error:
            log.warning("a state was not noted", supervisor=supervisor_id, error=str(error))

    def _put_to_rest(self, current: SpecVersion) -> None:
        """Let nothing look at a completed supervisor any more, after its state is written."""
        if current.spec is None:
            return
        with suppress(StateMoved):
            with self.store.leading(self.term()) as tx:
                rests = tx.specs.rest(current.supervisor_id, current.version, self.clock.now())
                # Read behind the lock of that row: a reset was either seen, or ends the rest.
                committed = tx.offsets.of(current.supervisor_id)
                if rests and not is_completed(current.spec, committed):
                    raise StateMoved(f"{current.supervisor_id} was reset meanwhile")
            self.loop.drop(current.supervisor_id)

    def forget(self, supervisor_id: str) -> None:
        """Drop a supervisor from memory; its rows stay."""
        with self._lock:
            self._ends.pop(supervisor_id, None)
            self._moves.pop(supervisor_id, None)
            self._written.pop(supervisor_id, None)
            self._silent.pop(supervisor_id, None)
            self._conditions.pop(supervisor_id, None)

    def _watch(self, seen: Observed) -> None:
        """Take in the last good pass; after a failed one once more, which changes nothing."""
        supervisor_id = seen.current.supervisor_id
        with self._lock:
            before = self._conditions.get(supervisor_id)
        # A lag costs a look at each partition, so most passes go without.
        lag = self.lag(seen) if before is None or before.wants_lag(seen.now) else None
        after = conditions_after(before, seen, lag, self.moves(seen))
        with self._lock:
            self._conditions[supervisor_id] = after

    def conditions(self, seen: Observed) -> PassConditions | None:
        """Return what passes of this term over the same table have shown up to now."""
        with self._lock:
            known = self._conditions.get(seen.current.supervisor_id)
        return None if known is None or known.is_foreign(seen) else known

    def _note(self, supervisor_id: str, state: SupervisorState) -> None:
        term = self.term()
        known = (term, str(state.state), state.detailed)
        with self._lock:
            if self._written.get(supervisor_id) == known:
                return
        now = self.clock.now()
        with self.store.leading(term) as tx:
            before = tx.watched.state(supervisor_id)
            if before is None or (before.state, before.detailed) != known[1:]:
                new = StoredState(str(state.state), state.detailed, state.why, now)
                tx.watched.put_state(supervisor_id, new)
                tx.happenings.record(_state_event(supervisor_id, state, before, now))
        with self._lock:
            self._written[supervisor_id] = known

    def _note_silence(self, seen: Observed) -> None:
        """Record the first look without an answer, and the first one with it: clients look anew.

        The state waits for more failures in a row; what needs somebody does not.
        """
        supervisor_id, term = seen.current.supervisor_id, self.term()
        is_silent = is_unreachable(seen)
        if not self._turns(supervisor_id, term, is_silent=is_silent):
            return
        kind = EventKind.STREAM_SILENT if is_silent else EventKind.STREAM_ANSWERS
        detail: dict[str, JsonValue] = {"why": seen.stream.detail} if is_silent else {}
        try:
            with self.store.leading(term) as tx:
                event = LifecycleEvent(self.clock.now(), kind, supervisor_id, detail)
                tx.happenings.record(event)
        except SupervisorError:
            self._turns(supervisor_id, term, is_silent=not is_silent)  # the next pass tries again
            raise

    def _turns(self, supervisor_id: str, term: int, *, is_silent: bool) -> bool:
        """Note whether brokers are silent; return whether that is news in this term."""
        with self._lock:
            if is_silent == (self._silent.get(supervisor_id) == term):
                return False
            if is_silent:
                self._silent[supervisor_id] = term
            else:
                del self._silent[supervisor_id]
            return True

    def looks(self, seen: Observed) -> tuple[LogEnds, ...]:
        """Return the log ends of past reads, oldest first; the read of `seen` is the last.

        Without the read of `seen`, records that came since the last pass would have no age.
        """
        with self._lock:
            history = self._ends.get(seen.current.supervisor_id, ())
        at = seen.stream.read_at
        return history if at is None else with_look(history, LogEnds(at, seen.stream.stable))

    def moves(self, seen: Observed) -> EarliestHistory:
        """Return how the earliest offsets moved up to the read of `seen`."""
        with self._lock:
            known = self._moves.get(seen.current.supervisor_id, EarliestHistory())
        stream = seen.stream
        if stream.read_at is None:
            return known
        return with_earliest(known, stream.read_at, stream.earliest, stream.topic_ids)

    def ages(self, seen: Observed) -> dict[TopicPartition, timedelta]:
        """Return the age of the oldest unread record of each partition, where it is known."""
        return lag_ages(self.looks(seen), best_position(seen), seen.now, lag_by_partition(seen))

    def lag(self, seen: Observed) -> Lag:
        """Return the lag of a supervisor in records and in time; None where it is unknown."""
        if not seen.stream.stable:
            return Lag(None, None)
        records, ages = lag_by_partition(seen), self.ages(seen)
        known = records.keys() <= ages.keys()
        return Lag(sum(records.values()), max(ages.values(), default=None) if known else None)

    def lags(self) -> dict[str, Lag]:
        """Return supervisor -> lag, as its last pass found it."""
        return {found: self.lag(seen) for found, seen in self._seen().items()}

    def partition_lags(self) -> dict[str, dict[TopicPartition, int]]:
        """Return supervisor -> partition -> lag in records, where it is known."""
        return {found: lag_by_partition(seen) for found, seen in self._seen().items()}

    def _seen(self) -> dict[str, Observed]:
        with self.store.reading() as tx:
            ids = [head.supervisor_id for head in tx.specs.awake()]
        passes = {found: self.loop.last_pass(found) for found in ids}
        return {
            found: last_pass.seen for found, last_pass in passes.items() if last_pass is not None
        }

    def sample(self) -> None:
        """Write the lag of every supervisor, while this overlord leads.

        Raises:
            LeaseLost, Unavailable: nothing was written; the samples of this minute are missing.
        """
        now, found = self.clock.now(), self.lags()
        with self.store.leading(self.term()) as tx:
            tx.watched.add_lag(now, found, now - LAG_KEPT)


def _state_event(
    supervisor_id: str, state: SupervisorState, before: StoredState | None, now: datetime
) -> LifecycleEvent:
    detail: dict[str, JsonValue] = {
        "state": str(state.state),
        "detailedState": state.detailed,
        "why": state.why,
        "healthy": state.healthy,
        "before": None if before is None else before.detailed,
    }
    return LifecycleEvent(now, EventKind.STATE_CHANGED, supervisor_id, detail)
