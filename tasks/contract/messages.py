"""The seam: every message between the control plane and the workers, and nothing else.

    worker ── SyncRequest (what I run) ─────► overlord   POST /internal/v1/workers/{worker}/sync
    worker ◄─ SyncResponse (what to run) ──── overlord   answered at once when it changes
    worker ── PublishRequest (range, files) ► overlord   POST /internal/v1/tasks/{task}/publish
    worker ◄─ PublishAnswer (closed set) ──── overlord
    worker ── CompactedFile ────────────────► overlord   POST /internal/v1/compactions/{id}/publish
    overlord ─ Order (pause, end, resume) ──► worker     /druid/worker/v1/chat/{task}/...

Both directions are level-triggered: a message repeats the whole state, so a lost one costs a
second and a repeated one changes nothing.  What a task should do is an `Order` with (term,
sequence); a worker ignores an order lower than the highest it has seen.  A task that the answer
no longer lists is to be stopped: the overlord has ended it.  Durations travel, never deadlines.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from tasks.contract.digests import PATTERN
from tasks.contract.ingest_spec import Column, FileFormat, IngestSpec
from tasks.contract.sample import DesiredSample
from tasks.contract.wire import Instant, Seconds, Shown, Truth, Whole, Wire, WireOffsets

MaybeDigest = Annotated[
    str | None, Field(default=None, pattern=PATTERN, exclude_if=lambda found: found is None)
]
"""What replicas compare (`tasks.contract.digests`).  Left out if there is none: an overlord from
before
there were digests reads the rest."""


class RunState(StrEnum):
    """What an order asks of a task."""

    RUN = "RUN"
    PAUSE = "PAUSE"


class Order(Wire):
    """What one task should do now; later orders have a higher (term, sequence)."""

    term: Whole
    sequence: Whole
    state: RunState
    end: WireOffsets | None = None
    """Read up to here, merge, publish.  None: no end is fixed yet."""
    pause_lease: Seconds = timedelta(seconds=60)
    """A paused task that hears nothing newer for this long resumes by itself."""

    @property
    def rank(self) -> tuple[int, int]:
        """Orders compare by it."""
        return self.term, self.sequence


class DesiredTask(Wire):
    """One task that a worker should run, whole: enough to start it or take it up again."""

    task_id: str
    token: str
    """Bearer token of this task, both for its control API and for its publish requests."""
    supervisor_id: str
    generation_id: str
    group: Whole
    replica: Whole
    attempt: Whole
    taken_up: Truth = False
    """Assigned under an earlier incarnation: go on from the journal, or report JOURNAL_LOST."""
    spec: IngestSpec
    start: WireOffsets
    bound: WireOffsets | None = None
    """No record at or beyond it is ever read; None: reading has no end of its own."""
    topic_ids: dict[str, str] = Field(default_factory=dict)
    """Topic -> id that the offsets belong to; another id means the topic was recreated."""
    order: Order
    turn: Truth = False
    """Every predecessor is published: a task that waits may ask to publish again."""


class TaskPhase(StrEnum):
    """Where a task stands, as its worker sees it; the last two are terminal."""

    STARTING = "STARTING"
    READING = "READING"
    PAUSED = "PAUSED"
    FINISHING = "FINISHING"
    """The end is known; reads what is left, then merges."""
    PUBLISHING = "PUBLISHING"
    WAITING = "WAITING"
    """Asked to publish and has to wait for its predecessor."""
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


class FailureCode(StrEnum):
    """Why a task failed; texts are for people, this is for programs."""

    JOURNAL_LOST = "JOURNAL_LOST"
    TOPIC_CHANGED = "TOPIC_CHANGED"
    OFFSETS_UNREADABLE = "OFFSETS_UNREADABLE"
    READ_FAILED = "READ_FAILED"
    WRITE_FAILED = "WRITE_FAILED"
    TOO_MANY_PARSE_EXCEPTIONS = "TOO_MANY_PARSE_EXCEPTIONS"
    REFUSED = "REFUSED"
    """The overlord or the worker's own limits refused the task or its publish."""
    INTERNAL = "INTERNAL"


