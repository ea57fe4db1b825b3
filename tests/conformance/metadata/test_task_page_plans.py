"""A page of tasks does not look at history: the planner takes the index of its order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, Select, text

from supervisor.core.model.rows import TaskStatus
from supervisor.core.model.task_query import TaskPlace, TaskQuery
from supervisor.database.engine import Bounds, create_engine
from supervisor.metadata.schema.task_pages import look_query, page_query
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL

_ENDED = 20_000
_ON_SQLITE = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :most)
"""
_ON_POSTGRESQL = "WITH numbers AS (SELECT generate_series(1, :most) AS n)"
_SECONDS_ON_SQLITE = "datetime('2026-01-01', '+' || n || ' seconds')"
_SECONDS_ON_POSTGRESQL = "CAST('2026-01-01' AS timestamptz) + n * INTERVAL '1 second'"
_GENERATION = """
INSERT INTO generations (id, supervisor_id, data_source, ordinal, layout_version, task_count,
  partition_count, group_number, spec_version, state, opened_at, timer_started_at, sequence,
  handoff_why, must_end)
VALUES ('g', 's', 't', 1, 1, 1, 1, 0, 1, 'PUBLISHED', '2026-01-01', '2026-01-01', 0, '', false)
"""
_TASKS = """
INSERT INTO tasks (id, supervisor_id, data_source, generation_id, replica, attempt, worker_id,
  incarnation, token, status, created_at, reason, ended_at, taken_up, published)
{numbers} SELECT 'task-' || n, CASE WHEN n <= 1000 THEN 's3' ELSE 's' END,
  't', 'g', n, 1, 'w1', 1, 'token',
  CASE WHEN n % 1000 = 0 THEN 'RUNNING' ELSE 'SUCCESS' END, {created}, '',
  {ended}, false, false
FROM numbers
"""


@contextmanager
def _history(database_url: str, *, analysed: bool) -> Iterator[Engine]:
    """Fill a database with the tasks of a long history."""
    engine = create_engine(database_url, Bounds.below(LEASE_TTL * 10))
    on_sqlite = engine.dialect.name == "sqlite"
    moment = "CASE WHEN n % 1000 = 0 THEN NULL ELSE '2026-01-02' END"
    tasks = _TASKS.format(
        numbers=_ON_SQLITE if on_sqlite else _ON_POSTGRESQL,
        created=_SECONDS_ON_SQLITE if on_sqlite else _SECONDS_ON_POSTGRESQL,
        ended=moment if on_sqlite else f"CAST({moment} AS timestamptz)",
    )
    with engine.connect() as connection:
        connection.execution_options(tidegate_writes=True)
        with connection.begin():
            connection.execute(text(_GENERATION))
            connection.execute(text(tasks), {"most": _ENDED})
        if analysed and not on_sqlite:
            with connection.begin():
                connection.execute(text("ANALYZE"))
    if analysed and on_sqlite:
        store = SqlStore(database_url, lease_ttl=LEASE_TTL)
        store.optimize()
        store.close()
    try:
        yield engine
    finally:
        engine.dispose()


def _plan(engine: Engine, query: Select[*tuple[object, ...]]) -> str:
    """Return the planner's way to the rows of a query."""
    statement = query.compile(engine, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if engine.dialect.name == "sqlite" else "EXPLAIN"
    with engine.connect() as connection, connection.begin():
        plan = connection.exec_driver_sql(f"{explain} {statement}").all()
    return "\n".join(str(row) for row in plan)


@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "statistics"])
def test_a_page_of_tasks_is_found_by_one_index_in_its_order(
    database_url: str, *, analysed: bool
) -> None:
    """Goal: a page costs what it looks at, also of a supervisor that began no task lately."""
    behind = TaskPlace(datetime(2026, 1, 1, 2, tzinfo=UTC), "task-7200")
    everything = TaskQuery(text="x", worker_id="w1", group=0, tables=("t*",))
    indexes = {
        TaskQuery(): "ix_tasks_created_at",
        TaskQuery(status=TaskStatus.UNKNOWN): "ix_tasks_created_at",
        TaskQuery(status=TaskStatus.FAILED): "ix_tasks_status_created_at",
        TaskQuery(own_failure=True): "ix_tasks_status_created_at",
        TaskQuery(supervisor_id="s3"): "ix_tasks_supervisor_id_created_at",
        TaskQuery(supervisor_id="s3", own_failure=True): "ix_tasks_supervisor_id_created_at",
        replace(everything, supervisor_id="s3"): "ix_tasks_supervisor_id_created_at",
        everything: "ix_tasks_created_at",
    }
    with _history(database_url, analysed=analysed) as engine:
        on_sqlite = engine.dialect.name == "sqlite"
        for wanted, index in indexes.items():
            for before in (None, behind):
                page = page_query(wanted, before, 10, 100, on_sqlite=on_sqlite)
                for query in (page, look_query(wanted, before, 100, on_sqlite=on_sqlite)):
                    plan = _plan(engine, query)
                    assert index in plan, (wanted, plan)
