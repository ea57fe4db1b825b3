"""One running task: its state, and the thread that carries out its effects.

    sync, control API, alarm ──deliver(event)──► step() under the task's lock ──effects──► queue
                                                    ▲                                       │
                                                    └────── events ◄── the task's thread ◄──┘

The thread that delivers an event also makes the step, so an order is taken while the task's thread
is in the middle of a batch.  Of the effects, only cancelling happens on the delivering thread.
Nothing here decides.
"""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from threading import Condition, Thread
from typing import assert_never

import structlog

from tasks.contract.messages import DesiredTask, FailureCode, Lack, Order, TaskReport
from tasks.durable_files import NoSpace
from tasks.machine.events import (
    Answered,
    Append,
    BatchRead,
    Broke,
    CancelJob,
    Discard,
    DropTail,
    Effect,
    Event,
    GiveUp,
    JobDropped,
    JobMoved,
    Journaled,
    Look,
    Looked,
    LookFailed,
    Merge,
    Merged,
    Ordered,
    Publish,
    ReadBatch,
    RecordEnd,
    StopRequested,
    TailDropped,
    Ticked,
    TurnKnown,
    Unanswered,
    Unwritten,
)
from tasks.machine.log_lines import Line, about, begun, lines_for
from tasks.machine.machine import step
from tasks.machine.orders import Step
from tasks.machine.state import Merging, ReadWork, TaskState, report
from tasks.ports import (
    BatchCancelled,
    BatchJob,
    Fenced,
    JournalEntry,
    MergeJob,
    OverlordUnavailable,
    SchemasUnavailable,
    StreamTimeout,
    TaskError,
)
from tasks.runtime.secrets import without_secrets
from tasks.worker.batches.notes import running
from tasks.worker.batches.reject_log import log_bad_records
from tasks.worker.journal import Journal
from tasks.worker.metrics import FAILED, outcome_of
from tasks.worker.reporting.stage_clocks import StageClocks
from tasks.worker.world import Progress, StartThread, World, start_thread

__all__ = ["Progress", "StartThread", "TaskRunner", "World", "start_thread"]


