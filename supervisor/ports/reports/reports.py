"""The port to the store of reports: results, reports, progress, and the archive of history.

A record is stored once.  The first one with an id wins; what comes later under the same id is a
conflict, which is as good as stored, or a mismatch if it says something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from supervisor.core.reports.status import StoreOutcome
from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["ReportPlace", "ReportQuery", "ReportStore"]


class ReportPlace(NamedTuple):
    """The place of a record in lists, which go from the newest to the oldest."""

    at: datetime
    record_id: str


@dataclass(frozen=True)
class ReportQuery:
    """Which records to list; a field of None, or an empty set, does not narrow the result."""

    types: frozenset[RecordType] = frozenset()
    subject: str | None = None
    attempt: int | None = None
    supervisor: str | None = None
    data_source: str | None = None
    worker: str | None = None
    status: str | None = None
    since: datetime | None = None
    """This moment and later."""
    until: datetime | None = None
    """Before this moment."""
    after: ReportPlace | None = None
    """Only what comes behind this place in the list."""


class ReportStore(Protocol):
    """A store of records that are no log chunks; safe to call from many threads and processes.

    Each method raises `StoreAway` and `StoreRefuses`; `put_many` also `ContentRefused`.
    """

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        """Store records, all or none; return STORED, CONFLICT or MISMATCH for each, in order.

        What is returned survives a crash of the store's machine.  Of equal ids in one call the
        first is stored, and the others are conflicts.
        """
        ...

    def get(self, record_id: str) -> ReportRecord | None:
        """Return a stored record, as it was sent."""
        ...

    def list(self, query: ReportQuery, limit: int) -> Sequence[ReportRecord]:
        """Return the newest records that match, by `at` and id, at most `limit`."""
        ...

    def numbered(self, kind: RecordType, after: int, limit: int) -> Sequence[ReportRecord]:
        """Return events or audit entries with a `seq` above `after`, in their order."""
        ...

    def delete_older_than(self, kind: RecordType, cutoff: datetime, limit: int) -> int:
        """Delete at most `limit` records of a type from before `cutoff`; return how many."""
        ...

    def delete_of_supervisor(self, supervisor: str, limit: int) -> int:
        """Delete at most `limit` records of a supervisor; return how many."""
        ...

    def size_bytes(self) -> int:
        """Return about how much the records take."""
        ...

    def ping(self) -> None:
        """Return if the store can be read and written now."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...
