"""What is asked every second does not look at history: the planner takes the index made for it."""

import pytest
from sqlalchemy import text

from supervisor.metadata.engine import Bounds, create_engine
from supervisor.metadata.repositories import tasks as queries
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL

_ENDED = 20_000
_ON_SQLITE = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :most)
"""
_ON_POSTGRESQL = "WITH numbers AS (SELECT generate_series(1, :most) AS n)"
_GENERATION = """
INSERT INTO generations (id, supervisor_id, data_source, ordinal, layout_version, task_count,
  partition_count, group_number, spec_version, state, opened_at, timer_started_at, sequence,
  handoff_why, must_end)
VALUES ('g', 's', 't', 1, 1, 1, 1, 0, 1, 'PUBLISHED', '2026-01-01', '2026-01-01', 0, '', false)
"""
_TASKS = """
INSERT INTO tasks (id, supervisor_id, data_source, generation_id, replica, attempt, worker_id,
  incarnation, token, status, created_at, reason, ended_at, taken_up, published)
{numbers} SELECT 'task-' || n, 's', 't', 'g', n, 1, 'w1', 1, 'token',
  CASE WHEN n % 1000 = 0 THEN 'RUNNING' ELSE 'SUCCESS' END, '2026-01-01', '',
  {ended}, false, false
FROM numbers
"""


@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "statistics"])
def test_the_tasks_of_a_worker_are_found_without_those_that_have_ended(
    database_url: str, *, analysed: bool
) -> None:
    """Goal: a sync costs what its worker runs, not what it ever ran."""
    engine = create_engine(database_url, Bounds.below(LEASE_TTL * 10))
    on_sqlite = engine.dialect.name == "sqlite"
    moment = "CASE WHEN n % 1000 = 0 THEN NULL ELSE '2026-01-02' END"
    tasks = _TASKS.format(
        numbers=_ON_SQLITE if on_sqlite else _ON_POSTGRESQL,
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
    query = queries._ACTIVE_OF[False, True].params(of_worker="w1")
    statement = query.compile(engine, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if on_sqlite else "EXPLAIN"
    with engine.connect() as connection, connection.begin():
        plan = connection.exec_driver_sql(f"{explain} {statement}").all()
    engine.dispose()

    assert "ix_tasks_of_worker" in "\n".join(str(row) for row in plan)