class TaskRunner:
    """One task; every method may be called from any thread."""

    def __init__(
        self, desired: DesiredTask, journal: Journal | None, first: Step, world: World
    ) -> None:
        self._desired = desired
        self._journal, self._world = journal, world
        self._state, effects = first
        self._todo: deque[Effect] = deque(effects)
        self._changed = Condition()
        self._thread: Thread | None = None
        self._thread_ended = False
        self._in_engine = False
        self._seen: Hashable = None
        self._facts = about(desired)
        self._meter = world.meters.task(desired)
        self.stages = StageClocks(world.monotonic)
        self.started_at = datetime.now(UTC)

    @property
    def state(self) -> TaskState:
        """The newest state."""
        return self._state

    @property
    def desired(self) -> DesiredTask:
        """The overlord's last order for the task, with the newest token."""
        return self._desired

    @property
    def ended(self) -> bool:
        """Whether the task is over and its thread has ended."""
        return self._state.over and (self._thread is None or self._thread_ended)

    def start(self) -> None:
        """Start the task's thread, unless the task is over already."""
        self._log(begun(self._state))
        if not self._state.over:
            name = f"task {self._desired.task_id}"
            self._thread = self._world.start_thread(name, self._run)

    def report(self) -> TaskReport:
        """Return the task's report for the overlord."""
        return report(self._state, self._world.monotonic())

    def desire(self, desired: DesiredTask) -> None:
        """Take the task's part of a sync answer."""
        self._desired = desired
        now = self._world.monotonic()
        if desired.order.rank > self._state.order.rank:
            self.deliver(Ordered(now, desired.order))
        if desired.turn != self._state.predecessors_published:
            self.deliver(TurnKnown(now, desired.turn))

    def deliver_order(self, order: Order) -> None:
        """Take an order from the control API."""
        self.deliver(Ordered(self._world.monotonic(), order))

    def tick(self) -> None:
        """Deliver a tick if the task's `wake_at` has come."""
        wake_at, now = self._state.wake_at, self._world.monotonic()
        if wake_at is not None and now >= wake_at:
            self.deliver(Ticked(now))

    def watch(self, progress: Progress) -> None:
        """Note whether the running job has moved since the last look, or waits for other jobs."""
        if not isinstance(self._state.busy, ReadWork | Merging):
            return
        before, waits = self._seen, not self._in_engine
        self._seen = None if waits else progress(self._desired.task_id)
        if waits or self._seen != before:
            self.deliver(JobMoved(self._world.monotonic()))

    def stop(self, cancel_after_s: float) -> None:
        """Request the end of the task without a publish; its journal stays."""
        now = self._world.monotonic()
        self.deliver(StopRequested(now, now + cancel_after_s))
        self._world.gate.wake()
        self._world.turns.wake()

    def wait_until(self, claim: Callable[[TaskState], bool], timeout_s: float) -> bool:
        """Wait until `claim` is true of the state; False after the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: claim(self._state), timeout_s)

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end; False after the timeout."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self.ended

    def deliver(self, event: Event) -> None:
        """Make the step for `event` and queue its effects."""
        with self._changed:
            before = self._state
            try:
                self._state, effects = step(self._state, event)
            except Exception as error:  # noqa: BLE001 -- a bug fails this task only
                text = without_secrets(f"{type(error).__name__}: {error}")
                broke = Broke(event.now, FailureCode.INTERNAL, text)
                self._state, effects = step(self._state, broke)
            cancels = CancelJob() in effects
            given_up = [effect.why for effect in effects if isinstance(effect, GiveUp)]
            self._todo.extend(e for e in effects if not isinstance(e, CancelJob | GiveUp))
            dropped = cancels and self._drop_queued_job()
            after = self._state
            self._meter.stepped(before, event, after)
            self.stages.step(after, event.now)
            self._changed.notify_all()
        self._log(lines_for(before, event, after))
        if after.phase is not before.phase:
            self._world.failpoint(f"worker:phase:{after.phase}")
        if dropped:
            self.deliver(JobDropped(event.now))
        elif cancels:
            self._cancel()
        for why in given_up:
            self._world.stuck(why)
        self._world.changed()

    def _log(self, lines: Sequence[Line]) -> None:
        for line in lines:
            log = structlog.get_logger().bind(**self._facts)
            log.log(line.level, line.event, **line.facts)

    def _cancel(self) -> None:
        self._world.turns.wake()
        try:
            (self._world.cancel or self._world.engine.cancel)(self._desired.task_id)
        except Exception:  # noqa: BLE001 -- the caller must go on; the cancel is repeated
            structlog.get_logger().exception("cancel failed", **self._facts)

    def _drop_queued_job(self) -> bool:
        """Remove a queued job that the thread has not begun: the engine does not know it yet."""
        for effect in self._todo:
            if isinstance(effect, ReadBatch | Merge):
                self._todo.remove(effect)
                return True
        return False

    def _run(self) -> None:
        # Log lines of the engine on this thread belong to this task.
        structlog.contextvars.bind_contextvars(**self._facts)
        try:
            while (effect := self._next()) is not None:
                self._world.failpoint(f"worker:before:{type(effect).__name__}")
                event = self._carried_out(effect)
                self._world.failpoint(f"worker:after:{type(effect).__name__}")
                if event:
                    self.deliver(event)
        finally:
            self._thread_ended = True
            self._world.changed()

    def _next(self) -> Effect | None:
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._todo or self._state.over)
                if not self._todo:
                    return None
                effect = self._todo.popleft()
                if not self._state.over or isinstance(effect, RecordEnd | Discard):
                    return effect

    def _carried_out(self, effect: Effect) -> Event | None:
        try:
            if not self._is_finishing(effect):
                return self._carry_out(effect)
            with self._world.gate.place(lambda: self._state.over or self._state.stopping) as held:
                return self._carry_out(effect) if held else self._dropped()
        except Exception as error:  # noqa: BLE001 -- any error fails this task only
            if isinstance(effect, ReadBatch | Merge) and self._engine_is_dead():
                return self._dropped("the engine's process has ended", own=True)
            if isinstance(error, NoSpace):
                return self._without_space(effect, str(error))
            return self._broke(error)

    def _without_space(self, effect: Effect, reason: str) -> Event | None:
        """Handle lack of space: half-written files do not count, and earlier files stay good."""
        structlog.get_logger().warning("no space", **self._facts, why=reason)
        if isinstance(effect, ReadBatch | Merge):
            return self._dropped(reason, own=True)
        if isinstance(effect, Append | DropTail):
            return Unwritten(self._world.monotonic(), reason)
        return None  # an unwritten end: the next append writes it, and every order has it

    def _broke(self, error: Exception) -> Event:
        now = self._world.monotonic()
        match error:
            case TaskError():
                return Broke(now, error.code, str(error))
            case OSError():
                return Broke(now, FailureCode.WRITE_FAILED, without_secrets(str(error)))
            case _:
                structlog.get_logger().error("task failed", **self._facts, exc_info=error)
                text = without_secrets(f"{type(error).__name__}: {error}")
                return Broke(now, FailureCode.INTERNAL, text)

    def _gives_up(self) -> bool:
        return self._state.over or self._state.stopping or self._state.cancelled_at is not None

    def _engine_is_dead(self) -> bool:
        """Return whether the JVM died: then a failed job's task goes on after the restart."""
        if self._world.engine_alive():
            # The pipe to a process breaks a little before the process is seen to have ended.
            with self._changed:
                self._changed.wait_for(lambda: self._state.over, self._world.engine_doubt_s)
        return not self._world.engine_alive()

    def _dropped(self, trouble: str = "", *, own: bool = False) -> JobDropped:
        return JobDropped(self._world.monotonic(), trouble, own=own)

    def _is_finishing(self, effect: Effect) -> bool:
        ending = self._state.end is not None
        return isinstance(effect, Merge | Publish) or (ending and isinstance(effect, ReadBatch))

    def _carry_out(self, effect: Effect) -> Event | None:
        began, outcome = self._world.monotonic(), FAILED
        try:
            event = self._done(effect)
            outcome = outcome_of(event)
            return event
        finally:
            self._meter.took(effect, outcome, self._world.monotonic() - began)

    def _done(self, effect: Effect) -> Event | None:
        now = self._world.monotonic
        match effect:
            case Look():
                return self._look()
            case ReadBatch(care=care):
                with self._world.turns.turn(alone=care.exclusive, given_up=self._gives_up) as held:
                    return self._work(effect) if held else self._dropped()
            case Merge():
                return self._work(effect)
            case Append(entry):
                self._kept_journal().append(entry)
                return Journaled(now())
            case RecordEnd(end):
                self._kept_journal().record_end(end)
                return None
            case DropTail(entries):
                # The journal first: no entry may ever name files that are gone.
                self._kept_journal().drop_tail(len(entries))
                self._drop(entries)
                return TailDropped(now())
            case Discard(entry):
                self._drop([entry])
                return None
            case Publish():
                return self._publish(effect)
            case CancelJob() | GiveUp():
                return None
            case _:
                assert_never(effect)

    def _look(self) -> Event:
        try:
            view = self._world.stream.look(self._desired.spec.kafka, sorted(self._state.start))
        except StreamTimeout as error:
            return LookFailed(self._world.monotonic(), str(error))
        return Looked(self._world.monotonic(), view)

    def _work(self, effect: ReadBatch | Merge) -> Event:
        task, engine = self._state.task, self._world.engine
        common = (task.task_id, self._state.incarnation)
        self._seen, self._in_engine = None, True
        try:
            if isinstance(effect, Merge):
                result = engine.merge(MergeJob(*common, task.spec, effect.entries))
                return Merged(self._world.monotonic(), result)
            job = BatchJob(
                *common,
                effect.number,
                task.spec,
                effect.start,
                effect.end,
                effect.columns,
                finishing=self._state.order.end is not None,
                kinds=effect.kinds,
                care=effect.care,
            )
            note, alive = running(task, effect), self._world.engine_alive
            with self._world.notes.noted(note, alive=alive, dead=self._engine_is_dead):
                entry = engine.read_batch(job)
            log_bad_records(task.task_id, entry, task.spec.tuning)
            return BatchRead(self._world.monotonic(), entry)
        except BatchCancelled:
            return self._dropped()
        except SchemasUnavailable as error:
            return replace(self._dropped(str(error)), lacks=Lack.SCHEMA_REGISTRY)
        except StreamTimeout as error:
            return self._dropped(str(error) or "Kafka did not answer while a batch was read")
        finally:
            self._in_engine = False

    def _publish(self, effect: Publish) -> Event:
        began = self._world.monotonic()
        try:
            answer = self._world.overlord.publish(self._desired, effect.request)
        except OverlordUnavailable as error:
            return self._unanswered(began, str(error))
        except Fenced:
            self._world.fenced()
            return Unanswered(self._world.monotonic(), "a newer incarnation of this worker exists")
        return Answered(self._world.monotonic(), answer)

    def _unanswered(self, began: float, reason: str) -> Unanswered:
        now = self._world.monotonic()
        waited_s = now - began if self._world.overlord_answers() else None
        return Unanswered(now, reason, waited_s)

    def _drop(self, entries: Sequence[JournalEntry]) -> None:
        # Files that stay behind are not in the journal, so they do not exist for anyone.
        with suppress(OSError, TaskError):
            self._world.engine.drop(self._desired.task_id, entries)

    def _kept_journal(self) -> Journal:
        assert self._journal is not None, "a task without a journal never begins"
        return self._journal
