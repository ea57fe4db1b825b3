"""SQL of pages of reports: all but the payloads, which may be large."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from supervisor.adapters.reports.newest_first import Condition, NewestFirst, read_page
from supervisor.adapters.reports.schema import REPORTS, UNUSUAL
from supervisor.database.name_patterns import matching
from supervisor.ports.reports.reports import (
    LOOKED_AT_MAX,
    ReportLine,
    ReportPage,
    ReportPlace,
    ReportQuery,
)
from tasks.reporting.record import RecordOrigin, RecordType

__all__ = ["report_page", "reports_listed"]

_R = REPORTS.c
_COLUMNS = [column for column in _R if column.name not in {"digest", "body"}]
_SUCCESS = "SUCCESS"


def report_page(
    connection: Connection, query: ReportQuery, limit: int, tables: Sequence[str] | None
) -> ReportPage:
    """Return the newest records that match, at most `limit`."""
    listed = reports_listed(query, tables, on_sqlite=connection.dialect.name == "sqlite")
    page = read_page(connection, listed, _COLUMNS, limit, LOOKED_AT_MAX)
    behind: ReportPlace | None = None
    if page.behind is not None:
        at, *record_id = page.behind
        behind = ReportPlace(at, *(record_id or [""]))  # the least id: behind all of that time
    return ReportPage([_line(row) for row in page.rows], behind)


def reports_listed(
    query: ReportQuery, tables: Sequence[str] | None = None, *, on_sqlite: bool
) -> NewestFirst:
    """Return the list of a query, with the index that leaves the fewest rows, most likely."""
    wanted = _wanted(query)
    owner = next((name for name in _OWNERS if name in wanted), None)
    index = owner or "newest"
    if owner == "status":
        # Nearly all records that say how an attempt ended say that it did so well.
        unusual = query.status != _SUCCESS
        owner, index = ("status", "unusual") if unusual else (None, "newest")
    if owner is None and "type" in wanted:
        owner = index = "type"
    return NewestFirst(
        table=REPORTS,
        index=f"ix_reports_{index}",
        order=(_R.at, _R.record_id),
        owner=None if owner is None else (_R[owner], str(wanted.pop(owner))),
        of_index=[sa.text(UNUSUAL)] if index == "unusual" else (),
        since=query.since,
        until=query.until,
        after=query.after,
        others=[
            *(_R[name] == value for name, value in wanted.items()),
            *_further(query, tables, on_sqlite),
        ],
    )


_OWNERS = ("subject", "supervisor", "worker", "data_source", "status")


def _wanted(query: ReportQuery) -> dict[str, str | int]:
    """Return column -> the value that it has to have."""
    only = next(iter(query.types)) if len(query.types) == 1 else None
    values: dict[str, str | int | None] = {
        "subject": query.subject,
        "attempt": query.attempt,
        "supervisor": query.supervisor,
        "data_source": query.data_source,
        "worker": query.worker,
        "status": query.status,
        "origin": None if query.origin is None else query.origin.value,
        "type": None if only is None else only.value,
    }
    return {name: value for name, value in values.items() if value is not None}


def _further(query: ReportQuery, tables: Sequence[str] | None, on_sqlite: bool) -> list[Condition]:
    conditions: list[Condition] = []
    if len(query.types) > 1:
        conditions.append(_R.type.in_(sorted(kind.value for kind in query.types)))
    if tables is not None:
        any_of = [matching(_R.data_source, each, on_sqlite) for each in tables]
        conditions.append(sa.or_(sa.false(), *any_of))
    return conditions


def _line(row: Row[Any]) -> ReportLine:
    return ReportLine(
        record_id=row.record_id,
        type=RecordType(row.type),
        subject=row.subject,
        attempt=row.attempt,
        origin=RecordOrigin(row.origin),
        worker=row.worker,
        supervisor=row.supervisor,
        data_source=row.data_source,
        status=row.status,
        at=row.at,
        seq=row.seq,
        final=row.final,
        stored_at=row.stored_at,
        size_bytes=row.size,
        error=row.error or "",
    )