class Lack(StrEnum):
    """What a task waits for that is neither Kafka nor this system; it reads on by itself then."""

    SCHEMA_REGISTRY = "SCHEMA_REGISTRY"


class Counters(Wire):
    """What a task's journaled batches hold; Druid's names where it has one."""

    processed: Whole = 0
    processed_with_error: Whole = 0
    unparseable: Whole = 0
    thrown_away: Whole = 0
    processed_bytes: Whole = 0
    batches: Whole = 0
    cancelled_rows: Whole = 0
    """Rows whose batch a pause cancelled: read, and read again later.  A stop adds none."""
    rejected: dict[str, Whole] = Field(default_factory=dict)
    """Reason -> records that became no row for it: the unparseable and the thrown away."""


class RejectSample(Wire):
    """One record that became no row, shortened for people."""

    topic: str
    partition: Whole
    offset: Whole
    reason: str
    input: str = Field(max_length=2_000)
    detail: str = Field(default="", max_length=2_000)
    """What was expected where, if the reason alone does not say it; no content of the record."""

    @property
    def why(self) -> str:
        """The reason, with its detail."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


class TaskReport(Wire):
    """How far one task is; positions count journaled batches only."""

    task_id: str
    phase: TaskPhase
    order_term: Whole
    order_sequence: Whole
    """The highest order this task has acted on."""
    position: WireOffsets
    counters: Counters = Counters()
    fullest_chunk_rows: Whole = 0
    """Rows, before any rollup, that its fullest time chunk has; 0 also from an older worker."""
    samples: tuple[RejectSample, ...] = ()
    failure: FailureCode | None = None
    detail: Shown = Field(default="", max_length=4_000)
    """Why it failed, or what it waits for."""
    lacks: Lack | None = None
    """What its last batch did not get; `detail` says the rest."""
    running_for: Seconds = timedelta(0)
    idle_for: Seconds = timedelta(0)
    """Since the last journaled batch or, without one, since the start."""
    batch_seconds: float = Field(default=0.0, strict=True)
    stalled_for: Seconds = timedelta(0)
    """How long it could have gone on and did not: while it waits for Kafka, for its predecessor or
    for an overlord that answers nothing at all, or has nothing to read, it is not stalled."""
    digest: MaybeDigest = None
    """What its whole range came to; None: it has not read to the fixed end, or it is not known."""


class CompactionReport(Wire):
    """One compaction that a worker runs, or could not do; reported until it is listed no more."""

    compaction_id: str
    failure: FailureCode | None = None
    """Why it cannot be done; None: it runs, or its file is offered."""
    detail: Shown = Field(default="", max_length=4_000)


class SyncRequest(Wire):
    """What one worker runs, and how long it is willing to wait for an answer."""

    worker_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    incarnation: Whole
    """Grows with every start of this worker; registering a higher one fences the lower."""
    previous_end: Shown = Field(default="", max_length=1_000)
    """How the incarnation before this one ended, as far as its data folder tells."""
    sequence: Whole
    """Grows with every request of this incarnation: a late request is not taken for news."""
    url: str
    """Base address of the worker's control API."""
    slots: Whole
    stopping: Truth = False
    tasks: tuple[TaskReport, ...] = ()
    compactions: tuple[CompactionReport, ...] = ()
    known: str | None = None
    """`revision` of the newest answer this worker has acted on."""
    wait: Seconds = timedelta(0)
    """Answer no later than this, at once if `known` is out of date."""


class OffsetSpan(Wire):
    """Which offsets of one partition a file's rows have: both bounds inclusive."""

    topic: str
    partition: Whole
    first: Whole
    last: Whole
    rows: Whole


class SegmentFile(Wire):
    """One Parquet file that a task offers for publishing; the path is relative to the warehouse."""

    path: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=1_000)
    interval_start: Instant
    interval_end: Instant
    rows: Whole = Field(ge=1)
    size_bytes: Whole = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    time_min: Instant
    time_max: Instant
    spans: tuple[OffsetSpan, ...]


