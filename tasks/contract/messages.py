"""The seam: all messages between the control plane and the workers.

    worker ── SyncRequest (what I run) ─────► overlord   POST /internal/v1/workers/{worker}/sync
    worker ◄─ SyncResponse (what to run) ──── overlord   answered at once when it changes
    worker ◄─ Unchanged (as before) ───────── overlord   to a worker that understands it
    worker ── PublishRequest (range, files) ► overlord   POST /internal/v1/tasks/{task}/publish
    worker ◄─ PublishAnswer (closed set) ──── overlord
    worker ── CompactedFile ────────────────► overlord   POST /internal/v1/compactions/{id}/publish
    overlord ─ Order (pause, end, resume) ──► worker     /druid/worker/v1/chat/{task}/...

Both directions are level-triggered: each message repeats the whole state.  So a lost message costs
a second, and a repeated message changes nothing.  An `Order` with its (term, sequence) says what a
task should do; a worker ignores an order lower than the highest one it has seen.  The worker stops
a task that the answer no longer lists, because the overlord has ended the task.  Messages carry
durations, never deadlines.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from tasks.contract.digests import PATTERN
from tasks.contract.ingest_spec import Column, FileFormat, IngestSpec
from tasks.contract.sample import DesiredSample
from tasks.contract.wire import Instant, Seconds, Shown, Truth, Whole, Wire, WireOffsets

MaybeDigest = Annotated[
    str | None, Field(default=None, pattern=PATTERN, exclude_if=lambda found: found is None)
]
"""Digest by which replicas are compared (`tasks.contract.digests`).  The field is left out if there
is no digest: an overlord of a release before digests can then read the rest."""


class RunState(StrEnum):
    """The state that an order puts a task in."""

    RUN = "RUN"
    PAUSE = "PAUSE"


class Order(Wire):
    """What one task should do now; later orders have a higher (term, sequence)."""

    term: Whole
    sequence: Whole
    state: RunState
    end: WireOffsets | None = None
    """The task reads up to this end, merges and publishes.  None: no end is fixed yet."""
    pause_lease: Seconds = timedelta(seconds=60)
    """A paused task that gets no newer order for this long resumes by itself."""

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key of orders; a newer order has a higher rank."""
        return self.term, self.sequence


class DesiredTask(Wire):
    """One task that a worker should run: all that it takes to start or to continue the task."""

    task_id: str
    token: str
    """Bearer token of this task, both for its control API and for its publish requests."""
    supervisor_id: str
    generation_id: str
    group: Whole
    replica: Whole
    attempt: Whole
    taken_up: Truth = False
    """The task was assigned under an earlier incarnation of the worker.  It continues from its
    journal, or reports JOURNAL_LOST."""
    spec: IngestSpec
    start: WireOffsets
    bound: WireOffsets | None = None
    """No record at or beyond this bound is ever read.  None: reading has no bound."""
    topic_ids: dict[str, str] = Field(default_factory=dict)
    """Topic -> topic id that the offsets belong to.  Another id: the topic was recreated."""
    order: Order
    turn: Truth = False
    """True: every predecessor is published, so that a waiting task may ask to publish again."""
    debug: Truth = Field(default=False, exclude_if=lambda wanted: not wanted)
    """All its reports are kept.  Left out if false: a worker of a release before refuses it."""


class TaskPhase(StrEnum):
    """Phase of a task, as its worker sees it; the last two phases are terminal."""

    STARTING = "STARTING"
    READING = "READING"
    PAUSED = "PAUSED"
    FINISHING = "FINISHING"
    """The end is known: the task reads what is left, then merges."""
    PUBLISHING = "PUBLISHING"
    WAITING = "WAITING"
    """The task asked to publish and has to wait for its predecessor."""
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


class FailureCode(StrEnum):
    """Why a task failed: a code for programs, beside the text for people."""

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
    """External dependency that a task waits for, other than Kafka.

    The task reads on by itself once the dependency is back.
    """

    SCHEMA_REGISTRY = "SCHEMA_REGISTRY"


