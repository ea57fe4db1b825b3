"""The rows of the metadata database, as frozen values that every layer shares.

    generation   READING ──► PAUSING ──► PUBLISHING ──► PUBLISHED
                    │ ▲         │ │           └───────► DISCARDED
                    │ └─ resume ┘ └─ nothing read ────► EMPTY
                    └─────────────────────────────────► EMPTY, DISCARDED
    task         RUNNING ──► SUCCESS | FAILED

Times are aware and UTC; offsets are exclusive at the end.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.replica_digests import Divergence
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.ids import ordinal_of
from supervisor.core.values.permissions import Actor
from tasks.contract.messages import (
    Counters,
    OffsetSpan,
    PublishOutcome,
    RejectSample,
    RejectsFile,
    SegmentFile,
)
from tasks.contract.offsets import Offsets, TopicPartition


@dataclass(frozen=True)
class SpecVersion:
    """One version of a supervisor's spec; the newest counts.  `spec` None is a tombstone."""

    supervisor_id: str
    version: int
    """1, 2, 3, ... without a hole."""
    created_at: datetime
    spec: SupervisorSpec | None
    author: str = ""
    release: str | None = None
    """The release of Tidegate that stored the version; None: an old one, which noted no release."""
    reason: str | None = None
    """Why, in the words of the author; None: no reason was given."""

    @property
    def terminated(self) -> bool:
        """Whether this version is a tombstone, which ends the supervisor."""
        return self.spec is None


@dataclass(frozen=True)
class SpecHead:
    """The newest version of a supervisor's spec, without the spec."""

    supervisor_id: str
    version: int
    terminated: bool
    """Whether the version is a tombstone, which ends the supervisor."""


@dataclass(frozen=True)
class PresentVersion:
    """The newest version of a supervisor that is not terminated, without the spec."""

    supervisor_id: str
    version: int
    created_at: datetime
    author: str
    rests: bool
    """Whether the supervisor is at rest: it has read all that it names."""


@dataclass(frozen=True)
class TerminatedSupervisor:
    """How a supervisor ended that is terminated and not forgotten, and the spec that it had."""

    supervisor_id: str
    version: int
    """The newest version that has a spec, by which the supervisor can be brought back."""
    data_source: str | None
    """The table; None: a spec of a newer release, with no table at the usual place."""
    at: datetime
    """When it was terminated."""
    author: str
    reason: str | None
    """Why, in the words of the author; None: no reason was given."""


@dataclass(frozen=True)
class CommittedOffset:
    """The next offset of one partition that is not yet in a published segment."""

    supervisor_id: str
    partition: TopicPartition
    next_offset: int
    first_offset: int
    """Where this supervisor began to read the partition."""
    topic_id: str
    reset_epoch: int = 0


class GapKind(StrEnum):
    """The kind of a declared break in the committed offsets: its meaning for the table."""

    SKIPPED = "skipped"
    LOST = "lost"
    """Kafka no longer held the records of the range."""
    REPEATED = "repeated"
    RECREATED = "recreated"
    """The topic was recreated: offsets committed before this row are those of the earlier topic."""


@dataclass(frozen=True)
class OffsetGap:
    """An offset range that is declared absent, or present twice; `verify` accepts it."""

    supervisor_id: str
    partition: TopicPartition
    first: int
    end: int
    kind: GapKind
    author: str
    why: str
    at: datetime
    last_ordinal: int | None = None
    """Ordinal of the newest generation when the gap was declared; 0: there was none.  Only later
    generations publish offsets behind the gap.  None: an earlier release declared the gap."""


class GenerationState(StrEnum):
    """The state of a generation; see the diagram of the module."""

    READING = "READING"
    PAUSING = "PAUSING"
    PUBLISHING = "PUBLISHING"
    PUBLISHED = "PUBLISHED"
    EMPTY = "EMPTY"
    DISCARDED = "DISCARDED"
    UNKNOWN = "UNKNOWN"
    """A state that only a newer release knows: shown in lists, an error in decisions, never stored.
    """


OPEN_STATES = frozenset({GenerationState.READING, GenerationState.PAUSING})
"""States with an end that is not fixed; a partition is in at most one such generation."""
LIVE_STATES = OPEN_STATES | {GenerationState.PUBLISHING}


@dataclass(frozen=True)
class Generation:
    """One offset range of one task group: the unit that is handed off and published."""

    id: str
    supervisor_id: str
    data_source: str
    ordinal: int
    """Grows with every generation of the supervisor: a later generation has a higher ordinal."""
    layout_version: int
    task_count: int
    partition_count: int
    group: int
    spec_version: int
    """The version of the spec that all attempts of the generation's tasks run with."""
    state: GenerationState
    start: Offsets
    end: Offsets | None
    opened_at: datetime
    timer_started_at: datetime
    """Start of the taskDuration; later than `opened_at` once an empty range was resumed."""
    sequence: int = 0
    """Grows with every order to the generation's tasks: pause, end, resume."""
    handoff_request: str = ""
    """Reason of a request to hand the generation off early; empty: no request."""
    reset_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Reset epochs of the committed offsets when the generation opened; 0 where left out."""
    handoff_why: str = ""
    must_end: bool = False
    """Whether the handoff ends the generation even if nothing was read (suspend, terminate, new
    spec, bounds of rows that count from its opening)."""
    paused_at: datetime | None = None
    """When the first order of the present pause was given."""
    end_fixed_at: datetime | None = None
    ended_at: datetime | None = None
    first_finished_at: datetime | None = None
    """When the first replica had read to the end and requested to publish."""

    @property
    def live(self) -> bool:
        """Whether the generation still has work to do."""
        return self.state in LIVE_STATES

    @property
    def open(self) -> bool:
        """Whether the generation's end is not fixed yet."""
        return self.state in OPEN_STATES


