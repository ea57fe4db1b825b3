"""Events and effects of an ingestion task, as data: inputs and outputs of its state machine.

Every event carries `now` in monotonic seconds, because time is an input.  Both unions are closed:
each `match` over them ends in `assert_never`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tasks.contract.messages import FailureCode, Lack, Order, PublishAnswer, PublishRequest
from tasks.contract.offsets import Offsets
from tasks.ports import Care, JournalEntry, MergeResult, StreamView


@dataclass(frozen=True)
class Ordered:
    """An order arrived, new or repeated, by a sync or by the control API."""

    now: float
    order: Order


@dataclass(frozen=True)
class TurnKnown:
    """The overlord reports whether every predecessor is published."""

    now: float
    turn: bool


@dataclass(frozen=True)
class Looked:
    """Answer to `Look`."""

    now: float
    view: StreamView


@dataclass(frozen=True)
class LookFailed:
    """Kafka did not answer `Look` in time; nothing is known, and nothing is lost."""

    now: float
    reason: str


@dataclass(frozen=True)
class BatchRead:
    """Answer to `ReadBatch`: the files are on disk, nothing is journaled yet."""

    now: float
    entry: JournalEntry


@dataclass(frozen=True)
class JobDropped:
    """Answer to `ReadBatch` or `Merge`: the job was cancelled and left nothing behind.

    `trouble` names the cause; it is empty if the cancelling was requested.
    """

    now: float
    trouble: str = ""
    own: bool = False
    """True: the cause is on this worker, such as a full disk.  Elsewhere the task might go on."""
    lacks: Lack | None = None


@dataclass(frozen=True)
class JobMoved:
    """The running job showed progress, or waits for jobs of other tasks of this worker.

    Those jobs are watched themselves, so a task that waits for them is not to blame.
    """

    now: float


@dataclass(frozen=True)
class Journaled:
    """Answer to `Append`: the entry is durable."""

    now: float


@dataclass(frozen=True)
class Unwritten:
    """Answer to `Append` or `DropTail`: the disk is full, and the journal is unchanged."""

    now: float
    reason: str


@dataclass(frozen=True)
class TailDropped:
    """Answer to `DropTail`: the shorter journal is durable."""

    now: float


@dataclass(frozen=True)
class Merged:
    """Answer to `Merge`."""

    now: float
    result: MergeResult


@dataclass(frozen=True)
class Answered:
    """Answer to `Publish`."""

    now: float
    answer: PublishAnswer


@dataclass(frozen=True)
class Unanswered:
    """No overlord answered `Publish`; it may have committed all the same (R7)."""

    now: float
    reason: str
    waited_s: float | None = None
    """Seconds that the task waited for the answer.  None: the overlord answers nothing else either,
    so that it is away as a whole, and the time does not count."""


@dataclass(frozen=True)
class Broke:
    """An effect failed for good."""

    now: float
    code: FailureCode
    detail: str


@dataclass(frozen=True)
class Ticked:
    """Time passed: `TaskState.wake_at` is reached."""

    now: float


@dataclass(frozen=True)
class StopRequested:
    """End without publishing; the journal stays.  A job still running at `cancel_at` is cut."""

    now: float
    cancel_at: float


Event: TypeAlias = (
    Ordered
    | TurnKnown
    | Looked
    | LookFailed
    | BatchRead
    | JobDropped
    | JobMoved
    | Journaled
    | Unwritten
    | TailDropped
    | Merged
    | Answered
    | Unanswered
    | Broke
    | Ticked
    | StopRequested
)


@dataclass(frozen=True)
class Look:
    """Ask Kafka for offsets and topic ids."""


@dataclass(frozen=True)
class ReadBatch:
    """Read `[start, end)` into files."""

    number: int
    start: Offsets
    end: Offsets
    columns: tuple[str, ...]
    kinds: Mapping[str, int] = field(default_factory=dict)
    care: Care = Care.NONE
    reach: Offsets = field(default_factory=dict)
    """End of the records that the engine may unpack for the batch, some of them beyond it."""


@dataclass(frozen=True)
class CancelJob:
    """Cancel the job that runs now.  The thread that delivered the event does this at once."""


@dataclass(frozen=True)
class GiveUp:
    """End the worker at once, because its engine does not end a cancelled job."""

    why: str


@dataclass(frozen=True)
class Append:
    """Write one entry to the journal, durably."""

    entry: JournalEntry


@dataclass(frozen=True)
class RecordEnd:
    """Write the fixed end to the journal, durably."""

    end: Offsets


@dataclass(frozen=True)
class DropTail:
    """Remove these newest entries from the journal, durably, then delete their files (P14)."""

    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True)
class Discard:
    """Delete the files of a batch that will not be journaled."""

    entry: JournalEntry


@dataclass(frozen=True)
class Merge:
    """Make segments of all journaled files."""

    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True)
class Publish:
    """Ask the overlord to publish."""

    request: PublishRequest


Effect: TypeAlias = (
    Look
    | ReadBatch
    | CancelJob
    | GiveUp
    | Append
    | RecordEnd
    | DropTail
    | Discard
    | Merge
    | Publish
)
