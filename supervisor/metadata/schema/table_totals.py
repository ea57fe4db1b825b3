"""Sums over segments: by table, and by the bucket of time that a file lies in."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, case, cast, func, select

from supervisor.core.tables.totals import (
    SmallBelow,
    SmallSizes,
    TableTotals,
    TimeBucket,
    TimeWindow,
)
from supervisor.metadata.schema.moments import moment_of, step_of
from supervisor.metadata.schema.tables import segments

_AT = segments.c
_USED = _AT.unused_at.is_(None)
_THERE = _AT.deleted_at.is_(None)
_BY_TASK = _AT.compaction_id.is_(None)


def _sum_of(value: ColumnElement[int] | int, where: ColumnElement[bool]) -> ColumnElement[int]:
    """Return a sum; PostgreSQL's would be of another type than its values."""
    return cast(func.coalesce(func.sum(case((where, value), else_=0)), 0), BigInteger)


def _is_below(limit: SmallBelow) -> ColumnElement[bool]:
    return (_AT.rows < limit.rows) & (_AT.size_bytes < limit.size_bytes)


def _is_small(sizes: SmallSizes) -> ColumnElement[bool]:
    tables: dict[SmallBelow, list[str]] = {}
    for table, limit in sorted(sizes.other.items()):
        tables.setdefault(limit, []).append(table)
    usual = _is_below(sizes.usual)
    if not tables:
        return usual
    own = [(_AT.data_source.in_(names), _is_below(limit)) for limit, names in tables.items()]
    return case(*own, else_=usual)


def totals_query(small: SmallSizes) -> Select[*tuple[Any, ...]]:
    """Return the query of `totals`."""
    return (
        select(
            _AT.data_source,
            _sum_of(_AT.rows, _USED).label("rows"),
            _sum_of(_AT.size_bytes, _USED).label("size_bytes"),
            _sum_of(1, _USED).label("files"),
            _sum_of(1, _USED & _is_small(small)).label("small_files"),
            _sum_of(1, ~_USED).label("unused_files"),
            func.min(case((_USED, _AT.time_min))).label("time_min"),
            func.max(case((_USED, _AT.time_max))).label("time_max"),
            func.max(case((_BY_TASK, _AT.published_at))).label("written_at"),
        )
        .where(_THERE)
        .group_by(_AT.data_source)
    )


def totals(connection: Connection, small: SmallSizes) -> dict[str, TableTotals]:
    """Return table -> its totals, of the tables that have a file; see `ports.tables.segments`."""
    return {
        row.data_source: TableTotals(
            rows=row.rows,
            size_bytes=row.size_bytes,
            files=row.files,
            small_files=row.small_files,
            unused_files=row.unused_files,
            time_min=row.time_min,
            time_max=row.time_max,
            written_at=row.written_at,
        )
        for row in connection.execute(totals_query(small))
    }


def timeline_query(data_source: str, window: TimeWindow) -> Select[*tuple[Any, ...]]:
    """Return the query of `timeline`."""
    step = step_of(_AT.interval_start).label("step_begin")
    is_small = (_AT.rows < window.small_rows) & (_AT.size_bytes < window.small_bytes)
    query = (
        select(
            step,
            _sum_of(_AT.rows, _USED).label("rows"),
            _sum_of(_AT.size_bytes, _USED).label("size_bytes"),
            _sum_of(1, _USED).label("files"),
            _sum_of(1, _USED & is_small).label("small"),
            _sum_of(1, ~_USED).label("unused"),
        )
        .where(_THERE, _AT.data_source == data_source)
        .group_by(step)
        .order_by(step.desc())
        .limit(window.limit)
    )
    if window.begin is not None:
        query = query.where(_AT.interval_start >= window.begin)
    if window.end is not None:
        query = query.where(_AT.interval_start < window.end)
    return query.params(step_s=int(window.bucket.total_seconds()))


def timeline(connection: Connection, data_source: str, window: TimeWindow) -> list[TimeBucket]:
    """Return the buckets of a table that have a file, newest first; see `ports.tables.segments`."""
    return [
        TimeBucket(
            start=moment_of(row.step_begin),
            rows=row.rows,
            size_bytes=row.size_bytes,
            files=row.files,
            small=row.small,
            unused=row.unused,
        )
        for row in connection.execute(timeline_query(data_source, window))
    ]
