"""What a batch is made of: letters of the history, requests of this process, times that came."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from supervisor.core.executions.entities import Execution, StepError
from supervisor.core.executions.inputs import (
    ExecutionInput,
    Fails,
    GateInput,
    Report,
    SlotFreed,
    SlotWanted,
    Succeeded,
    Tick,
    Waits,
)
from supervisor.core.executions.records import UnreadableRecord
from supervisor.core.executions.reduced import Cancel, ClaimReply, Drop
from supervisor.executions.sequencer.batch import PartitionBatch
from supervisor.executions.sequencer.held import HeldPartition
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionPurge,
    ExecutionStart,
    GateGiven,
    Letter,
)
from supervisor.ports.flows.execution_log import (
    FILLER_KEY,
    LogEntry,
    LogRecord,
    LogTooLarge,
    LogTopic,
)

__all__ = [
    "LetterWork",
    "PartitionWork",
    "RequestWork",
    "TickWork",
    "WorkedInputs",
    "dead_letter",
    "dropped_letter",
    "shorter_report",
]

_WHY_MAX = 1_000


@dataclass(frozen=True)
class WorkedInputs:
    """What came of a request, once it is committed."""

    started: frozenset[str] = frozenset()
    """Ids of the executions that are new."""
    replies: Sequence[ClaimReply | Cancel] = ()
    dropped: Sequence[tuple[str, ExecutionInput | GateInput, Drop]] = ()


@dataclass
class LetterWork:
    """A record of the history; `why` it cannot be worked in, or nothing.

    A filler has no letter, and nothing follows from it.
    """

    record: LogRecord
    letter: Letter | None = None
    why: str = ""
    reason: str = ""
    """Under which it is counted."""
    bare: bool = False
    """Whether its dead letter goes without its value, which is too large."""

    @classmethod
    def of(cls, record: LogRecord) -> "LetterWork":
        """Read a record.

        Raises:
            NewerRecord: a newer release has written it.
        """
        if record.key == FILLER_KEY and record.value is None:
            return cls(record)
        if record.value is None:
            return cls(record, None, "it has no value", "undecodable")
        try:
            record.key.decode()
            return cls(record, LETTER_FORM.read(record.value))
        except (UnreadableRecord, UnicodeDecodeError) as error:
            return cls(record, None, str(error), "undecodable")

    def put(self, batch: PartitionBatch, held: HeldPartition) -> None:
        """Queue it in a batch."""
        key = self.record.key.decode(errors="replace")
        unreadable = None if isinstance(self.letter, GateGiven) else held.unreadable(key)
        if unreadable is not None and not self.why:
            self.why, self.reason = f"the execution cannot be read: {unreadable}", "set_aside"
        if self.why:
            return
        match self.letter:
            case ExecutionStart(execution):
                batch.start(execution)
            case ExecutionGiven(given):
                batch.send(key, given)
            case GateGiven(wanted):
                batch.send_gate(key, wanted)
            case ExecutionPurge():
                self.reason = "" if batch.purge(key) else Drop.NOT_LIVE
            case None:
                return  # a filler

    @property
    def spoiled(self) -> bool:
        """Whether nothing more can be left out of it."""
        return self.bare

    def spoil(self, error: Exception) -> None:
        """Make it a dead letter: the batch fails with it alone.

        What a call gave that is too large fails the call instead.
        """
        if isinstance(error, LogTooLarge) and isinstance(self.letter, ExecutionGiven):
            shorter = shorter_report(self.letter.given)
            if shorter is not None:
                self.letter = ExecutionGiven(shorter)
                return
        self.bare = bool(self.why)
        self.why, self.reason = f"{type(error).__name__}: {error}"[:_WHY_MAX], "internal"

    def dead(self, partition: int) -> Iterator[LogEntry]:
        """Yield its dead letter, if it is one."""
        if self.why:
            value = None if self.bare else self.record.value
            source = f"{partition}:{self.record.offset}"
            yield dead_letter(self.record.key, value, self.why, source)


@dataclass
class RequestWork:
    """Inputs of this process; their answer waits for the commit."""

    inputs: Sequence[tuple[str, ExecutionInput]]
    starts: Sequence[Execution]
    answer: "Future[WorkedInputs]" = field(default_factory=Future)
    reason: str = ""
    error: Exception | None = None

    def put(self, batch: PartitionBatch, held: HeldPartition) -> None:
        """Queue them in a batch."""
        if self.error is not None:
            return
        entities = [*(one.id for one in self.starts), *(name for name, _ in self.inputs)]
        for entity in entities:
            if (why := held.unreadable(entity)) is not None:
                self.error = UnreadableRecord(f"execution {entity}: {why}")
                return
        for execution in self.starts:
            batch.start(execution)
        for name, given in self.inputs:
            batch.send(name, given)

    @property
    def spoiled(self) -> bool:
        """Whether it is left out."""
        return self.error is not None

    def spoil(self, error: Exception) -> None:
        """Note that the batch fails with it alone; calls fail that gave what is too large."""
        if isinstance(error, LogTooLarge):
            shorter = [(name, shorter_report(given)) for name, given in self.inputs]
            if any(given is not None for _, given in shorter):
                self.inputs = [
                    (name, new or given)
                    for (name, given), (_, new) in zip(self.inputs, shorter, strict=True)
                ]
                return
        self.error = error

    def dead(self, partition: int) -> Iterator[LogEntry]:  # noqa: ARG002 -- one shape for all
        """Yield nothing: who asked hears of it."""
        yield from ()

    def fail(self, error: BaseException) -> None:
        """Answer that nothing is known of it."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def succeed(self, batch: PartitionBatch, held: HeldPartition) -> None:  # noqa: ARG002
        """Answer with what was committed; `held`: how everything is now."""
        if self.error is not None:
            self.fail(self.error)
            return
        own = {id(given) for _, given in self.inputs}
        runs = {getattr(given, "run", None) for _, given in self.inputs}
        self.answer.set_result(
            WorkedInputs(
                frozenset(one.id for one in self.starts) & batch.new,
                [reply for reply in batch.replies if reply.run in runs],
                [drop for drop in batch.dropped if id(drop[1]) in own],
            )
        )


