"""The port to the topics of executions as people use them: how far all is, and replays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ExecutionDesk", "PartitionEnds"]


@dataclass(frozen=True)
class PartitionEnds:
    """How far a partition is."""

    partition: int
    position: int | None
    """The offset of HISTORY that its owner reads next, a few seconds ago; None: none has begun."""
    end: int
    """Of HISTORY."""
    state_end: int
    """Of STATE."""


class ExecutionDesk(Protocol):
    """Safe to use from many threads; each use raises `LogAway` or `LogRefuses`."""

    def ends(self) -> Sequence[PartitionEnds]:
        """Return how far each partition is, in their order."""
        ...

    def send(self, key: bytes, value: bytes) -> None:
        """Write an input to the history once more.

        Raises:
            LogTooLarge: it is larger than Kafka takes.
        """
        ...
