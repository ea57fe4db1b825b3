"""One task at work on a simulated worker: the product's runner without its thread.

Steps, orders, cancellations and errors are the product's own.  An effect takes simulated time, one
after the other, and the process may end before it, in the middle of it or after it.
"""

from typing import TYPE_CHECKING

from tasks.contract.messages import DesiredTask, PublishAnswer
from tasks.machine.events import (
    Answered,
    BatchRead,
    Discard,
    DropTail,
    Effect,
    Event,
    JobDropped,
    JobMoved,
    Merge,
    Publish,
    ReadBatch,
    RecordEnd,
    Unanswered,
)
from tasks.machine.orders import Step
from tasks.ports import Fenced
from tasks.worker.journal import Journal
from tasks.worker.runner import TaskRunner

if TYPE_CHECKING:
    from tests.simulation.processes.worker import WorkerProcess


class Actor(TaskRunner):
    """A task whose effects are events of its worker's life."""

    def __init__(
        self,
        desired: DesiredTask,
        journal: Journal | None,
        first: Step,
        host: "WorkerProcess",
    ) -> None:
        super().__init__(desired, journal, first, host.world)
        self._host = host
        self._running: Effect | None = None
        self._job = 0
        """Counts effects: the end of one that was cut is not the end of the next."""
        self._ticks: float | None = None
        self._began = 0.0
        """When the effect that runs now began, by the clock of its machine."""

    @property
    def ended(self) -> bool:
        """Whether nothing of this task runs any more."""
        return self._state.over and self._running is None and not self._todo

    def start(self) -> None:
        """Begin to carry out what there is to do."""
        self.go_on()

    def deliver(self, event: Event) -> None:
        """Make the step that `event` asks for, and what follows from it."""
        before = self._state.phase
        super().deliver(event)
        if self._state.phase is not before:
            self._host.moved(self, before)
        self.go_on()

    def cut(self) -> None:
        """Let the running job end soon, without a result."""
        if isinstance(self._running, ReadBatch | Merge) and not self._host.is_deaf(self):
            job = self._job
            self._host.later(self._host.random.uniform(0.01, 0.3), lambda: self._job_cut(job))

    def _job_cut(self, job: int) -> None:
        if job == self._job and self._running is not None:
            if isinstance(self._running, ReadBatch):
                self._host.took_back(self, "cut")
            self._finished()
            self.deliver(JobDropped(self._host.monotonic()))

    def keep_moving(self, every_s: float) -> None:
        """Let the running job show progress again and again; what looks for it is a thread's."""
        job = self._job

        def look() -> None:
            if job == self._job and self._running is not None:
                self.deliver(JobMoved(self._host.monotonic()))
                self.keep_moving(every_s)

        self._host.later(every_s, look)

    def go_on(self) -> None:
        """Begin the next effect, if none runs and there is one that may."""
        self._set_alarm()
        while self._running is None and self._todo:
            effect = self._todo[0]
            if self._state.over and not isinstance(effect, RecordEnd | Discard):
                self._todo.popleft()
                continue
            if self._is_finishing(effect) and not self._host.enter_finishing(self):
                if not self._state.stopping:
                    return  # it is called again when a place is free
                self._todo.popleft()
                self.deliver(self._dropped())
                return
            self._todo.popleft()
            self._begin(effect)

    def _set_alarm(self) -> None:
        wake_at = self._state.wake_at
        if wake_at is None or (self._ticks is not None and self._ticks <= wake_at):
            return
        self._ticks = wake_at
        self._host.later(wake_at - self._host.monotonic() + 1e-6, self._alarm)

    def _alarm(self) -> None:
        self._ticks = None
        self.tick()
        self._set_alarm()

    def _begin(self, effect: Effect) -> None:
        self._running, self._began = effect, self._host.monotonic()
        self._job += 1
        job = self._job
        self._host.reach(f"worker:before:{type(effect).__name__}")
        if isinstance(effect, Publish):
            self._host.publish(self, effect)
        else:
            self._host.later(self._host.duration(self, effect), lambda: self._end(job))

    def _end(self, job: int) -> None:
        if job != self._job or self._running is None:
            return
        effect = self._running
        event = self._carried_out(effect)
        if _takes_back(effect, event):
            self._host.took_back(self, type(effect).__name__)
        self._host.reach(f"worker:after:{type(effect).__name__}")
        self._finished()
        if event is None:
            self.go_on()
        else:
            self.deliver(event)

    def _finished(self) -> None:
        self._running = None
        self._job += 1
        self._host.leave_finishing(self)

    def answered(self, answer: object) -> None:
        """Take what came of the publish request."""
        if not isinstance(self._running, Publish):
            return
        self._host.reach("worker:after:Publish")
        self._finished()
        now = self._host.monotonic()
        if isinstance(answer, PublishAnswer):
            self.deliver(Answered(now, answer))
            return
        if isinstance(answer, Fenced):
            self._host.fenced()
            self.deliver(Unanswered(now, str(answer)))
            return
        self.deliver(self._unanswered(self._began, str(answer)))


def _takes_back(effect: Effect, event: Event | None) -> bool:
    """Tell whether something that was read counts no more: a batch failed, or files are dropped."""
    failed = isinstance(effect, ReadBatch) and not isinstance(event, BatchRead)
    return failed or isinstance(effect, Discard | DropTail)
