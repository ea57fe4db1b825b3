"""A task's machine on a bench: effects are carried out one by one, by the test's hand or all."""

from dataclasses import dataclass, field

from tasks.contract.messages import Counters, DesiredTask, PublishAnswer, PublishOutcome
from tasks.contract.offsets import Offsets
from tasks.machine.events import (
    Answered,
    Append,
    BatchRead,
    CancelJob,
    Discard,
    DropTail,
    Effect,
    Event,
    JobDropped,
    Journaled,
    Look,
    Looked,
    LookFailed,
    Merge,
    Merged,
    Publish,
    ReadBatch,
    RecordEnd,
    TailDropped,
    Ticked,
)
from tasks.machine.machine import begin, step
from tasks.machine.pacing import Limits
from tasks.machine.state import JournalContents, TaskState
from tasks.ports import BatchJob, JournalEntry, MergeResult, StreamTimeout
from tests.tasks.memory import MemoryLog, entry_of

BATCH_S = 1.0


@dataclass
class Bench:
    """One task under a clock of its own; its journal is a list."""

    task: DesiredTask
    log: MemoryLog
    limits: Limits = field(default_factory=Limits)
    now: float = 100.0
    incarnation: int = 7
    journal: list[JournalEntry] = field(default_factory=list)
    journal_end: Offsets | None = None
    dropped: list[JournalEntry] = field(default_factory=list)
    published: list[Publish] = field(default_factory=list)
    outcome: PublishOutcome = PublishOutcome.COMMITTED
    todo: list[Effect] = field(default_factory=list)
    cancels: int = 0
    bad: Counters = field(default_factory=Counters)
    """What each batch finds beside its rows."""
    state: TaskState = field(init=False)

    def __post_init__(self) -> None:
        self.restart(held=None)

    def restart(self, held: JournalContents | None) -> None:
        """Begin anew, as a new incarnation does."""
        self.todo = []
        self.state, effects = begin(self.task, self.incarnation, held, self.limits, self.now)
        self._take(effects)

    def held(self) -> JournalContents:
        return JournalContents(tuple(self.journal), self.journal_end)

    def deliver(self, event: Event) -> None:
        self.state, effects = step(self.state, event)
        self._take(effects)

    def _take(self, effects: tuple[Effect, ...]) -> None:
        self.cancels += sum(isinstance(effect, CancelJob) for effect in effects)
        self.todo += [effect for effect in effects if not isinstance(effect, CancelJob)]

    def run(self, seconds: float = 0.0) -> None:
        """Carry out all there is to do, and let time pass from one wake-up to the next."""
        until = self.now + seconds
        while True:
            while self.todo:
                self.carry_out()
            wake_at = self.state.wake_at
            if wake_at is None or wake_at > until:
                break
            self.now = max(self.now, wake_at)
            self.deliver(Ticked(self.now))
        self.now = max(self.now, until)

    def carry_out(self) -> Effect:
        """Carry out the next effect; a batch takes a second."""
        effect = self.todo.pop(0)
        if (event := self._answer(effect)) is not None:
            self.deliver(event)
        return effect

    def cancelled(self) -> None:
        """The running job was cancelled."""
        self.todo.pop(0)
        self.deliver(JobDropped(self.now))

    def _answer(self, effect: Effect) -> Event | None:
        match effect:
            case Look():
                return self._look()
            case ReadBatch():
                self.now += BATCH_S
                entry = entry_of(self.job(effect))
                found = self.bad.model_copy(update={"processed": entry.counters.processed})
                return BatchRead(self.now, entry.model_copy(update={"counters": found}))
            case Append(entry):
                self.journal.append(entry)
                return Journaled(self.now)
            case DropTail(entries):
                del self.journal[len(self.journal) - len(entries) :]
                self.dropped += entries
                return TailDropped(self.now)
            case RecordEnd(end):
                self.journal_end = end
                return None
            case Discard(entry):
                self.dropped.append(entry)
                return None
            case Merge():
                return Merged(self.now, MergeResult((), None))
            case Publish():
                self.published.append(effect)
                answer = PublishAnswer(outcome=self.outcome, reason=f"because {self.outcome}")
                return Answered(self.now, answer)
            case _:
                raise AssertionError(effect)

    def _look(self) -> Event:
        try:
            view = self.log.look(self.task.spec.kafka, sorted(self.task.start))
        except StreamTimeout as error:
            return LookFailed(self.now, str(error))
        return Looked(self.now, view)

    def job(self, effect: ReadBatch) -> BatchJob:
        return BatchJob(
            self.task.task_id,
            self.incarnation,
            effect.number,
            self.task.spec,
            effect.start,
            effect.end,
            effect.columns,
            kinds=effect.kinds,
        )
