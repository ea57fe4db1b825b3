"""The actions of a plan: a closed union of effects as data, each with its reason.

Every action is idempotent and names the state that it expects.  An action that is applied late or
twice finds its work done or the state changed, and then does nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.planning.offset_moves import NewOffsets
from supervisor.core.planning.wake_condition import WakeCondition
from tasks.contract.offsets import Offsets, TopicPartition


@dataclass(frozen=True)
class CommitInitialOffsets:
    """Store the initial offsets of all these partitions at once, or of none (P10)."""

    topic: str
    """The topic, or the pattern of several."""
    topic_ids: Mapping[str, str]
    """The ids of the topics of `offsets`."""
    offsets: Offsets
    why: str


@dataclass(frozen=True)
class OpenGeneration:
    """Open a generation: group `group` of a layout reads from `start` on."""

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
    """Reset epochs of the committed offsets from which `start` was decided; absent: 0."""


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
    """End a task: from now on its worker must stop the task, and the task may not publish."""

    task_id: str
    succeeded: bool
    why: str
    lost: bool = False
    """The task is not at fault: its worker is gone, or its slot was needed."""
    alert: bool = False
    """Write the end into the audit log, because people should notice it."""


@dataclass(frozen=True)
class BeginHandoff:
    """Order each replica of a generation to pause; repeated before a pause lease expires."""

    generation_id: str
    expected_sequence: int
    must_end: bool
    why: str


@dataclass(frozen=True)
class ResumeReading:
    """Cancel a pause: nothing was read, or no live replica can report its position."""

    generation_id: str
    expected_sequence: int
    restart_timer: bool
    why: str


@dataclass(frozen=True)
class FixEnd:
    """Fix the end of a generation, and open its successor there in the same transaction (P13)."""

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
    """Discard a range unpublished; its partitions go on from their committed offsets (P16)."""

    generation_id: str
    why: str


@dataclass(frozen=True)
class ResetOffsets:
    """Set unreadable committed offsets to the nearest readable ones, with a recorded gap (P16)."""

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
    """The number of slots that the plan needs, and the number of free slots."""

    needed: int
    free: int


@dataclass(frozen=True)
class Plan:
    """The decisions of one pass, and the time of the next pass unless a wake-up comes first."""

    actions: tuple[Action, ...]
    wake_at: datetime
    waiting_for_slots: SlotNeed | None = None
    milestones: Mapping[str, WakeCondition] = field(default_factory=dict)
    """Task -> its wake condition: the loop wakes as soon as a report of the task reaches it."""
    over: bool = False
    """Nothing is left to do, now or later: the supervisor is terminated or completed."""
