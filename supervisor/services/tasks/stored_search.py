"""Search over what persisters have stored: reports, and warnings and errors of logs.

Any overlord answers: each reads the stores itself.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from supervisor.core.values.errors import (
    BadCursor,
    NoReportStore,
    ReportNotFound,
    ReportStoreUnavailable,
)
from supervisor.core.values.page_cursors import KeyedPlace, read_keyed, write_keyed
from supervisor.core.values.permissions import Caller, Permission, permitted
from supervisor.ports.reports.logs import GravePlace, LogQuery, LogStore
from supervisor.ports.reports.reports import ReportPlace, ReportQuery, ReportStore
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses
from supervisor.reports.store_watch import OFF, nothing_yet
from supervisor.views.reports import LogLinesPage, ReportsPage, line_view, report_view
from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["LISTED_TYPES", "StoredSearch"]

LISTED_TYPES = frozenset(
    {
        RecordType.TASK_RESULT,
        RecordType.TASK_REPORT,
        RecordType.PROGRESS,
        RecordType.COMBINED,
    }
)
"""Events and audit entries have lists and permissions of their own."""
_REPORTS, _LOGS = "reports", "logs"
_FIRST, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_NUMBER_MAX = 2**63 - 1


@dataclass(frozen=True)
class StoredSearch:
    """Lists what is stored of the tables that a caller may read."""

    stored_reports: ReportStore | None
    stored_logs: LogStore | None
    """None: nothing is stored here."""

    def reports(
        self, wanted: ReportQuery, limit: int, cursor: str | None, caller: Caller
    ) -> ReportsPage:
        """Return reports, newest first.

        Raises:
            BadCursor: the cursor does not belong to this list.
            NoReportStore: nothing is stored here.
            ReportStoreUnavailable: the store does not answer.
        """
        place = read_keyed(_REPORTS, cursor)
        query = replace(
            wanted,
            types=wanted.types & LISTED_TYPES or LISTED_TYPES,
            since=_utc(wanted.since),
            until=_utc(wanted.until),
            after=None if place is None else _report_place(place),
        )
        if self.stored_reports is None:
            raise NoReportStore(OFF)
        with _store_errors():
            page = self.stored_reports.page(query, limit, _tables(caller))
        behind = None
        if page.behind is not None:
            behind = write_keyed(_REPORTS, KeyedPlace(_micros(page.behind.at), page.behind[1]))
        return ReportsPage(reports=[report_view(each) for each in page.lines], next=behind)

    def report(self, record_id: str, caller: Caller) -> ReportRecord:
        """Return a stored record, as it was sent; with its whole payload, if that was spilled.

        Where the log store has not all of a payload that was spilled, it is cut and marked.

        Raises:
            ReportNotFound: none is stored under this id, or the caller may not read its table.
            NoReportStore, ReportStoreUnavailable: as of `reports`.
        """
        if self.stored_reports is None:
            raise NoReportStore(OFF)
        with _store_errors():
            record = self.stored_reports.get(record_id)
        if record is None or record.type not in LISTED_TYPES:
            raise ReportNotFound(record_id)
        if not caller.may(Permission.READ, record.data_source):
            raise ReportNotFound(record_id)
        return self._whole(record)

    def _whole(self, record: ReportRecord) -> ReportRecord:
        cut, logs = record.truncated, self.stored_logs
        if cut is None or cut.spilled_to is None or logs is None:
            return record
        try:
            parts = logs.read(cut.spilled_to, record.attempt, 0, cut.original_bytes)
        except (StoreAway, StoreRefuses):
            return record
        content = b"".join(each.content for each in parts)
        if hashlib.sha256(content).hexdigest() != cut.sha256:
            return record
        return record.model_copy(update={"payload": json.loads(content), "truncated": None})

    def lines(
        self, wanted: LogQuery, limit: int, cursor: str | None, caller: Caller
    ) -> LogLinesPage:
        """Return warnings and errors of stored logs, newest first; raises as `reports`."""
        place = read_keyed(_LOGS, cursor)
        query = replace(
            wanted,
            tables=_tables(caller),
            since=_utc(wanted.since),
            until=_utc(wanted.until),
            after=None if place is None else _line_place(place),
        )
        if self.stored_logs is None:
            raise NoReportStore(OFF)
        with _store_errors():
            page = self.stored_logs.search(query, limit)
        behind = None
        if page.behind is not None:
            at, subject, attempt, offset = page.behind
            behind = write_keyed(_LOGS, KeyedPlace([_micros(at), attempt, offset], subject))
        return LogLinesPage(lines=[line_view(each) for each in page.hits], next=behind)


def _tables(caller: Caller) -> tuple[str, ...] | None:
    """Return the patterns of tables that a caller may read; None: all, and what has no table."""
    return None if caller.reads_all else permitted(caller.grants).get(Permission.READ, ())


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except StoreMissing as error:
        raise NoReportStore(nothing_yet(error)) from error
    except (StoreAway, StoreRefuses) as error:
        raise ReportStoreUnavailable(f"the store of reports and logs: {error}") from error


def _utc(moment: datetime | None) -> datetime | None:
    """Return a moment in UTC; one beyond the calendar there is its first or last moment."""
    if moment is None:
        return None
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        edge = datetime.min if moment.year == 1 else datetime.max  # noqa: DTZ901 -- zone follows
        return edge.replace(tzinfo=UTC)


def _micros(at: datetime) -> int:
    return (at - _FIRST) // _MICROSECOND


def _report_place(place: KeyedPlace) -> ReportPlace:
    if not isinstance(place.value, int):
        raise BadCursor(_REPORTS)
    return ReportPlace(_moment(place.value, _REPORTS), place.row_id)


def _line_place(place: KeyedPlace) -> GravePlace:
    match place.value:
        case [micros, attempt, offset] if all(abs(n) <= _NUMBER_MAX for n in (attempt, offset)):
            return GravePlace(_moment(micros, _LOGS), place.row_id, attempt, offset)
    raise BadCursor(_LOGS)


def _moment(micros: int, list_name: str) -> datetime:
    try:
        return _FIRST + micros * _MICROSECOND
    except OverflowError:  # signed by somebody who knows how
        raise BadCursor(list_name) from None
