"""What is: the rows of the metadata database, as frozen values that every layer shares.

    generation   READING ──► PAUSING ──► PUBLISHING ──► PUBLISHED
                    │ ▲         │ │           └───────► DISCARDED
                    │ └─ resume ┘ └─ nothing read ────► EMPTY
                    └─────────────────────────────────► EMPTY, DISCARDED
    task         RUNNING ──► SUCCESS | FAILED

Times are aware and UTC; offsets are exclusive at the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from supervisor.core.model.replica_digests import Divergence
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.permissions import Actor
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import (
    Counters,
    PublishOutcome,
    RejectSample,
    RejectsFile,
    SegmentFile,
)
from tasks.contract.offsets import Offsets, TopicPartition


@dataclass(frozen=True)
class SpecVersion:
    """One row of a supervisor's history; the newest counts.  `spec` None is a tombstone."""

    supervisor_id: str
    version: int
    """1, 2, 3, ... without a hole."""
    created_at: datetime
    spec: SupervisorSpec | None
    author: str = ""
    release: str | None = None
    """Of Tidegate, that stored it; None: one from before releases were noted."""

    @property
    def terminated(self) -> bool:
        """This row ends the supervisor."""
        return self.spec is None


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
    """What a declared break in the committed offsets means for the table."""

    SKIPPED = "skipped"
    LOST = "lost"
    """Kafka did not hold it any more."""
    REPEATED = "repeated"
    RECREATED = "recreated"
    """What was committed before this row belongs to an earlier topic of the same name."""


@dataclass(frozen=True)
class OffsetGap:
    """A range that is declared absent, or present twice: `verify` counts it as explained."""

    supervisor_id: str
    partition: TopicPartition
    first: int
    end: int
    kind: GapKind
    author: str
    why: str
    at: datetime
    last_ordinal: int | None = None
    """Of the newest generation when it was declared, 0 if there was none: only later ones publish
    what is behind it.  None: an earlier version declared it."""


class GenerationState(StrEnum):
    """Where a generation stands; see the diagram of the module."""

    READING = "READING"
    PAUSING = "PAUSING"
    PUBLISHING = "PUBLISHING"
    PUBLISHED = "PUBLISHED"
    EMPTY = "EMPTY"
    DISCARDED = "DISCARDED"
    UNKNOWN = "UNKNOWN"
    """A newer release wrote it: shown in lists, and an error to whoever decides; never stored."""


OPEN_STATES = frozenset({GenerationState.READING, GenerationState.PAUSING})
"""Its end is not fixed; at most one such generation holds a partition of a supervisor."""
LIVE_STATES = OPEN_STATES | {GenerationState.PUBLISHING}


@dataclass(frozen=True)
class Generation:
    """One offset range of one task group: the unit that is handed off and published."""

    id: str
    supervisor_id: str
    data_source: str
    ordinal: int
    """Grows with every generation of the supervisor; a later one never has a lower number."""
    layout_version: int
    task_count: int
    partition_count: int
    group: int
    spec_version: int
    """It runs, and is replaced, with this version of the spec to its end."""
    state: GenerationState
    start: Offsets
    end: Offsets | None
    opened_at: datetime
    timer_started_at: datetime
    """taskDuration counts from here: later than `opened_at` once an empty range was resumed."""
    sequence: int = 0
    """Grows with every order to its tasks: pause, end, resume."""
    handoff_request: str = ""
    """Why its handoff was asked for before it is due; empty: it was not."""
    reset_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Epochs of the committed offsets when it opened; left out: 0.  A reset makes them differ."""
    handoff_why: str = ""
    must_end: bool = False
    """Its handoff ends it even if nothing was read (suspend, terminate, new spec, bounds of rows
    that count from its opening)."""
    paused_at: datetime | None = None
    """When the present pause was first ordered."""
    end_fixed_at: datetime | None = None
    ended_at: datetime | None = None
    first_finished_at: datetime | None = None
    """When a replica first asked to publish: it had read to the end."""

    @property
    def live(self) -> bool:
        """It still has work to do."""
        return self.state in LIVE_STATES

    @property
    def open(self) -> bool:
        """Its end is not fixed yet."""
        return self.state in OPEN_STATES


class TaskStatus(StrEnum):
    """Druid's words for how a task stands, and one for what this release does not know."""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"
    """A newer release wrote the row, which is shown and left alone: never stored."""


