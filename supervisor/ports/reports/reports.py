"""The port to the store of reports: results, reports, progress, and the archive of history.

A record is stored once.  The first one with an id wins; what comes later under the same id is a
conflict, which is as good as stored, or a mismatch if it says something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from supervisor.core.reports.status import StoreOutcome
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord

__all__ = ["LOOKED_AT_MAX", "ReportLine", "ReportPage", "ReportPlace", "ReportQuery"]
__all__ += ["ReportStore"]

LOOKED_AT_MAX = 10_000
"""Rows that a page looks at, newest first, if its conditions are not those of one index."""

__all__ = ["NumberedQuery", "ReportPlace", "ReportQuery", "ReportStore"]


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
    origin: RecordOrigin | None = None
    since: datetime | None = None
    """This moment and later."""
    until: datetime | None = None
    """Before this moment."""
    after: ReportPlace | None = None
    """Only what comes behind this place in the list."""


@dataclass(frozen=True)
class ReportLine:
    """A record in a list: all but its payload."""

    record_id: str
    type: RecordType
    subject: str
    attempt: int
    origin: RecordOrigin
    worker: str | None
    supervisor: str | None
    data_source: str | None
    status: str | None
    at: datetime
    seq: int
    final: bool
    stored_at: datetime | None
    """None: the store does not keep it."""
    size_bytes: int | None
    """Of its JSON.  None: the store does not know."""
    error: str
    """The first line of what went wrong; empty: nothing did, or the record does not say."""

    @property
    def place(self) -> ReportPlace:
        """Its place in lists."""
        return ReportPlace(self.at, self.record_id)


@dataclass(frozen=True)
class ReportPage:
    """A part of a list, from the newest to the oldest."""

    lines: Sequence[ReportLine]
    behind: ReportPlace | None
    """Where the list goes on.  None: nothing follows."""


@dataclass(frozen=True)
class NumberedQuery:
    """Which events or audit entries to list, by their number (`seq`)."""

    kind: RecordType
    subject: str
    """The installation whose history it is."""
    above: int = 0
    below: int | None = None
    supervisor: str | None = None
    newest_first: bool = False


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

    def page(
        self, query: ReportQuery, limit: int, tables: Sequence[str] | None = None
    ) -> ReportPage:
        """Return the newest records that match, at most `limit`, without their payloads.

        `tables`: only of tables whose names match one of these patterns, in which `*` stands for
        any signs; so a record of no table is left out.
        At most `LOOKED_AT_MAX` rows are looked at, and others of the same time as the last: a page
        may have fewer lines, and yet go on.  Where it goes on names no row that it has not.
        """
        ...

    def numbered(self, query: NumberedQuery, limit: int) -> Sequence[ReportRecord]:
        """Return events or audit entries by their numbers, at most `limit`."""
        ...

    def numbers(self, query: NumberedQuery, limit: int) -> Sequence[int]:
        """Return the numbers alone, as `numbered` has them; it costs less."""
        ...

    def number_at(self, query: NumberedQuery, at: datetime) -> int:
        """Return the number of the newest event or entry up to a time; 0: there is none.

        Of the query only kind and subject count.
        """
        ...

    def delete_older_than(self, kind: RecordType, cutoff: datetime, limit: int) -> int:
        """Delete at most `limit` records of a type from before `cutoff`; return how many."""
        ...

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete at most `limit` records of a supervisor from before a time; return how many.

        Archived events and audit entries stay: their numbers have no holes.
        """
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
