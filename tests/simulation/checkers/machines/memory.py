"""What the checkers of machines remember between two looks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tasks.contract.offsets import TopicPartition
from tests.simulation.checkers.machines.lines import Lines

Journaled: TypeAlias = tuple[int, Mapping[TopicPartition, int]]
"""Number and end of a batch that a task took for journaled."""


@dataclass
class MachineMemory:
    """Of one world; nobody else writes it."""

    journaled: dict[tuple[str, str], tuple[Journaled, ...]] = field(default_factory=dict)
    """Worker and task -> its batches, as the task itself last knew them."""
    entries: dict[tuple[str, str], object] = field(default_factory=dict)
    """Worker and task -> the entries of the state that was last looked at."""
    lines: dict[tuple[str, str], Lines] = field(default_factory=dict)
    """Worker and task -> the journal as it was last read."""
    looked_at: dict[tuple[str, str], object] = field(default_factory=dict)
    """Worker and task -> what the last judgement was about."""
    removals: int = -1
    """How often files had gone from the warehouse when it was last looked through."""
    heard_wiped: int = 0
    heard_leaving: int = 0
    """Happenings that were looked at."""
    leaving: set[str] = field(default_factory=set)
    """Processes, with their lives, that were asked to end."""
    holder: str = ""
    """Who held the lease at the last look."""
