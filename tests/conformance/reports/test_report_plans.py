"""The lists of reports and their deletion take an index each, also before there are statistics."""

from typing import Any

import pytest
from sqlalchemy import Select, text

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.sql import list_query, numbered_query, old_query, owned_query
from supervisor.ports.reports.reports import ReportPlace, ReportQuery
from tasks.reporting.record import RecordType
from tests.conformance.reports.report_stores import NOON

_COLUMNS = """INSERT INTO reports (record_id, type, subject, attempt, origin, worker, supervisor,
 data_source, status, at, seq, final, digest, body) """
_VALUES = """ {numbers} SELECT 'r' || n,
 CASE WHEN n % 10 = 0 THEN 'task_result' WHEN n % 2 = 1 THEN 'event' ELSE 'progress' END,
 't' || n % 5000, 1, 'stream', 'w' || n % 50, 's' || n % 100, 'd' || n % 100,
 CASE WHEN n % 1000 = 0 THEN 'FAILED' WHEN n % 10 = 0 THEN 'SUCCESS' END, {at}, n, {false},
 CAST('x' AS {bytes}), '{{}}' FROM numbers"""
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
_PLACE = ReportPlace(NOON, "r7")
_QUERIES = {
    "newest": list_query(ReportQuery(after=_PLACE), 100),
    "supervisor": list_query(ReportQuery(supervisor="s7", after=_PLACE), 100),
    "data_source": list_query(ReportQuery(data_source="d7", types=_RESULTS), 100),
    "worker": list_query(ReportQuery(worker="w7", status="SUCCESS"), 100),
    "subject": list_query(ReportQuery(subject="t7", attempt=1), 100),
    "type": list_query(ReportQuery(types=_RESULTS, since=NOON), 100),
    "unusual": list_query(ReportQuery(status="FAILED", after=_PLACE), 100),
    "numbered": numbered_query(RecordType.EVENT, 17, 100),
}
_DELETED = {
    "type": old_query(RecordType.PROGRESS, NOON, 100),
    "supervisor": owned_query("s7", 100),
}


@pytest.mark.parametrize("index", _QUERIES)
def test_a_list_reads_one_index_in_its_order(reports_url: str, index: str) -> None:
    """Goal: a page of a million rows costs what is on the page."""
    plan = _plan_of(reports_url, _QUERIES[index])
    # PostgreSQL may pass by rows of other types, where its statistics say that they are few.
    good = {index, "newest"} if (index, reports_url[0]) == ("type", "p") else {index}
    assert any(f"ix_reports_{each}" in plan for each in good), plan
    assert "TEMP B-TREE" not in plan, plan


@pytest.mark.parametrize("index", _DELETED)
def test_what_is_to_be_deleted_is_found_by_an_index(reports_url: str, index: str) -> None:
    plan = _plan_of(reports_url, _DELETED[index])
    assert f"ix_reports_{index}" in plan, plan
    assert "TEMP B-TREE" not in plan, plan


def _plan_of(url: str, query: Select[Any]) -> str:
    database = ReportDatabase(url)
    words = _ON_SQLITE if database.on_sqlite else _ON_POSTGRESQL
    with database.writing() as connection:
        connection.execute(text((_COLUMNS + _VALUES).format(**words)))
    if not database.on_sqlite:
        with database.writing() as connection:
            connection.execute(text("ANALYZE reports"))
    with database.reading() as connection:
        written = query.compile(connection, compile_kwargs={"literal_binds": True})
        explain = "EXPLAIN QUERY PLAN" if database.on_sqlite else "EXPLAIN"
        plan = connection.exec_driver_sql(f"{explain} {written}").all()
    database.close()
    return "\n".join(str(row) for row in plan)
