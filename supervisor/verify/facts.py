"""What is known of the partitions, before anything is judged."""

from dataclasses import dataclass, field

from supervisor.verify.dropped import LetGo
from supervisor.verify.runs import NOTHING, Runs
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class PartitionContents:
    """What the files of one publication hold of one partition."""

    rows: Runs = NOTHING
    repeated: Runs = NOTHING
    """Offsets of which there is more than one row."""
    surplus: int = 0
    """How many rows are one too many, in all."""
    rejects: Runs = NOTHING
    carries_offsets: bool = True
    """False: rows do not say their offsets (rolled up), so that only ranges can be checked."""
    counted: int | None = None
    """Then: how many records the rows stand for, where they tell."""
    bounds: Runs = NOTHING
    """Then: offsets among which these records are."""


@dataclass(frozen=True)
class PublishedRange:
    """One publication's range of one partition, and what its files hold of it."""

    generation_id: str
    task_id: str
    start: int
    end: int
    held: PartitionContents = field(default_factory=PartitionContents)
    let_go: tuple[LetGo, ...] = ()
    """What was dropped from the table since, on purpose."""
    topics_before: int = 0
    """How often its topic had been made anew when it was published."""

    @property
    def dropped(self) -> int:
        """How many of its rows were dropped on purpose."""
        return sum(each.rows for each in self.let_go)


@dataclass(frozen=True)
class DeclaredGap:
    """A break that somebody declared: `repeated` allows one more copy, others allow none at all."""

    first: int
    end: int
    repeated: bool
    new_topic: bool = False
    """The topic was made anew: what was committed and published until then is of another one."""


@dataclass(frozen=True)
class PartitionFacts:
    """Everything that is known of one partition."""

    partition: TopicPartition
    first_offset: int
    next_offset: int
    topic: Runs
    """Records that a committed reader finds in the topic."""
    unreadable: Runs = NOTHING
    """Offsets that Kafka no longer shows: deleted by age, or with the topic."""
    compacted: bool = False
    """The topic may drop records at any place."""
    gaps: tuple[DeclaredGap, ...] = ()
    ranges: tuple[PublishedRange, ...] = ()
    """In the order of their publication."""
