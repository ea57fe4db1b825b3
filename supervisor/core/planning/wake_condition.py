"""How far a task has to be for its range to be due: what its reports are held against."""

from dataclasses import dataclass

from tasks.contract.messages import Counters, TaskReport
from tasks.contract.offsets import Offsets, is_at_end


@dataclass(frozen=True)
class WakeCondition:
    """So many rows, in all or in one time chunk, or the end of all that is asked for."""

    rows: int
    chunk_rows: int
    end: Offsets | None = None
    """None: reading has no end."""

    def is_reached(self, report: TaskReport) -> bool:
        """Tell whether a task has come so far."""
        if rows_of(report.counters) >= self.rows or report.fullest_chunk_rows >= self.chunk_rows:
            return True
        return self.end is not None and is_at_end(report.position, self.end)


def rows_of(counters: Counters) -> int:
    """Return how many rows of the table a task has journaled; what it rejected is none."""
    return counters.processed + counters.processed_with_error