@dataclass(frozen=True)
class TaskTotals:
    """What a task had done when it ended, as it said last."""

    counters: Counters
    position: Offsets


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
    """Of the worker, when the task was assigned or last taken up again."""
    token: str
    status: TaskStatus
    created_at: datetime
    reason: str = ""
    ended_at: datetime | None = None
    taken_up: bool = False
    """A newer incarnation of its worker goes on with it from the journal."""
    outcome: PublishOutcome | None = None
    """The stored answer to its publish request, if it was final."""
    published: bool = False
    """Its files are segments: its folder is never deleted whole."""
    folder_deleted_at: datetime | None = None
    lost: bool = False
    """It ended for no fault of its own (worker lost, slot needed, range given up): no failure."""
    totals: TaskTotals | None = None
    """None: it runs, or ended without a word."""

    @property
    def active(self) -> bool:
        """It runs, or should."""
        return self.status is TaskStatus.RUNNING


@dataclass(frozen=True)
class WorkerRow:
    """A worker that has registered; liveness is soft state and not stored (P4)."""

    id: str
    incarnation: int
    url: str
    slots: int
    registered_at: datetime
    disabled: bool = False
    """People have taken it out: it finishes what it has, and is given nothing new."""


@dataclass(frozen=True)
class Segment:
    """One published, immutable Parquet file."""

    id: str
    data_source: str
    supervisor_id: str
    generation_id: str
    task_id: str
    published_at: datetime
    file: SegmentFile
    columns: tuple[Column, ...] = ()
    """What it has at most, with the types in which it has it; none: from before it was recorded."""
    unused_at: datetime | None = None
    """Taken out of its table; its file is deleted after the grace time."""
    deleted_at: datetime | None = None
    """Its file is gone, or about to go: it is never used again."""
    compaction_id: str | None = None
    """It was compacted, and holds what its inputs held; generation and task are those of the
    newest of them."""
    replaced_by: str | None = None
    """The compaction that took it out of its table: it is never put back."""

    @property
    def used(self) -> bool:
        """It is part of its table."""
        return self.unused_at is None

    @property
    def written_by(self) -> str:
        """The task or the compaction in whose folder it lies."""
        return self.compaction_id or self.task_id


@dataclass(frozen=True)
class NamedFile:
    """A file of the warehouse that a row stands for."""

    path: str
    """Below the warehouse."""
    size_bytes: int
    sha256: str
    task_id: str


@dataclass(frozen=True)
class RetentionRule:
    """How long the rows of a table are kept."""

    data_source: str
    keep_for: timedelta
    """A segment whose interval ended so long ago is marked unused."""
    author: str
    set_at: datetime


@dataclass(frozen=True)
class Publication:
    """The row that proves a range was published; segments and rejects hang on it."""

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
    """What its records came to (`tasks.contract.digests`); None: not known."""
    diverged: tuple[Divergence, ...] = ()
    """Other replicas that came to something else."""
    forgotten_at: datetime | None = None
    """Its supervisor was forgotten since: its files stay, its offsets mean nothing any more."""


@dataclass(frozen=True)
class StoredPlan:
    """What one pass decided, as it is shown to people."""

    supervisor_id: str
    at: datetime
    term: int
    actions: tuple[Mapping[str, str], ...]
    """One mapping per action: `action`, `about`, `why`."""
    error: str = ""


@dataclass(frozen=True)
class AuditEntry:
    """One change that somebody, or a leader, made; written in the change's transaction."""

    at: datetime
    actor: str
    action: str
    subject: str
    detail: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put what goes beside the actor into the detail, which the change's own facts win."""
        if isinstance(self.actor, Actor):
            object.__setattr__(self, "detail", {**self.actor.beside, **self.detail})
            object.__setattr__(self, "actor", str(self.actor))


@dataclass(frozen=True)
class Lease:
    """Who leads: `term` grows with every change, `renewals` with every sign of life."""

    term: int
    holder: str
    url: str
    renewals: int