class TaskStatus(StrEnum):
    """Druid's words for the state of a task, and one for states that this release does not know."""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"
    """A status that only a newer release knows: the row is shown and left alone; never stored."""


@dataclass(frozen=True)
class TaskTotals:
    """Counters and position of an ended task, from its last report."""

    counters: Counters
    position: Offsets


SLOT_TAKEN = "its slot goes to "
"""How the reason of a task begins that another range has displaced."""


@dataclass(frozen=True)
class Task:
    """One attempt of one replica; the row is the write intent of its output folder (P23)."""

    id: str
    supervisor_id: str
    data_source: str
    generation_id: str
    replica: int
    attempt: int
    worker_id: str
    incarnation: int
    """Incarnation of the worker when the task was assigned or last taken up again."""
    token: str
    status: TaskStatus
    created_at: datetime
    reason: str = ""
    ended_at: datetime | None = None
    taken_up: bool = False
    """Whether a newer incarnation of the worker continues the task from its journal."""
    outcome: PublishOutcome | None = None
    """The stored answer to the task's publish request, if the answer was final."""
    published: bool = False
    """Whether the task's files are segments; if so, its folder is never deleted whole."""
    folder_deleted_at: datetime | None = None
    lost: bool = False
    """Whether the task ended for an outer reason (worker lost, slot needed, range given up); this
    is no failure."""
    totals: TaskTotals | None = None
    """None: the task runs, or ended without a last report."""

    @property
    def active(self) -> bool:
        """Whether the task runs, or should run."""
        return self.status is TaskStatus.RUNNING

    @property
    def displaced(self) -> bool:
        """Whether it ended so that another range got its slot."""
        return self.lost and self.reason.startswith(SLOT_TAKEN)


@dataclass(frozen=True)
class WorkerRow:
    """A worker that has registered; liveness is soft state and not stored (P4)."""

    id: str
    incarnation: int
    url: str
    slots: int
    registered_at: datetime
    disabled: bool = False
    """Whether an operator has disabled the worker: it finishes its tasks and gets no new ones."""


@dataclass(frozen=True)
class Segment(ListedSegment):
    """One published, immutable Parquet file, with the offset spans of its rows."""

    file: SegmentFile


def with_spans(listed: ListedSegment, spans: Iterable[OffsetSpan]) -> Segment:
    """Return a listed segment with the offset spans of its rows."""
    facts = listed.file
    file = SegmentFile(
        path=facts.path,
        interval_start=facts.interval_start,
        interval_end=facts.interval_end,
        rows=facts.rows,
        size_bytes=facts.size_bytes,
        sha256=facts.sha256,
        time_min=facts.time_min,
        time_max=facts.time_max,
        spans=tuple(spans),
    )
    return Segment(**{**vars(listed), "file": file})


@dataclass(frozen=True)
class NamedFile:
    """A file of the warehouse that a row of the database names."""

    path: str
    """Relative to the warehouse."""
    size_bytes: int
    sha256: str
    task_id: str


@dataclass(frozen=True)
class RetentionRule:
    """The retention of a table's rows."""

    data_source: str
    keep_for: timedelta
    """A segment is marked unused once its interval ended this long ago."""
    author: str
    set_at: datetime


@dataclass(frozen=True)
class Publication:
    """The row that proves that a range was published; segments and rejects refer to it."""

    generation_id: str
    supervisor_id: str
    data_source: str
    task_id: str
    published_at: datetime
    start: Offsets
    end: Offsets
    rows: int
    rejected: int
    rejects: RejectsFile | None = None
    samples: tuple[RejectSample, ...] = ()
    digest: str | None = None
    """Digest of the range's records (`tasks.contract.digests`); None: not known."""
    diverged: tuple[Divergence, ...] = ()
    """Other replicas of the range whose digest differs."""
    forgotten_at: datetime | None = None
    """When the supervisor was forgotten: the files stay, the offsets have no meaning any more."""
    ranges: int = 1
    """Ranges that it stands for; more than one: old ranges were folded (`core.history.expiry`)."""

    @property
    def ordinal(self) -> int:
        """The ordinal of its generation; of a folded one, that of its first range."""
        return ordinal_of(self.generation_id)


@dataclass(frozen=True)
class StoredPlan:
    """The stored plan of one pass, for display."""

    supervisor_id: str
    at: datetime
    term: int
    actions: tuple[Mapping[str, str], ...]
    """One mapping per action: `action`, `about`, `why`."""
    error: str = ""


@dataclass(frozen=True)
class AuditEntry:
    """One change by a person or a leader; written in the transaction of the change."""

    at: datetime
    actor: str
    action: str
    subject: str
    detail: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    """Why, in the words of the person who acts; None: nobody gave a reason."""

    def __post_init__(self) -> None:
        """Add the actor's own facts to the detail; the change's facts win over them."""
        if isinstance(self.actor, Actor):
            object.__setattr__(self, "detail", {**self.actor.beside, **self.detail})
            object.__setattr__(self, "reason", self.reason or self.actor.reason)
            object.__setattr__(self, "actor", str(self.actor))


@dataclass(frozen=True)
class Lease:
    """The leader's lease: `term` grows with each new leader, `renewals` with each renewal."""

    term: int
    holder: str
    """The process that leads: `<its address for workers>#<process id>`; empty: released."""
    url: str
    renewals: int

    @property
    def address_for_workers(self) -> str | None:
        """The leader's address for workers; None: the holder has another form."""
        address, _, _ = self.holder.rpartition("#")
        return address if address.startswith("http") else None