class Counters(Wire):
    """Counts over the journaled batches of a task, with Druid's names where Druid has one."""

    processed: Whole = 0
    processed_with_error: Whole = 0
    unparseable: Whole = 0
    thrown_away: Whole = 0
    processed_bytes: Whole = 0
    batches: Whole = 0
    cancelled_rows: Whole = 0
    """Rows of batches that a pause cancelled, and that are read again later.  A stop adds none."""
    rejected: dict[str, Whole] = Field(default_factory=dict)
    """Reason -> records that became no row for this reason, both unparseable and thrown away."""


class RejectSample(Wire):
    """One record that became no row, shortened for people."""

    topic: str
    partition: Whole
    offset: Whole
    reason: str
    input: str = Field(max_length=2_000)
    detail: str = Field(default="", max_length=2_000)
    """The expected value and its place, if the reason alone does not name them.  It never holds
    content of the record."""

    @property
    def why(self) -> str:
        """The reason, with its detail."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


class TaskReport(Wire):
    """Progress of one task; positions count journaled batches only."""

    task_id: str
    phase: TaskPhase
    order_term: Whole
    order_sequence: Whole
    """The highest order this task has acted on."""
    position: WireOffsets
    counters: Counters = Counters()
    fullest_chunk_rows: Whole = 0
    """Rows of the task's fullest time chunk, before any rollup.  An older worker always sends 0."""
    samples: tuple[RejectSample, ...] = ()
    failure: FailureCode | None = None
    detail: Shown = Field(default="", max_length=4_000)
    """Why the task failed, or what the task waits for."""
    lacks: Lack | None = None
    """The dependency that the last batch lacked; `detail` explains it."""
    running_for: Seconds = timedelta(0)
    idle_for: Seconds = timedelta(0)
    """Time since the last journaled batch; without one, since the start of the task."""
    batch_seconds: float = Field(default=0.0, strict=True)
    stalled_for: Seconds = timedelta(0)
    """How long the task could have gone on and did not.  A task is not stalled while it waits for
    Kafka, for its predecessor or for an overlord that answers nothing at all, or while it has
    nothing to read."""
    digest: MaybeDigest = None
    """Digest of the whole range.  None: the task has not read to the fixed end, or the digest is
    not known."""
    suspect: Shown = Field(default="", max_length=4_000, exclude_if=lambda found: not found)
    """The offsets ahead of the task at which its worker's JVM ended twice or more often, as text.
    The field is left out if there are none, so that an overlord of a release before this field
    reads the rest; it refuses a report that has some."""


class CompactionReport(Wire):
    """One compaction that a worker runs or could not do.

    The worker reports the compaction until the overlord no longer lists it.
    """

    compaction_id: str
    failure: FailureCode | None = None
    """Why the compaction cannot be done.  None: it runs, or its file is offered."""
    detail: Shown = Field(default="", max_length=4_000)


class SyncRequest(Wire):
    """Report of one worker: all that the worker runs, and how long it waits for the answer."""

    worker_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    incarnation: Whole
    """Grows with every start of this worker; registering a higher one fences the lower."""
    previous_end: Shown = Field(default="", max_length=1_000)
    """How the incarnation before this one ended, as far as the worker's data folder shows it."""
    sequence: Whole
    """Grows with every request of this incarnation, so that a late request is recognized as old."""
    url: str = Field(pattern=r"^https?://[^\s/?#@\\]{1,300}/?$")
    """Base address of the worker's control API: http://host:port."""
    slots: Whole
    stopping: Truth = False
    tasks: tuple[TaskReport, ...] = ()
    compactions: tuple[CompactionReport, ...] = ()
    known: str | None = None
    """`revision` of the newest answer this worker has acted on."""
    wait: Seconds = timedelta(0)
    """The overlord answers no later than this, and at once if `known` is out of date."""


class OffsetSpan(Wire):
    """Offsets of the rows that a file has of one partition; both bounds are inclusive."""

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
    """The columns that the file has at most, with the types that they have in the file.  Columns
    that the product itself adds are not listed."""


