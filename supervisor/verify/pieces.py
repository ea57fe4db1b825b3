"""The rows of one publication in compacted files, merged piece by piece.

A time chunk has scattered offsets, and the next chunk has those between.  Pieces of equally many
files are merged, so that runs soon are few, and none is walked often.
"""

from collections import Counter
from dataclasses import dataclass, field

from supervisor.verify.runs import NOTHING, Runs
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class PartitionRows:
    """Rows of one partition, by offset."""

    rows: Runs = NOTHING
    repeated: Runs = NOTHING
    """Offsets with more than one row."""
    surplus: int = 0
    """The number of surplus rows in all."""

    def __add__(self, other: "PartitionRows") -> "PartitionRows":
        """Merge the rows of two files."""
        if not self.rows or not other.rows:  # the usual case: no compacted rows
            return self if self.rows else other
        both = self.rows & other.rows
        return PartitionRows(
            self.rows | other.rows,
            self.repeated | other.repeated | both,
            self.surplus + other.surplus + both.count(),
        )


@dataclass
class Pieces:
    """All rows of one publication in compacted files."""

    counted: Counter[TopicPartition] = field(default_factory=Counter)
    """Partition -> number of records that rows without offsets stand for."""
    bounds: dict[TopicPartition, list[tuple[int, int]]] = field(default_factory=dict)
    """Partition -> the offsets among which these records are."""
    carries_offsets: bool = True
    """Whether the rows of all files have offsets."""
    _parts: dict[TopicPartition, list[tuple[int, PartitionRows]]] = field(default_factory=dict)
    """Partition -> merged rows, each with its number of files: falling powers of two."""

    def add(self, at: TopicPartition, part: PartitionRows) -> None:
        """Add the rows of one more file in a partition."""
        parts, files = self._parts.setdefault(at, []), 1
        while parts and parts[-1][0] == files:
            part += parts.pop()[1]
            files *= 2
        parts.append((files, part))

    def count(self, at: TopicPartition, records: int, bounds: tuple[int, int]) -> None:
        """Add the record count of one more file whose rows have no offsets."""
        self.counted[at] += records
        self.bounds.setdefault(at, []).append(bounds)

    def partitions(self) -> set[TopicPartition]:
        """Return the partitions with any rows."""
        return self._parts.keys() | self.counted.keys()

    def part(self, at: TopicPartition) -> PartitionRows:
        """Return all rows of one partition."""
        return sum((part for _, part in reversed(self._parts.get(at, []))), PartitionRows())
