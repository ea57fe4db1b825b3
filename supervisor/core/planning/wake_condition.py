"""The wake condition: how far a reading task has to be for its range to be due."""

from dataclasses import dataclass

from tasks.contract.messages import Counters, TaskReport
from tasks.contract.offsets import Offsets, is_at_end


@dataclass(frozen=True)
class WakeCondition:
    """A number of rows, in all or in one time chunk, or the end of a bounded range."""

    rows: int
    chunk_rows: int
    end: Offsets | None = None
    """None: reading has no end."""

    def is_reached(self, report: TaskReport) -> bool:
        """Return whether a task's report reaches this condition."""
        if rows_of(report.counters) >= self.rows or report.fullest_chunk_rows >= self.chunk_rows:
            return True
        return self.end is not None and is_at_end(report.position, self.end)


def rows_of(counters: Counters) -> int:
    """Return the number of rows that a task has journaled, without rejected records."""
    return counters.processed + counters.processed_with_error
