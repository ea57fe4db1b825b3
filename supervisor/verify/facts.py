"""The facts about each partition, from the ledger, the files and the topic: the judge's input."""

from dataclasses import dataclass, field

from supervisor.verify.dropped import LetGo
from supervisor.verify.runs import NOTHING, Runs
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class PartitionContents:
    """The contents of one publication's files in one partition."""

    rows: Runs = NOTHING
    repeated: Runs = NOTHING
    """Offsets with more than one row."""
    surplus: int = 0
    """The number of surplus rows in all."""
    rejects: Runs = NOTHING
    carries_offsets: bool = True
    """Whether rows have offsets; if not (rolled up), only ranges can be checked."""
    counted: int | None = None
    """Without offsets: the number of records that the rows stand for, if known."""
    bounds: Runs = NOTHING
    """Without offsets: the offsets among which these records are."""


@dataclass(frozen=True)
class PublishedRange:
    """One publication's range of one partition, and the contents of its files there."""

    generation_id: str
    task_id: str
    start: int
    end: int
    held: PartitionContents = field(default_factory=PartitionContents)
    let_go: tuple[LetGo, ...] = ()
    """Rows that were dropped from the table on purpose since."""
    topics_before: int = 0
    """How often the topic had been recreated before this range was published."""

    @property
    def dropped(self) -> int:
        """The number of rows that were dropped on purpose."""
        return sum(each.rows for each in self.let_go)


@dataclass(frozen=True)
class DeclaredGap:
    """A declared break: `repeated` allows one more copy of its offsets, other kinds allow none."""

    first: int
    end: int
    repeated: bool
    new_topic: bool = False
    """Whether the topic was recreated: earlier commits and publications are of the old topic."""


@dataclass(frozen=True)
class PartitionFacts:
    """All facts about one partition."""

    partition: TopicPartition
    first_offset: int
    next_offset: int
    topic: Runs
    """Offsets of records that a read-committed consumer finds in the topic."""
    unreadable: Runs = NOTHING
    """Offsets that Kafka no longer has, deleted by age or with the topic."""
    compacted: bool = False
    """Whether the topic is compacted, so that any record may be gone."""
    gaps: tuple[DeclaredGap, ...] = ()
    ranges: tuple[PublishedRange, ...] = ()
    """In the order of publication."""
