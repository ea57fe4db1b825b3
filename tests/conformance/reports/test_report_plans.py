"""The lists of reports and their deletion take an index each, also before there are statistics."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Select, text

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.grave_index import lines_listed
from supervisor.adapters.reports.report_pages import reports_listed
from supervisor.adapters.reports.schema import GRAVE_LINES, REPORTS
from supervisor.adapters.reports.sql import (
    list_query,
    numbered_query,
    numbers_query,
    old_query,
    owned_query,
)
from supervisor.core.reports.grave import GraveLevel
from supervisor.ports.reports.logs import GravePlace, LogQuery
from supervisor.ports.reports.reports import NumberedQuery, ReportPlace, ReportQuery
from tasks.reporting.record import RecordType
from tests.conformance.reports.report_stores import NOON

_COLUMNS = """INSERT INTO reports (record_id, type, subject, attempt, origin, worker, supervisor,
 data_source, status, at, seq, final, digest, body) """
_VALUES = """ {numbers} SELECT 'r' || n,
 CASE WHEN n % 10 = 0 THEN 'task_result' WHEN n % 2 = 1 THEN 'event' ELSE 'progress' END,
 CASE WHEN n % 2 = 1 THEN 'history' ELSE 't' || n % 5000 END, 1,
 'stream', 'w' || n % 50, 's' || n % 100, 'd' || n % 100,
 CASE WHEN n % 1000 = 0 THEN 'FAILED' WHEN n % 10 = 0 THEN 'SUCCESS' END, {at}, n, {false},
 CAST('x' AS {bytes}), '{{}}' FROM numbers"""
_LINE_COLUMNS = """INSERT INTO grave_lines (subject, attempt, "offset", at, level, text,
 supervisor, data_source, worker) """
_LINE_VALUES = """ {numbers} SELECT 't' || n % 5000, 1, n, {at}, 1 + n % 3, 'the disk is full',
 's' || n % 100, 'd' || n % 100, 'w' || n % 50 FROM numbers"""
_ON_SQLITE = {
    "numbers": "WITH RECURSIVE numbers(n) AS "
    "(SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000) ",
    "at": "strftime('%Y-%m-%d %H:%M:%f000', '2026-11-28', '+' || n || ' seconds')",
    "false": "0",
    "bytes": "BLOB",
}
_ON_POSTGRESQL = {
    "numbers": "WITH numbers AS (SELECT generate_series(1, 20000) AS n) ",
    "at": "CAST('2026-11-28' AS timestamptz) + n * INTERVAL '1 second'",
    "false": "false",
    "bytes": "bytea",
}
_RESULTS = frozenset({RecordType.TASK_RESULT})
HOUR = timedelta(hours=1)
_PLACE = ReportPlace(NOON, "r7")
_QUERIES = {
    "newest": list_query(ReportQuery(after=_PLACE), 100),
    "supervisor": list_query(ReportQuery(supervisor="s7", after=_PLACE), 100),
    "data_source": list_query(ReportQuery(data_source="d7", types=_RESULTS), 100),
    "worker": list_query(ReportQuery(worker="w7", status="SUCCESS"), 100),
    "subject": list_query(ReportQuery(subject="t8", attempt=1), 100),
    "type": list_query(ReportQuery(types=_RESULTS, since=NOON), 100),
    "unusual": list_query(ReportQuery(status="FAILED", after=_PLACE), 100),
    "numbered": numbered_query(NumberedQuery(RecordType.EVENT, "history", above=17), 100),
    "numbered_supervisor": numbers_query(
        NumberedQuery(
            RecordType.EVENT, "history", below=17_000, supervisor="s7", newest_first=True
        ),
        100,
    ),
}
_DELETED = {
    "type": old_query(RecordType.PROGRESS, NOON, 100),
    "supervisor": owned_query("s7", NOON + HOUR, 100),
}


@pytest.mark.parametrize("index", _QUERIES)
def test_a_list_reads_one_index_in_its_order(reports_url: str, index: str) -> None:
    """Goal: a page of a million rows costs what is on the page."""
    plan = _plan_of(reports_url, _QUERIES[index])
    # PostgreSQL may pass by rows of other types, where its statistics say that they are few.
    good = {index, "newest"} if (index, reports_url[0]) == ("type", "p") else {index}
    assert any(f"ix_reports_{each}" in plan for each in good), plan
    assert "TEMP B-TREE" not in plan, plan


_PAGED = {
    "newest": ReportQuery(),
    "supervisor": ReportQuery(supervisor="s7", status="SUCCESS"),
    "data_source": ReportQuery(data_source="d7", types=_RESULTS),
    "worker": ReportQuery(worker="w7"),
    "subject": ReportQuery(subject="t7", attempt=1),
    "type": ReportQuery(types=_RESULTS, status="SUCCESS"),
    "unusual": ReportQuery(status="FAILED"),
}
_LINES = {
    "newest": LogQuery(level=GraveLevel.ERROR, text="disk"),
    "supervisor": LogQuery(supervisor="s7", level=GraveLevel.ERROR),
    "data_source": LogQuery(data_source="d7"),
    "worker": LogQuery(worker="w7", text="disk"),
    "subject": LogQuery(subject="t7", text="disk"),
}


@pytest.mark.parametrize("index", _PAGED)
def test_a_page_of_reports_and_its_edge_read_one_index_in_its_order(
    reports_url: str, index: str
) -> None:
    query = replace(_PAGED[index], since=NOON - HOUR, until=NOON + HOUR, after=_PLACE)
    listed = reports_listed(query, on_sqlite=reports_url.startswith("sqlite"))
    edge = (NOON, "r5")
    queries = listed.edge(10_000), listed.rows([REPORTS.c.record_id], 101, edge)
    _read_one_index(f"ix_reports_{index}", *_plans_of(reports_url, *queries))


@pytest.mark.parametrize("index", _LINES)
def test_a_page_of_lines_and_its_edge_read_one_index_in_its_order(
    reports_url: str, index: str
) -> None:
    place = GravePlace(NOON, "t7", 1, 5)
    query = replace(_LINES[index], since=NOON - HOUR, until=NOON + HOUR, after=place)
    listed = lines_listed(query, on_sqlite=reports_url.startswith("sqlite"))
    queries = listed.edge(20_000), listed.rows([GRAVE_LINES.c.text], 101)
    _read_one_index(f"ix_grave_lines_{index}", *_plans_of(reports_url, *queries))


def _read_one_index(index: str, *plans: str) -> None:
    for plan in plans:
        # PostgreSQL sorts what it estimates to be few, and of one task may take the key.
        by_key = "grave_lines_pkey" if index == "ix_grave_lines_subject" else index
        assert index in plan or by_key in plan, plan
        assert not any(word in plan for word in ("TEMP B-TREE", "SCAN", "Seq Scan")), plan


@pytest.mark.parametrize("index", _DELETED)
def test_what_is_to_be_deleted_is_found_by_an_index(reports_url: str, index: str) -> None:
    plan = _plan_of(reports_url, _DELETED[index])
    assert f"ix_reports_{index}" in plan, plan
    assert "TEMP B-TREE" not in plan, plan


def _plan_of(url: str, query: Select[Any]) -> str:
    return _plans_of(url, query)[0]


def _plans_of(url: str, *queries: Select[Any]) -> list[str]:
    """Fill an empty database with rows, and return how it would answer each query."""
    database = ReportDatabase(url)
    words = _ON_SQLITE if database.on_sqlite else _ON_POSTGRESQL
    with database.writing() as connection:
        connection.execute(text((_COLUMNS + _VALUES).format(**words)))
        connection.execute(text((_LINE_COLUMNS + _LINE_VALUES).format(**words)))
    if not database.on_sqlite:
        with database.writing() as connection:
            connection.execute(text("ANALYZE reports"))
            connection.execute(text("ANALYZE grave_lines"))
    explain = "EXPLAIN QUERY PLAN" if database.on_sqlite else "EXPLAIN"
    plans = []
    with database.reading() as connection:
        for query in queries:
            written = query.compile(connection, compile_kwargs={"literal_binds": True})
            plan = connection.exec_driver_sql(f"{explain} {written}").all()
            plans.append("\n".join(str(row) for row in plan))
    database.close()
    return plans
