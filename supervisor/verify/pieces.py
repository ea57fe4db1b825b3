"""What compacted files have of one publication: it comes in pieces, one a file.

A time chunk holds offsets here and there, and the next chunk those between.  Pieces of as many
files are joined to one, so that they soon are few runs, and none is walked through often.
"""

from collections import Counter
from dataclasses import dataclass, field

from supervisor.verify.runs import NOTHING, Runs
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class PartitionRows:
    """Rows of one partition, by their offsets."""

    rows: Runs = NOTHING
    repeated: Runs = NOTHING
    """Offsets of which there is more than one row."""
    surplus: int = 0
    """How many rows are one too many, in all."""

    def __add__(self, other: "PartitionRows") -> "PartitionRows":
        """Put rows of two files together."""
        if not self.rows or not other.rows:  # as a rule: nothing of it was compacted
            return self if self.rows else other
        both = self.rows & other.rows
        return PartitionRows(
            self.rows | other.rows,
            self.repeated | other.repeated | both,
            self.surplus + other.surplus + both.count(),
        )


@dataclass
class Pieces:
    """All that compacted files have of one publication."""

    counted: Counter[TopicPartition] = field(default_factory=Counter)
    """Records that rows without offsets stand for."""
    bounds: dict[TopicPartition, list[tuple[int, int]]] = field(default_factory=dict)
    """Offsets among which those are."""
    carries_offsets: bool = True
    """False: rows of a file do not say their offsets."""
    _parts: dict[TopicPartition, list[tuple[int, PartitionRows]]] = field(default_factory=dict)
    """Each with the number of files that it is of: powers of two, falling."""

    def add(self, at: TopicPartition, part: PartitionRows) -> None:
        """Take what one more file has of a partition."""
        parts, files = self._parts.setdefault(at, []), 1
        while parts and parts[-1][0] == files:
            part += parts.pop()[1]
            files *= 2
        parts.append((files, part))

    def count(self, at: TopicPartition, records: int, bounds: tuple[int, int]) -> None:
        """Take the word of one more file for rows that name no offset."""
        self.counted[at] += records
        self.bounds.setdefault(at, []).append(bounds)

    def partitions(self) -> set[TopicPartition]:
        """Return those of which there is anything."""
        return self._parts.keys() | self.counted.keys()

    def part(self, at: TopicPartition) -> PartitionRows:
        """Return all rows of one partition."""
        return sum((part for _, part in reversed(self._parts.get(at, []))), PartitionRows())
