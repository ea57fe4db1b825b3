"""The two who work the partitions of a process: their owners, and the projector of its tables."""

import time
from collections.abc import Collection, Mapping

from supervisor.executions.projector import Projector
from supervisor.executions.sequencer.owners import LEAVE_WITHIN_S, PartitionOwners

__all__ = ["OwnersAndProjector"]


class OwnersAndProjector:
    """What a member of the group drives: both begin, and both leave."""

    def __init__(self, owners: PartitionOwners, projector: Projector) -> None:
        """Neither has begun."""
        self._owners = owners
        self._projector = projector

    def begin(self, partitions: Collection[int]) -> None:
        """Take partitions over, and project them."""
        self._owners.begin(partitions)
        self._projector.begin(partitions)

    def leave(self, partitions: Collection[int], within_s: float = LEAVE_WITHIN_S) -> bool:
        """Stop partitions; return whether both came to their end in time.

        The owners go first: the next owner waits for them, and not for the tables.
        """
        until = time.monotonic() + within_s
        left = self._owners.leave(partitions, within_s)
        return self._projector.leave(partitions, max(0.0, until - time.monotonic())) and left

    def positions(self) -> Mapping[int, int]:
        """Return how far each owner is."""
        return self._owners.positions()
