"""The topics of executions in memory, as people use them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from supervisor.ports.flows.execution_desk import PartitionEnds
from supervisor.ports.flows.execution_log import LogAway, LogTooLarge
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.kept_letters import KeptLetter, LetterExtent, LetterPlace

__all__ = ["MemoryDesk"]


@dataclass
class MemoryDesk:
    """Implements `ExecutionDesk` and `KeptLetters`."""

    letters: list[DeadLetter] = field(default_factory=list)
    sent: list[tuple[bytes, bytes]] = field(default_factory=list)
    away: bool = False
    source: str = "topic dead"
    largest: int = 10_000
    """Bytes of an input."""

    def ends(self) -> Sequence[PartitionEnds]:
        """Return two partitions."""
        if self.away:
            raise LogAway("no broker answers")
        return [PartitionEnds(0, 7, 9, 30), PartitionEnds(1, None, 0, 0)]

    def send(self, key: bytes, value: bytes) -> None:
        """Note what is sent."""
        if self.away:
            raise LogAway("no broker answers")
        if len(value) > self.largest:
            raise LogTooLarge("too large")
        self.sent.append((key, value))

    def newest(
        self, before: LetterPlace | None, partition: int | None, limit: int
    ) -> Sequence[KeptLetter]:
        """Return the newest letters."""
        del partition
        end = len(self.letters) if before is None else before.offset
        return [self._kept(offset) for offset in reversed(range(end))][:limit]

    def get(self, place: LetterPlace) -> KeptLetter | None:
        """Return one letter."""
        return self._kept(place.offset) if place.offset < len(self.letters) else None

    def extents(self) -> Sequence[LetterExtent]:
        """Return the one partition."""
        return [LetterExtent(0, 0, len(self.letters))]

    def _kept(self, offset: int) -> KeptLetter:
        return KeptLetter(LetterPlace(0, offset), None, self.letters[offset])