class DesiredCompaction(Wire):
    """Published files of one time chunk that a worker should rewrite as one file.

    The new file holds every row of every input once, in the order of a segment's rows.  It lies
    below `<data source>/data/<compaction id>/`.
    """

    compaction_id: str
    """Each attempt has a new id, so that no two attempts share a folder."""
    token: str
    """Bearer token with which the worker asks to publish."""
    data_source: str
    inputs: tuple[CompactionInput, ...]
    columns: tuple[Column, ...]
    """The columns of the new file, in order; each type is as wide as the widest of the inputs."""
    files: FileFormat = FileFormat()
    raw: Truth = False
    """True: the files hold raw records of an errors table, and `columns` has no meaning."""


class CompactedFile(Wire):
    """Request of a worker that one file takes the place of the inputs of a compaction."""

    compaction_id: str
    incarnation: Whole
    file: SegmentFile


class KeptOrder(Wire):
    """Order for a task whose spec the overlord cannot send; the worker has the spec from before."""

    task_id: str
    order: Order
    turn: Truth = False
    """As in `DesiredTask`."""


class SyncResponse(Wire):
    """Everything that the worker should run."""

    term: Whole
    revision: str
    tasks: tuple[DesiredTask, ...]
    compactions: tuple[DesiredCompaction, ...] = ()
    disabled: Truth = False
    """An operator has disabled the worker: it gets no new task."""
    samples: tuple[DesiredSample, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Left out if there are none, so that a worker of a release before samples reads the rest."""
    kept: tuple[str, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Ids of tasks that go on with their last order.  The overlord cannot read the spec of these
    tasks, and so neither lists nor ends them.  The field is left out if there are none, which is
    the usual case.  A worker of a release before this field refuses an answer that has some, and
    goes on with all that it runs."""
    kept_orders: tuple[KeptOrder, ...] = Field(default=(), exclude_if=lambda found: not found)
    """New orders for those tasks of `kept` that the overlord still decides on: their spec was
    followed by a newer one, or by a tombstone."""


KNOWN_TERM_HEADER = "X-Tidegate-Known-Term"
"""Header of a sync: the term of the answer whose revision is `known`, as a decimal number.

With it, a worker says that it still has that answer, and that it understands `Unchanged`.  An
overlord of an earlier release ignores the header; in the body it would refuse an unknown field."""


class Unchanged(Wire):
    """Short answer to a sync with `KNOWN_TERM_HEADER`: the worker has the present answer already.

    It stands for the `SyncResponse` with this term and revision, and only such a one.
    """

    unchanged: Literal[True]
    term: Whole
    revision: str


class RejectsFile(Wire):
    """Parquet of (topic, partition, first, last, reason): the offsets that became no row."""

    path: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=1_000)
    records: Whole = Field(ge=1)
    size_bytes: Whole = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    quarantined: Whole | None = Field(default=None, ge=0)
    """Number of bad records, if all of them lie raw in the errors table.  None: not all do."""


class PublishRequest(Wire):
    """Request of a task that its files become the table's rows for the range of its generation."""

    task_id: str
    incarnation: Whole
    start: WireOffsets
    end: WireOffsets
    topic_ids: dict[str, str]
    segments: tuple[SegmentFile, ...]
    rejects: RejectsFile | None = None
    columns: tuple[Column, ...] = ()
    """The columns of the segments, without those that the product itself adds.  A segment may lack
    some of them."""
    quarantine: tuple[SegmentFile, ...] = ()
    """Files of raw bad records: rows of the errors table, not of the table itself."""
    counters: Counters
    samples: tuple[RejectSample, ...] = ()
    digest: MaybeDigest = None
    """As in `TaskReport`."""


class PublishOutcome(StrEnum):
    """The closed set of outcomes, from which alone follows what the worker does (rule P22)."""

    COMMITTED = "committed"
    ALREADY_PUBLISHED = "already-published"
    WAIT_FOR_PREDECESSOR = "wait-for-predecessor"
    SUPERSEDED = "superseded"
    STALE = "stale"


class PublishAnswer(Wire):
    """The overlord's judgement of a publish request; a repeated request gets the stored one."""

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
