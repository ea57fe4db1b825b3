"""The state of one task in `tasks/machine/machine.py`, and the task report from this state."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import TypeAlias

from tasks.contract.digests import together
from tasks.contract.ingest_spec import BadRecords, Tuning
from tasks.contract.messages import (
    Counters,
    DesiredTask,
    FailureCode,
    Lack,
    Order,
    RejectSample,
    TaskPhase,
    TaskReport,
)
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.machine.pacing import BatchSize, Limits, Pace
from tasks.machine.suspects import Suspect, describe_suspect
from tasks.ports import JournalEntry, MergeResult, StreamView

DETAIL_MAX = 4_000


@dataclass(frozen=True)
class LookWork:
    """Kafka was asked."""


@dataclass(frozen=True)
class ReadWork:
    """A batch over `[start, end)` runs since `since`."""

    number: int
    start: Offsets
    end: Offsets
    rows: int
    size: BatchSize
    since: float


@dataclass(frozen=True)
class Journaling:
    """This entry is being written to the journal."""

    entry: JournalEntry


@dataclass(frozen=True)
class Dropping:
    """These entries are being taken off the journal."""

    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True)
class Merging:
    """All files are being merged."""


@dataclass(frozen=True)
class PublishWork:
    """The overlord was asked to publish."""


Work: TypeAlias = LookWork | ReadWork | Journaling | Dropping | Merging | PublishWork


@dataclass(frozen=True)
class JournalContents:
    """The content of a journal that an earlier incarnation wrote."""

    entries: tuple[JournalEntry, ...]
    end: Offsets | None


@dataclass(frozen=True)
class Failure:
    """Why a task failed: a code for programs, a text for people."""

    code: FailureCode
    detail: str


@dataclass(frozen=True)
class TaskState:
    """One ingestion task at one moment; times are monotonic seconds."""

    task: DesiredTask
    """The task as first assigned; its newest order and turn are in the fields below."""
    incarnation: int
    limits: Limits
    pace: Pace
    phase: TaskPhase
    order: Order
    """The highest order seen, and acted on."""
    started_at: float
    progressed_at: float
    """When the last batch was journaled; before the first batch, when the task started."""
    number: int = 1
    """Number of the next batch.  No number is used twice, because files are named after it."""
    entries: tuple[JournalEntry, ...] = ()
    counters: Counters = field(default_factory=Counters)
    chunk_rows: Mapping[str, int] = field(default_factory=dict)
    """Start of a time chunk -> its rows in the journaled batches."""
    samples: tuple[RejectSample, ...] = ()
    batch_seconds: float = 0.0
    suspects: tuple[Suspect, ...] = ()
    """Those of the task's supervisor that the worker knew when the task began."""
    end: Offsets | None = None
    paused_until: float | None = None
    """When the lease of the pause is over; None: no pause is ordered."""
    cancel_at: float | None = None
    """When the running work is to be cancelled, if it still runs."""
    busy: Work | None = None
    """The work of the task's thread, which does one thing at a time."""
    moved_at: float = 0.0
    """When the running job began, or last showed progress."""
    cancelled_at: float | None = None
    """When the running job was cancelled first."""
    cancelled_for_stall: str = ""
    """Why the running job was cancelled, if the reason was a lack of progress; else empty."""
    blocked_locally: bool = False
    """True: a problem of this worker blocks the task, such as its disk, or a job that got stuck."""
    stalled_since: float | None = None
    """Since when the task could go on and has not.  None: the task waits for good reason."""
    batch_to_confirm: JournalEntry | None = None
    """The batch that is read, while its topic ids are not yet compared (P11)."""
    view: StreamView | None = None
    """The last look at Kafka; removed once a decision is based on it."""
    look_at: float = 0.0
    """Kafka is not asked before this time."""
    waiting_since: float | None = None
    """Since when records are known to wait; None: none do, or a batch has taken them."""
    read_at_once: bool = True
    """True: the records that are there now have waited unseen, so they do not linger."""
    merged: MergeResult | None = None
    predecessors_published: bool = False
    ask_at: float = 0.0
    """The overlord is not asked to publish before this time."""
    tries: int = 0
    """Number of unanswered or failed tries in a row."""
    unanswered_s: float = 0.0
    """How long the request to publish has had no answer, while the overlord answered others."""
    note: str = ""
    """What the task waits for."""
    missing_dependency: Lack | None = None
    """The dependency that the last batch lacked; None once a batch was read."""
    lease_note: str = ""
    """Text that a pause ended by its lease; kept until the next order."""
    failure: Failure | None = None
    stopping: bool = False
    stopped: bool = False
    """True: nothing runs, and nothing will run.  The thread may end; the journal stays."""
    wake_at: float | None = None
    """When a `Ticked` is due; None: nothing happens by time alone."""

    @property
    def start(self) -> Offsets:
        """Where the generation's range starts."""
        return self.task.start

    @property
    def position(self) -> Offsets:
        """The next offsets to read, by journaled batches alone."""
        return self.entries[-1].end if self.entries else self.task.start

    @property
    def digest(self) -> str | None:
        """Digest of the whole range.  None: the range is not read to its end, or not known."""
        if self.end is None or dict(self.position) != dict(self.end):
            return None  # the task reads on, or is beyond the end and has a tail to drop (P14)
        return together(entry.digest for entry in self.entries)

    @property
    def limit(self) -> Offsets | None:
        """How far the task may read: its end, else the bound of its supervisor; None: no end."""
        return self.task.bound if self.end is None else self.end

    @property
    def tuning(self) -> Tuning:
        """The spec's bounds of the loop."""
        return self.task.spec.tuning

    @property
    def terminal(self) -> bool:
        """Whether the task has ended, with success or not."""
        return self.phase in {TaskPhase.SUCCESS, TaskPhase.FAILED}

    @property
    def over(self) -> bool:
        """Whether the task's thread has nothing more to do."""
        return self.terminal or self.stopped


