"""Records that wait to be written, within a bound, and what is dropped first when it is reached.

    dropped first   debug ─► progress ─► events, audit ─► reports ─► results: never
    taken first     the other way round, of each rank the oldest one

A record of a task's end is never dropped: it is small, and a task ends once.  Each drop is counted
by its type; the counts travel with the next record that is taken.  Logs do not wait here: their
files are read when there is room.  Its holder has the lock.
"""

from collections import Counter, deque
from collections.abc import Mapping
from enum import IntEnum

from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["Backlog", "Rank", "rank_of"]


class Rank(IntEnum):
    """The order in which records are dropped, the lowest one first."""

    DEBUG = 0
    PROGRESS = 1
    HISTORY = 2
    """Events and audit: the leader sends them again from its stored position."""
    REPORT = 3
    RESULT = 4


_RANKS: Mapping[RecordType, Rank] = {
    RecordType.PROGRESS: Rank.PROGRESS,
    RecordType.LOG_CHUNK: Rank.PROGRESS,
    RecordType.COMPLETION: Rank.PROGRESS,
    RecordType.EVENT: Rank.HISTORY,
    RecordType.AUDIT: Rank.HISTORY,
    RecordType.TASK_REPORT: Rank.REPORT,
    RecordType.COMBINED: Rank.RESULT,
    RecordType.TASK_RESULT: Rank.RESULT,
}


def rank_of(record: ReportRecord) -> Rank:
    """Return the rank of a record; what is for debugging goes first, but a result never goes."""
    rank = _RANKS[record.type]
    return Rank.DEBUG if record.debug and rank < Rank.RESULT else rank


class Backlog:
    """The records that wait; `offer` and `take` cost the same however many do."""

    def __init__(self, bytes_max: int) -> None:
        """Hold records of `bytes_max` bytes in all, results aside."""
        self._bytes_max = bytes_max
        self._waiting: dict[Rank, deque[tuple[ReportRecord, int]]] = {
            rank: deque() for rank in Rank
        }
        self._dropped: Counter[RecordType] = Counter()
        self.size_bytes = 0
        self.dropped_total: Counter[RecordType] = Counter()
        """Since the start, by type."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def offer(self, record: ReportRecord, size: int) -> bool:
        """Let a record of `size` bytes wait; return False if it was dropped itself."""
        rank = rank_of(record)
        while self.size_bytes + size > self._bytes_max and rank is not Rank.RESULT:
            lowest = next((each for each in Rank if each < rank and self._waiting[each]), None)
            if lowest is None:
                self._drop(record.type)
                return False
            oldest, freed = self._waiting[lowest].popleft()
            self.size_bytes -= freed
            self._drop(oldest.type)
        self._waiting[rank].append((record, size))
        self.size_bytes += size
        return True

    def take(self) -> ReportRecord | None:
        """Return the next record with the counts of what was dropped; None: nothing waits."""
        rank = next((each for each in reversed(Rank) if self._waiting[each]), None)
        if rank is None:
            return None
        record, size = self._waiting[rank].popleft()
        self.size_bytes -= size
        if self._dropped:
            record = record.model_copy(update={"dropped": dict(self._dropped)})
            self._dropped.clear()
        return record

    def _drop(self, kind: RecordType) -> None:
        self._dropped[kind] += 1
        self.dropped_total[kind] += 1