class CompactionInput(Wire):
    """One published file that a compaction reads."""

    file: SegmentFile
    columns: tuple[Column, ...]
    """What it has at most, with the types in which it has it; our own are not among them."""


class DesiredCompaction(Wire):
    """Published files of one time chunk that a worker should rewrite as one file.

    The file holds every row of every input, in the order of a segment's rows, no row twice, and
    lies below `<data source>/data/<compaction id>/`.
    """

    compaction_id: str
    """A new one with each attempt: no two of them share a folder."""
    token: str
    """Bearer token of the request to publish."""
    data_source: str
    inputs: tuple[CompactionInput, ...]
    columns: tuple[Column, ...]
    """Those of the new file, in their order, each as wide as in any input."""
    files: FileFormat = FileFormat()
    raw: Truth = False
    """The files hold raw records, those of an errors table; `columns` say nothing."""


class CompactedFile(Wire):
    """A worker asks that one file takes the place of a compaction's inputs."""

    compaction_id: str
    incarnation: Whole
    file: SegmentFile


class KeptOrder(Wire):
    """What a task should do now whose spec the overlord cannot send: it has it from before."""

    task_id: str
    order: Order
    turn: Truth = False
    """As in `DesiredTask`."""


class SyncResponse(Wire):
    """What the worker should run, whole."""

    term: Whole
    revision: str
    tasks: tuple[DesiredTask, ...]
    compactions: tuple[DesiredCompaction, ...] = ()
    disabled: Truth = False
    """People have taken the worker out: it is given nothing new."""
    samples: tuple[DesiredSample, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Left out if there are none: a worker from before there were samples reads the rest."""
    kept: tuple[str, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Ids of tasks that go on with what they were ordered last: the overlord cannot read their
    spec, and so neither lists nor ends them.  Left out if there are none, as ever but then: a
    worker from before refuses an answer that has some, and goes on with all that it runs."""
    kept_orders: tuple[KeptOrder, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Of those of `kept` for which the overlord decides: a newer spec, or none, has followed."""


class RejectsFile(Wire):
    """Parquet of (topic, partition, first, last, reason): the offsets that became no row."""

    path: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=1_000)
    records: Whole = Field(ge=1)
    size_bytes: Whole = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    quarantined: Whole | None = Field(default=None, ge=0)
    """How many of the records, all that are bad, lie raw in the errors table; None: not all do."""


class PublishRequest(Wire):
    """A task asks that its files become the table's rows for its generation's range."""

    task_id: str
    incarnation: Whole
    start: WireOffsets
    end: WireOffsets
    topic_ids: dict[str, str]
    segments: tuple[SegmentFile, ...]
    rejects: RejectsFile | None = None
    columns: tuple[Column, ...] = ()
    """Those of the segments, but for our own; a segment may lack some."""
    quarantine: tuple[SegmentFile, ...] = ()
    """Raw records that could not be read: rows of the errors table, not of the table."""
    counters: Counters
    samples: tuple[RejectSample, ...] = ()
    digest: MaybeDigest = None
    """As in `TaskReport`."""


class PublishOutcome(StrEnum):
    """The closed set of answers; what the worker does follows from it alone (rule P22)."""

    COMMITTED = "committed"
    ALREADY_PUBLISHED = "already-published"
    WAIT_FOR_PREDECESSOR = "wait-for-predecessor"
    SUPERSEDED = "superseded"
    STALE = "stale"


class PublishAnswer(Wire):
    """The overlord's judgement; a repeated request gets the stored one."""

    outcome: PublishOutcome
    reason: str


class JournalFile(Wire):
    """One journaled data file, not yet published; the path is relative to the warehouse."""

    path: str
    rows: Whole
    size_bytes: Whole
    columns: tuple[Column, ...] = ()
    """As in `PublishRequest`."""


class JournalView(Wire):
    """The journaled files of one live task: `GET /druid/worker/v1/chat/{task}/journal`."""

    task_id: str
    position: WireOffsets
    files: tuple[JournalFile, ...]
