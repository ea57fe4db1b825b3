"""The shape of a fleet of supervisors and of the history behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

PERIOD = timedelta(hours=1)
"""The taskDuration of every supervisor, and the length of a time chunk."""
SPEC_STORED_EVERY = 30 * 24
"""Ranges of a group between two versions of the spec."""
COMPACTED_AFTER = 26
"""Hours from the beginning of a time chunk to its compaction."""
GRACE = timedelta(days=30)
"""TIDEGATE_SEGMENT_GRACE: from the compaction of a file to its deletion."""


@dataclass(frozen=True)
class FleetShape:
    """Supervisors of one form; each has published `ranges` of each group, and reads on."""

    supervisors: int = 10
    groups: int = 2
    replicas: int = 2
    partitions: int = 2
    """Of each group."""
    ranges: int = 365 * 24
    """Ranges that each group has published."""
    files: int = 2
    """Published files of a range: one for its own time chunk, one for late rows of the chunk before
    (2), or one for all (1)."""
    compacted_every: int = 2
    """Every so many supervisors, the first one included, one is compacted; 0: none is."""
    workers: int = 4

    @property
    def names(self) -> list[str]:
        """The ids of the supervisors, which are also the names of their tables and topics."""
        return [f"page-views-{number:04d}" for number in range(self.supervisors)]

    @property
    def described(self) -> str:
        """The shape in words."""
        text = (
            f"{self.supervisors:,} supervisors x {self.groups} groups x {self.replicas} replicas, "
            f"{self.partitions} partitions of each group"
        )
        if not self.ranges:
            return f"{text}, no history"
        return f"{text}, {self.ranges:,} ranges of an hour of each group"

    @property
    def tasks(self) -> int:
        """Tasks that run now."""
        return self.supervisors * self.groups * self.replicas

    @property
    def partition_count(self) -> int:
        """Partitions of each topic."""
        return self.groups * self.partitions

    def members(self, group: int) -> Iterator[int]:
        """Yield the partitions of a group, as the layout of the product deals them out."""
        yield from range(group, self.partition_count, self.groups)

    def is_compacted(self, supervisor: int) -> bool:
        """Whether the small files of a supervisor's table are compacted."""
        pairs = self.files == 2
        return pairs and self.compacted_every > 0 and supervisor % self.compacted_every == 0
