"""Which offset of a partition may be committed: the lowest one that is not finished.

    read        10  11  12  13  14
    finished        11      13  14      ─► 10 may be committed: everything below it is finished

Records finish in any order.  Kafka's commit names the next offset to be read, so a commit never
passes a record that is not finished, and a crash reads again what was under way.
"""

from collections import deque
from dataclasses import dataclass, field

__all__ = ["Tracker"]


@dataclass
class Tracker:
    """The records of one partition that are under way, from its assignment to its revocation."""

    next_offset: int
    """The next offset to be read; offsets have holes where records were compacted away."""
    committed: int | None = None
    """What was committed last.  None: nothing yet, in this assignment."""
    _begun: deque[int] = field(default_factory=deque)
    """Offsets in their order, from the lowest unfinished one on."""
    _unfinished: set[int] = field(default_factory=set)

    def begin(self, offset: int) -> bool:
        """Note that a record was read; return False if it was read before: it is left out."""
        if offset < self.next_offset:
            return False
        self._begun.append(offset)
        self._unfinished.add(offset)
        self.next_offset = offset + 1
        return True

    def finish(self, offset: int) -> None:
        """Note that a record is done; one that is not under way changes nothing."""
        self._unfinished.discard(offset)
        while self._begun and self._begun[0] not in self._unfinished:
            self._begun.popleft()

    @property
    def lowest_unfinished(self) -> int:
        """The offset that may be committed: all records below it are done."""
        return self._begun[0] if self._begun else self.next_offset

    @property
    def in_flight(self) -> int:
        """How many records are under way."""
        return len(self._unfinished)

    def due(self) -> int | None:
        """Return the offset to be committed now; None: it is committed already."""
        lowest = self.lowest_unfinished
        return None if lowest == self.committed else lowest
