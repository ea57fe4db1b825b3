"""What one pass over one supervisor sees: its rows, its workers, its topic, and the limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from supervisor.core.model.rows import CommittedOffset, Generation, SpecVersion, Task
from supervisor.core.queue.events import QueueRow
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import CompactionReport, TaskReport
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.contract.worker_facts import WorkerFacts


class Liveness(StrEnum):
    """What the leader knows of a worker; only LOST leads to replacement (P6)."""

    ALIVE = "ALIVE"
    UNKNOWN = "UNKNOWN"
    LOST = "LOST"


@dataclass(frozen=True)
class WorkerView:
    """One worker as the leader sees it now."""

    id: str
    incarnation: int
    liveness: Liveness
    slots: int
    stopping: bool
    reports: Mapping[str, TaskReport] = field(default_factory=dict)
    """Task id -> its last report to this leader."""
    used_slots: int = 0
    """Open tasks of all supervisors that are assigned to it."""
    previous_end: str = ""
    """How its incarnation before this one ended; empty: not known."""
    known_for: timedelta = timedelta(0)
    """How long this leader has known its incarnation."""
    compactions: Mapping[str, CompactionReport] = field(default_factory=dict)
    """Compaction id -> its last report to this leader."""
    heard_at: datetime | None = None
    """When this leader heard of it last; None: not yet."""
    disabled: bool = False
    """People have taken it out: it finishes what it has."""
    facts: WorkerFacts | None = None
    """What it last said of its process; None: nothing yet, or it is of an earlier release."""
    started_at: datetime | None = None
    """When its process began, by this leader's clock; None: not known."""

    @property
    def takes_tasks(self) -> bool:
        """Whether it may be given new ones."""
        return self.liveness is Liveness.ALIVE and not (self.stopping or self.disabled)


class StreamTrouble(StrEnum):
    """Why the offsets of a topic are not known."""

    CONNECTING = "connecting"
    UNREACHABLE = "unreachable"
    NO_TOPIC = "no-topic"
    REFUSED = "refused"


@dataclass(frozen=True)
class StreamState:
    """The partitions of a supervisor's topic, as Kafka last told; a trouble leaves the last."""

    topic_ids: Mapping[str, str] = field(default_factory=dict)
    earliest: Offsets = field(default_factory=dict)
    latest: Offsets = field(default_factory=dict)
    """High watermarks."""
    stable: Offsets = field(default_factory=dict)
    """Last stable offsets."""
    read_at: datetime | None = None
    """When the last good look began."""
    trouble: StreamTrouble | None = None
    trouble_since: datetime | None = None
    """When the first look began that met this trouble, in a row up to now."""
    detail: str = ""
    failures: int = 0
    """Failed looks in a row."""

    def after_failure(
        self, trouble: StreamTrouble, detail: str, failures: int, at: datetime
    ) -> "StreamState":
        """Return the state after a look that began at `at` and failed; the offsets stay."""
        since = self.trouble_since if self.trouble is trouble else None
        return replace(
            self, trouble=trouble, trouble_since=since or at, detail=detail, failures=failures
        )

    @property
    def known(self) -> bool:
        """Its partitions have been read, and the last look went well."""
        return self.read_at is not None and self.trouble is None


@dataclass(frozen=True)
class PlanLimits:
    """Operator settings that the decisions need."""

    period: timedelta = timedelta(seconds=30)
    pause_lease: timedelta = timedelta(seconds=60)
    pause_timeout: timedelta = timedelta(seconds=20)
    """Below half the lease: else a silent replica would have every pause ordered again."""
    backoff_first: timedelta = timedelta(seconds=1)
    backoff_max: timedelta = timedelta(minutes=2)
    stream_retry: timedelta = timedelta(seconds=3)
    """How soon a topic that could not be read is looked at again."""
    unhealthiness_threshold: int = 3
    progress_timeout: timedelta = timedelta(minutes=5)
    """A reading task that could go on, and does not for so long, is replaced."""

    def __post_init__(self) -> None:
        """Refuse limits under which a handoff could never end."""
        if self.pause_timeout >= self.pause_lease / 2:
            raise ValueError("pause timeout must be below half the pause lease")


@dataclass(frozen=True)
class Observed:
    """Everything one pass over one supervisor knows; the same `Observed` gives the same plan."""

    now: datetime
    limits: PlanLimits
    current: SpecVersion
    """The newest version; a tombstone once terminated."""
    specs: Mapping[int, SupervisorSpec]
    """Spec version -> spec: of every version that a live generation is bound to, and the newest."""
    committed: Mapping[TopicPartition, CommittedOffset]
    stream: StreamState
    generations: tuple[Generation, ...]
    """Live ones, by ordinal."""
    newest: Generation | None
    """The one with the highest ordinal, whatever its state."""
    tasks: tuple[Task, ...]
    """Active tasks of this supervisor."""
    last_attempts: Mapping[tuple[str, int], Task]
    """(generation, replica) -> its last ended task, for live generations: numbers and backoff."""
    workers: tuple[WorkerView, ...]
    failures_in_a_row: int = 0
    """Tasks that failed by themselves since one last succeeded."""
    last_ended: tuple[Task, ...] = ()
    """The last tasks that ended by themselves, newest first: what its health is told from."""
    failed_attempts: Mapping[str, int] = field(default_factory=dict)
    """Live generation -> its tasks that failed by themselves; those without any are left out."""
    dead_queues: tuple[QueueRow, ...] = ()
    """Event queues of this supervisor that stand still until somebody repairs them."""
    led_since: datetime | None = None
    """Since when this overlord leads, by its own clock; `now` if it does not."""
