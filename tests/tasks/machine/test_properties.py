"""Whatever happens to a task, in whatever order: what its machine promises holds."""

from collections.abc import Callable

import hypothesis.strategies as st
from hypothesis import event as seen
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tasks.contract.messages import Order, PublishOutcome, RunState, TaskPhase
from tasks.contract.offsets import Offsets
from tasks.machine.events import (
    DropTail,
    JobDropped,
    LookFailed,
    Merge,
    Ordered,
    Publish,
    ReadBatch,
    StopRequested,
    Ticked,
    Unanswered,
)
from tasks.machine.pacing import Limits
from tests.tasks.machine.bench import Bench
from tests.tasks.memory import MemoryLog, at, desired, pause

_LIMITS = Limits(rows_first=5, catch_up_batches=2)


class Promises(RuleBasedStateMachine):
    """The bench carries effects out in any interleaving with orders, faults, time and crashes."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(desired(start=at(3, 0)), MemoryLog(at(0, 0), at(3, 0)), _LIMITS)
        self.end: Offsets | None = None
        """As the overlord fixed it: once, and at or above the start."""
        self.rank = (1, 1)
        self.before = self.bench.state

    @initialize(rows=st.integers(0, 30))
    def records_wait(self, rows: int) -> None:
        self.bench.log.stable = at(3 + rows, rows // 2)

    # ------------------------------------------------------------ the world

    @rule(first=st.integers(0, 9), second=st.integers(0, 9))
    def records_come(self, first: int, second: int) -> None:
        old = self.bench.log.stable
        self.bench.log.stable = {
            p: old[p] + n for p, n in zip(sorted(old), (first, second), strict=True)
        }

    @rule(down=st.sampled_from(["", "", "", "away"]))
    def kafka_goes_or_comes(self, down: str) -> None:
        self.bench.log.down = down

    @rule(seconds=st.sampled_from([0.1, 1.0, 5.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        b = self.bench
        until = b.now + seconds
        for _ in range(1_000):
            if b.state.wake_at is None or b.state.wake_at > until:
                break
            b.now = max(b.now, b.state.wake_at)
            b.deliver(Ticked(b.now))
        else:
            raise AssertionError("it is woken in a circle")
        b.now = until

    @rule(steps=st.integers(1, 4))
    def the_thread_does_some_things(self, steps: int) -> None:
        self._work(steps, 0.0)

    @rule(steps=st.integers(5, 40), seconds=st.sampled_from([1.0, 20.0]))
    def the_thread_works_for_a_while(self, steps: int, seconds: float) -> None:
        self._work(steps, seconds)

    def _work(self, steps: int, seconds: float) -> None:
        b = self.bench
        until = b.now + seconds
        for _ in range(steps):
            if not b.todo and b.state.wake_at is not None and b.state.wake_at <= until:
                b.now = max(b.now, b.state.wake_at)
                b.deliver(Ticked(b.now))
            if not b.todo:
                break
            if isinstance(b.todo[0], Publish):
                self._was_right(b.todo[0])
            seen(type(b.carry_out()).__name__)

    @precondition(lambda self: self.bench.todo)
    @rule()
    def the_next_thing_fails_for_now(self) -> None:
        b = self.bench
        if isinstance(b.todo[0], ReadBatch | Merge):
            b.cancelled()
        elif isinstance(b.todo[0], Publish):
            self._was_right(b.todo[0])
            b.todo.pop(0)
            b.deliver(Unanswered(b.now, "nobody leads"))
        elif type(b.todo[0]).__name__ == "Look":
            b.todo.pop(0)
            b.deliver(LookFailed(b.now, "away"))

    @precondition(lambda self: isinstance(next(iter(self.bench.todo), None), ReadBatch))
    @rule()
    def kafka_goes_away_under_a_batch(self) -> None:
        self.bench.todo.pop(0)
        self.bench.deliver(JobDropped(self.bench.now, "away"))

    @rule(outcome=st.sampled_from(PublishOutcome))
    def the_overlord_will_answer(self, outcome: PublishOutcome) -> None:
        self.bench.outcome = outcome

    # ------------------------------------------------------------ orders

    @rule(lease_s=st.floats(1, 50))
    def a_pause_is_ordered(self, lease_s: float) -> None:
        self._order(pause(0, lease_s=lease_s))

    @rule()
    def it_is_resumed(self) -> None:
        self._order(Order(term=0, sequence=0, state=RunState.RUN, end=None))

    @precondition(lambda self: len(self.bench.journal) > 2)
    @rule(first=st.integers(0, 20), second=st.integers(0, 20), state=st.sampled_from(RunState))
    def the_end_arrives(self, first: int, second: int, state: RunState) -> None:
        if self.end is None:
            self.end = at(3 + first, second)
        self._order(Order(term=0, sequence=0, state=state, end=dict(self.end)))

    def _order(self, order: Order) -> None:
        term, sequence = self.rank
        self.rank = (term, sequence + 1)
        end = order.end if self.end is None else dict(self.end)
        update = {"term": term, "sequence": sequence + 1, "end": end}
        self.bench.deliver(Ordered(self.bench.now, order.model_copy(update=update)))

    @rule(back=st.integers(0, 3), end=st.booleans(), state=st.sampled_from(RunState))
    def a_late_order_has_no_effect(self, back: int, end: bool, state: RunState) -> None:
        b = self.bench
        b.deliver(Ticked(b.now))
        before, todo = b.state, list(b.todo)
        term, sequence = before.order.rank
        wrong = at(4, 4) if end else None
        late = Order(term=term, sequence=sequence - back, state=state, end=wrong)

        b.deliver(Ordered(b.now, late))

        assert b.todo == todo
        assert _unmoved(b.state) == _unmoved(before)

    # ------------------------------------------------------------ crashes

    @precondition(lambda self: self.bench.state.over)
    @rule()
    def the_next_task_begins(self) -> None:
        self.__init__()  # type: ignore[misc] # a run is long, a task is short

    @precondition(lambda self: len(self.bench.journal) > 1)
    @rule()
    def the_worker_crashes_and_takes_the_task_up(self) -> None:
        b = self.bench
        b.incarnation += 1
        order = Order(
            term=self.rank[0],
            sequence=self.rank[1],
            state=RunState.RUN,
            end=None if self.end is None else dict(self.end),
        )
        b.task = desired(start=at(3, 0), first=order, taken_up=True)
        b.restart(b.held())
        self.before = b.state

    @precondition(lambda self: len(self.bench.journal) > 1)
    @rule(grace_s=st.floats(0, 5))
    def the_worker_is_to_stop(self, grace_s: float) -> None:
        b = self.bench
        b.deliver(StopRequested(b.now, b.now + grace_s))
        self._work(20, 0.0)
        assert b.state.over
        self.the_worker_crashes_and_takes_the_task_up()

    # ------------------------------------------------------------ promises

    @invariant()
    def the_journal_tiles_what_was_read(self) -> None:
        reached: Offsets = self.bench.task.start
        for entry in self.bench.journal:
            assert entry.start == reached
            assert all(entry.end[p] >= reached[p] for p in reached)
            reached = entry.end
        held = [entry for entry in self.bench.state.entries if entry in self.bench.journal]
        assert held == list(self.bench.state.entries), "a batch counts that no journal holds"

    @invariant()
    def the_position_goes_back_only_to_the_end(self) -> None:
        now, before = self.bench.state, self.before
        self.before = now
        if any(now.position[p] < before.position[p] for p in now.position):
            assert now.end is not None
            assert any(before.position[p] > now.end[p] for p in now.end)

    @invariant()
    def no_pause_outlasts_its_lease(self) -> None:
        state = self.bench.state
        if state.phase is TaskPhase.PAUSED:
            assert state.paused_until is not None
            assert self.bench.now < state.paused_until
            assert state.wake_at is not None
            assert state.wake_at <= state.paused_until

    @invariant()
    def numbers_of_batches_are_never_given_twice(self) -> None:
        entries = [*self.bench.journal, *self.bench.dropped]
        names = [(e.incarnation, e.number) for e in entries]
        assert len(set(names)) == len(names)

    @invariant()
    def what_was_dropped_is_not_in_the_journal(self) -> None:
        assert not [e for e in self.bench.dropped if e in self.bench.journal]

    @invariant()
    def it_never_fails_without_a_fact(self) -> None:
        refused = (PublishOutcome.SUPERSEDED, PublishOutcome.STALE)
        if self.bench.state.phase is TaskPhase.FAILED:
            assert self.bench.state.failure is not None
            assert any(str(o) in self.bench.state.failure.detail for o in refused)

    @invariant()
    def it_is_never_stuck(self) -> None:
        """Something is to be done, or a moment is waited for, or it is over."""
        state = self.bench.state
        assert state.over or self.bench.todo or state.wake_at is not None

    def _was_right(self, effect: Publish) -> None:
        request, journal = effect.request, self.bench.journal
        assert request.start == self.bench.task.start
        assert request.end == self.end
        reached = journal[-1].end if journal else self.bench.task.start
        assert reached == self.end
        assert request.counters.processed == sum(e.counters.processed for e in journal)
        assert not any(isinstance(left, DropTail) for left in self.bench.todo)


def _unmoved(state: object) -> dict[str, object]:
    """A state without what a mere look at the clock may change."""
    clock: Callable[[str], bool] = {"wake_at", "cancel_at"}.__contains__
    return {k: v for k, v in vars(state).items() if not clock(k)}


TestPromises = Promises.TestCase