@dataclass
class TickWork:
    """The time of an execution has come."""

    execution: str
    reason: str = ""
    error: Exception | None = None

    def put(self, batch: PartitionBatch, held: HeldPartition) -> None:  # noqa: ARG002
        """Queue it in a batch."""
        if self.error is None:
            batch.send(self.execution, Tick())

    @property
    def spoiled(self) -> bool:
        """Whether it is left out."""
        return self.error is not None

    def spoil(self, error: Exception) -> None:
        """Note that the batch fails with it alone."""
        self.error = error

    def dead(self, partition: int) -> Iterator[LogEntry]:  # noqa: ARG002 -- one shape for all
        """Yield nothing: there is no record of it."""
        yield from ()


PartitionWork = LetterWork | RequestWork | TickWork


def shorter_report(given: ExecutionInput) -> Report | None:
    """Return a report that what a call gave is too large; None: it gave nothing."""
    if isinstance(given, Report) and isinstance(given.outcome, Succeeded | Waits):
        error = StepError("output-too-large", "what it gave is larger than Kafka takes")
        return replace(given, outcome=Fails(error))
    return None


def dead_letter(key: bytes, value: bytes | None, why: str, source: str) -> LogEntry:
    """Return the record of what could not be worked in; `source` is `partition:offset`."""
    headers = {"tidegate-why": why, "tidegate-from": source}
    return LogEntry(LogTopic.DEAD, 0, key, value, headers)


def dropped_letter(
    entity: str, given: ExecutionInput | GateInput, reason: Drop, partition: int
) -> LogEntry:
    """Return the dead letter of an input that names what the reducer has not made."""
    match given:
        case SlotWanted() | SlotFreed():
            body = LETTER_FORM.write(GateGiven(given))
        case _:
            body = LETTER_FORM.write(ExecutionGiven(given))
    return dead_letter(entity.encode(), body, reason, f"{partition}:")