def report(state: TaskState, now: float) -> TaskReport:
    """Return the report of `state` at `now`, for the overlord."""
    detail = state.failure.detail if state.failure else state.note or state.lease_note
    return TaskReport(
        task_id=state.task.task_id,
        phase=state.phase,
        order_term=state.order.term,
        order_sequence=state.order.sequence,
        position=dict(state.position),
        counters=state.counters,
        fullest_chunk_rows=max(state.chunk_rows.values(), default=0),
        samples=state.samples,
        failure=state.failure.code if state.failure else None,
        detail=shortened(detail),
        lacks=None if state.terminal else state.missing_dependency,
        running_for=timedelta(seconds=max(0.0, now - state.started_at)),
        idle_for=timedelta(seconds=max(0.0, now - state.progressed_at)),
        batch_seconds=state.batch_seconds,
        stalled_for=timedelta(seconds=_stalled_s(state, now)),
        digest=state.digest,
        suspect="" if state.terminal else _suspect(state),
    )


def _suspect(state: TaskState) -> str:
    return shortened(describe_suspect(state.suspects, state.position))


def _stalled_s(state: TaskState, now: float) -> float:
    if state.stalled_since is None:
        return state.unanswered_s
    return max(0.0, now - state.stalled_since)


def totals(entries: Sequence[JournalEntry], cancelled_rows: int) -> Counters:
    """Return the sums over journaled batches."""
    summed = {name: sum(getattr(e.counters, name) for e in entries) for name in _SUMMED}
    return Counters(
        **summed,
        batches=len(entries),
        cancelled_rows=cancelled_rows,
        rejected=_by_reason(entry.counters for entry in entries),
    )


def added(counters: Counters, entry: JournalEntry) -> Counters:
    """Return `counters` with one more batch in them."""
    summed = {n: getattr(counters, n) + getattr(entry.counters, n) for n in _SUMMED}
    return Counters(
        **summed,
        batches=counters.batches + 1,
        cancelled_rows=counters.cancelled_rows,
        rejected=_by_reason((counters, entry.counters)),
    )


def rows_by_chunk(
    entries: Iterable[JournalEntry], before: Mapping[str, int] = MappingProxyType({})
) -> Mapping[str, int]:
    """Return start of a time chunk -> its rows, those of `entries` added to those of `before`."""
    summed = Counter(before)
    for entry in entries:
        summed.update(entry.chunk_rows)
    return summed


def _by_reason(entries: Iterable[Counters]) -> dict[str, int]:
    summed: dict[str, int] = {}
    for counters in entries:
        for reason, records in counters.rejected.items():
            summed[reason] = summed.get(reason, 0) + records
    return summed


_SUMMED = (
    "processed",
    "processed_with_error",
    "unparseable",
    "thrown_away",
    "processed_bytes",
)


def too_many_exceptions(state: TaskState) -> str:
    """Explain that the journaled batches have too many bad records for the spec; else empty."""
    most, counters = state.tuning.parse_exceptions_max, state.counters
    bad = counters.unparseable + counters.processed_with_error
    if state.tuning.bad_records is BadRecords.FAIL and counters.unparseable:
        rule = "badRecords is fail"
    elif most is not None and bad > most:
        rule = f"maxParseExceptions is {most}"
    else:
        return ""
    bad, partly = counters.unparseable, counters.processed_with_error
    summary = f"{bad:,} records cannot be read, {partly:,} in part"
    sample = next(iter(state.samples), None)
    first = f"; one is {sample.topic}:{sample.partition} {sample.offset}" if sample else ""
    why = f" ({sample.why})" if sample else ""
    return f"{summary}, {rule}{first}{why}"


def newest_samples(state: TaskState, entries: Sequence[JournalEntry]) -> tuple[RejectSample, ...]:
    """Return the last samples of `entries`, as many as the spec saves."""
    most = state.tuning.saved_parse_exceptions_max
    samples: list[RejectSample] = []
    for entry in reversed(entries):
        if len(samples) >= most:
            break
        samples[:0] = entry.samples
    return tuple(samples[-most:]) if most else ()


def written(offsets: Offsets) -> str:
    """Return offsets as text for people: `clicks:0 17, clicks:1 4`."""
    return ", ".join(f"{TopicPartition(*p)} {offsets[p]}" for p in sorted(offsets))


def shortened(text: str, longest: int = DETAIL_MAX) -> str:
    """Return `text`, cut to at most `longest` characters, the bound of the contract."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
