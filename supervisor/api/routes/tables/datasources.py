"""Routes that Druid lacks: tables and their files, ledgers, plans with their reasons."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from supervisor.api.http.access import DATA_SOURCE, LISTED, SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Cursor
from supervisor.core.tables.compaction import small_below
from supervisor.core.tables.totals import TimeWindow, check_bucket
from supervisor.core.values.field_types import Duration
from supervisor.core.values.permissions import Permission
from supervisor.views.tables.files import DataSources, DataSourcesWithTotals, TableFiles
from supervisor.views.tables.ledger import Ledger, PlansView
from supervisor.views.tables.totals import Timeline
from supervisor.views.tables.warehouse import WarehouseFiles

router = APIRouter(prefix="/api/v1", tags=["tables"])

BUCKETS_MAX, PLANS_MAX = 1_000, 200


@router.get("/datasources", dependencies=[needs(Permission.READ, LISTED)])
def list_data_sources(
    parts: Parts,
    asking: Asking,
    *,
    stats: Annotated[bool, Query(description="Also the totals of each table.")] = False,
) -> DataSources | DataSourcesWithTotals:
    """List the tables; with `stats` their rows, bytes and files, of a few seconds ago."""
    if stats:
        sums = parts.sums.stats(asking.may_read)
        return DataSourcesWithTotals(data_sources=[each.name for each in sums], stats=sums)
    found = parts.tables.data_sources().data_sources
    return DataSources(data_sources=[table for table in found if asking.may_read(table)])


@router.get(
    "/datasources/{data_source}/timeline", dependencies=[needs(Permission.READ, DATA_SOURCE)]
)
def get_timeline(
    data_source: str,
    parts: Parts,
    *,
    bucket: Annotated[
        Duration, Query(description="ISO 8601, PT1M or more.", examples=["PT1H"])
    ] = timedelta(days=1),
    begin: From = None,
    end: To = None,
    limit: Annotated[int, Query(ge=1, le=BUCKETS_MAX, description="At most so many.")] = 400,
) -> Timeline:
    """Count rows, bytes and files of a table by buckets of time, the newest that have a file."""
    check_times(begin=begin, end=end)
    check_bucket(bucket)
    small = small_below(parts.compacting.file_sizes(data_source))
    window = TimeWindow(bucket, begin, end, small.rows, small.size_bytes, limit + 1)
    return parts.sums.timeline(data_source, window, limit)


@router.get("/datasources/{data_source}/files", dependencies=[needs(Permission.READ, DATA_SOURCE)])
def list_files(
    data_source: str,
    parts: Parts,
    include: Annotated[
        Literal["journaled"] | None,
        Query(description="Also what live tasks have written and not yet published."),
    ] = None,
) -> TableFiles:
    """List the files that make up a table: what is not listed is no part of it."""
    return parts.tables.files(data_source, with_journaled=include is not None)


@router.get("/files", dependencies=[needs(Permission.READ)])
def list_warehouse(parts: Parts) -> WarehouseFiles:
    """List what may lie in the warehouse: files by name, folders of tasks that are not settled."""
    return parts.tables.warehouse_files()


@router.get(
    "/supervisors/{supervisor_id}/ledger", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)]
)
def get_ledger(supervisor_id: str, parts: Parts) -> Ledger:
    """Return all that a supervisor has committed and published, also of a terminated one."""
    return parts.supervisors.ledger(supervisor_id)


@router.get(
    "/supervisors/{supervisor_id}/plans", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)]
)
def get_plans(
    supervisor_id: str,
    parts: Parts,
    *,
    before: Annotated[
        datetime | None,
        Query(description="Made before this time.", examples=["2026-01-05T12:00:00Z"]),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=PLANS_MAX)] = 50,
    cursor: Cursor = None,
) -> PlansView:
    """Return what the last passes decided and why, newest first."""
    check_times(before=before)
    return parts.chronicle.plans(supervisor_id, limit, cursor, before)
