"""What a pass may do: a closed union of effects as data, each with the reason for it.

Every action is idempotent and names the state it expects; applied late, or twice, it finds its
work done, or the state moved on, and does nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.planning.offset_moves import NewOffsets
from supervisor.core.planning.wake_condition import WakeCondition
from tasks.contract.offsets import Offsets, TopicPartition


@dataclass(frozen=True)
class CommitInitialOffsets:
    """Store where reading begins, all these partitions at once, or none (P10)."""

    topic: str
    """The topic, or the pattern of several."""
    topic_ids: Mapping[str, str]
    """Of the topics of `offsets`."""
    offsets: Offsets
    why: str


@dataclass(frozen=True)
class OpenGeneration:
    """Begin a range: group `group` of a layout reads `start` onwards."""

    generation_id: str
    ordinal: int
    layout_version: int
    task_count: int
    partition_count: int
    group: int
    spec_version: int
    start: Offsets
    why: str
    reset_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Of the committed offsets that `start` was decided from; left out: 0."""


@dataclass(frozen=True)
class StartTask:
    """Assign one replica of a generation to a worker, as a new task."""

    task_id: str
    generation_id: str
    replica: int
    attempt: int
    worker_id: str
    incarnation: int
    why: str


@dataclass(frozen=True)
class EndTask:
    """Settle a task: from now on its worker is told to stop it, and it may not publish."""

    task_id: str
    succeeded: bool
    why: str
    lost: bool = False
    """No fault of the task: its worker is gone, or its slot was needed."""
    alert: bool = False
    """Somebody should hear of it: the audit log tells."""


@dataclass(frozen=True)
class BeginHandoff:
    """Order every replica of a generation to pause; also again, when a pause lease runs out."""

    generation_id: str
    expected_sequence: int
    must_end: bool
    why: str


@dataclass(frozen=True)
class ResumeReading:
    """Take a pause back: nothing was read, or no replica lives to say how far it is."""

    generation_id: str
    expected_sequence: int
    restart_timer: bool
    why: str


@dataclass(frozen=True)
class FixEnd:
    """Fix the end of a generation and open its successor there, in one transaction (P13)."""

    generation_id: str
    expected_sequence: int
    end: Offsets
    successor: OpenGeneration | None
    why: str


@dataclass(frozen=True)
class CloseEmpty:
    """End a generation that read nothing, without publishing."""

    generation_id: str
    expected_sequence: int
    why: str


@dataclass(frozen=True)
class DiscardGeneration:
    """Give a range up unpublished; its partitions go on from their committed offsets (P16)."""

    generation_id: str
    why: str


@dataclass(frozen=True)
class ResetOffsets:
    """Set committed offsets that cannot be read to the nearest that can, on record (P16)."""

    topic: str
    new: NewOffsets
    why: str


Action = (
    CommitInitialOffsets
    | OpenGeneration
    | StartTask
    | EndTask
    | BeginHandoff
    | ResumeReading
    | FixEnd
    | CloseEmpty
    | DiscardGeneration
    | ResetOffsets
)


@dataclass(frozen=True)
class SlotNeed:
    """How many slots the plan would use and how many it found."""

    needed: int
    free: int


@dataclass(frozen=True)
class Plan:
    """What one pass decided, and when to look again if nothing wakes it before."""

    actions: tuple[Action, ...]
    wake_at: datetime
    waiting_for_slots: SlotNeed | None = None
    milestones: Mapping[str, WakeCondition] = field(default_factory=dict)
    """Task -> look again as soon as it reports to be so far."""
    over: bool = False
    """Nothing is left to do, and time alone brings nothing: terminated, or completed."""
