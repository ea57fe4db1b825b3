"""Reports in memory, for tests and trials: they end with their process."""

from collections.abc import Callable, Sequence
from datetime import datetime
from threading import Lock

from supervisor.adapters.reports.entries import (
    ReportEntry,
    ReportHead,
    entries_of,
    has_number,
    head_of,
    is_forgettable,
    is_of,
    line_of,
    matches,
    outcomes_of,
    page_of_heads,
)
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.reports import NumberedQuery, ReportLine, ReportPage, ReportQuery
from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["MemoryReports"]


class MemoryReports:
    """A `ReportStore` that is not bounded: retention alone keeps it small."""

    def __init__(self) -> None:
        self._entries: dict[str, ReportEntry] = {}
        self._lock = Lock()

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        """Store records, all or none."""
        entries = entries_of(records)
        with self._lock:
            ids = self._entries.keys() & {each.record_id for each in entries}
            outcomes = outcomes_of(entries, {each: self._entries[each].digest for each in ids})
            for entry in entries:
                self._entries.setdefault(entry.record_id, entry)
        return outcomes

    def get(self, record_id: str) -> ReportRecord | None:
        """Return a stored record."""
        with self._lock:
            entry = self._entries.get(record_id)
        return None if entry is None else entry.record

    def list(self, query: ReportQuery, limit: int) -> Sequence[ReportRecord]:
        """Return the newest records that match."""
        heads = self._heads(lambda head: matches(head, query))
        return self._records(sorted(heads, key=lambda head: head.place, reverse=True)[:limit])

    def page(
        self, query: ReportQuery, limit: int, tables: Sequence[str] | None = None
    ) -> ReportPage:
        """Return the newest records that match, without their payloads."""
        heads = self._heads(lambda head: matches(head, query) and is_of(head, tables))
        return page_of_heads(heads, limit, self._line)

    def numbered(self, query: NumberedQuery, limit: int) -> Sequence[ReportRecord]:
        """Return events or audit entries by their numbers."""
        return self._records(self._by_number(query)[:limit])

    def numbers(self, query: NumberedQuery, limit: int) -> Sequence[int]:
        """Return the numbers alone."""
        return [head.seq for head in self._by_number(query)[:limit]]

    def number_at(self, query: NumberedQuery, at: datetime) -> int:
        """Return the number of the newest one up to a time."""
        whole = NumberedQuery(query.kind, query.subject)
        heads = self._heads(lambda head: has_number(head, whole) and head.at <= at)
        return max(heads, key=lambda head: head.place).seq if heads else 0

    def delete_older_than(self, kind: RecordType, cutoff: datetime, limit: int) -> int:
        """Delete old records of a type."""
        return self._delete(lambda head: head.type is kind and head.at < cutoff, limit)

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete records of a supervisor."""
        return self._delete(lambda head: is_forgettable(head, supervisor, before), limit)

    def size_bytes(self) -> int:
        """Return the size of all bodies."""
        with self._lock:
            return sum(len(entry.body) for entry in self._entries.values())

    def ping(self) -> None:
        """Return."""

    def close(self) -> None:
        """Do nothing: a store that is opened again by a test has what it had."""

    def _heads(self, wanted: Callable[[ReportHead], bool]) -> Sequence[ReportHead]:
        with self._lock:
            heads = [head_of(entry.record) for entry in self._entries.values()]
        return [head for head in heads if wanted(head)]

    def _line(self, head: ReportHead) -> ReportLine | None:
        with self._lock:
            entry = self._entries.get(head.record_id)
        return None if entry is None else line_of(entry.record, len(entry.body.encode()))

    def _by_number(self, query: NumberedQuery) -> Sequence[ReportHead]:
        heads = self._heads(lambda head: has_number(head, query))
        return sorted(heads, key=lambda head: head.seq, reverse=query.newest_first)

    def _records(self, heads: Sequence[ReportHead]) -> Sequence[ReportRecord]:
        return [record for head in heads if (record := self.get(head.record_id)) is not None]

    def _delete(self, wanted: Callable[[ReportHead], bool], limit: int) -> int:
        heads = sorted(self._heads(wanted), key=lambda head: head.place)[:limit]
        with self._lock:
            gone = [self._entries.pop(head.record_id, None) for head in heads]
        return sum(entry is not None for entry in gone)
