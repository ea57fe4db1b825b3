"""The repository port of the archive: `Transaction` has it as `archive`.

    rows of events and audit ─► read by number ─► sent, off any transaction ─► positions

Only the leader's duty writes positions; the trimming of events and the end of history go by them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from supervisor.core.history.archive import ArchivePosition
from supervisor.core.history.lifecycle_events import NumberedEvent
from supervisor.core.model.rows import AuditEntry
from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["EXECUTION_REPORTS", "SUPERVISOR_REPORTS", "Archive", "ArchivePositions"]
__all__ += ["RecordSender"]

ArchivePositions = Mapping[RecordType, ArchivePosition]
"""EVENT and AUDIT -> its position; without these there is no archive.  Beside them, of what the
leader reports, `SUPERVISOR_REPORTS` and `EXECUTION_REPORTS`, of which `sent_to` alone counts."""
SUPERVISOR_REPORTS = RecordType.TASK_REPORT
"""The position of reports of supervisors and compactions: the number of an event."""
EXECUTION_REPORTS = RecordType.TASK_RESULT
"""The position of reports of executions: a time of creation, in microseconds since 1970.  What was
created before it has ended and was sent."""


class Archive(Protocol):
    """What is to be archived, and how far that is."""

    def positions(self) -> ArchivePositions:
        """Return the positions."""
        ...

    def put(self, kind: RecordType, position: ArchivePosition) -> None:
        """Store a position; of events, let them be trimmed up to its `stored_to`."""
        ...

    def end(self) -> None:
        """Forget the positions: nothing waits for an archive any more."""
        ...

    def events(self, after: int, limit: int) -> Sequence[NumberedEvent]:
        """Return events with higher numbers, ascending: those kept longer, then all."""
        ...

    def entries(self, after: int, limit: int) -> Sequence[tuple[int, AuditEntry]]:
        """Return audit entries with higher numbers, ascending."""
        ...

    def numbers(self, kind: RecordType, after: int, limit: int) -> Sequence[int]:
        """Return the numbers alone, as `events` and `entries` have them."""
        ...

    def newest_entry(self) -> int:
        """Return the highest number of a visible audit entry; 0: there is none."""
        ...

    def oldest_entry(self) -> int | None:
        """Return the lowest number of an audit entry; None: there is none.

        Entries end in the order of their numbers: lower ones are in the archive, if anywhere.
        """
        ...

    def entry_writers(self) -> Collection[str]:
        """Return names of transactions that may have taken a number for an entry, and go on.

        On SQLite there are none: one transaction writes at a time.  A transaction that begins
        later has another name.
        """
        ...


class RecordSender(Protocol):
    """The way of the leader's records to the topic `completed-others`, or to a persister.

    For many threads, which take turns.
    """

    def send(self, records: Sequence[ReportRecord]) -> None:
        """Return once the brokers have acknowledged all of them, or a persister has stored them.

        Raises:
            StoreAway: it is not known of all; sent again, they are the same records.
        """
        ...

    def close(self) -> None:
        """Give up what is under way."""
        ...
