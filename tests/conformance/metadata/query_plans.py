"""The plan of a query over many rows: what a list or a pass costs once there is a history."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, text

from supervisor.database.engine import Bounds, create_engine
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL

_ON_SQLITE = {
    "numbers": "WITH RECURSIVE numbers(n) AS "
    "(SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {most})",
    "at": "strftime('%Y-%m-%d %H:%M:%f000', '2026-01-01', '+' || n || ' seconds')",
}
_ON_POSTGRESQL = {
    "numbers": "WITH numbers AS (SELECT generate_series(1, {most}) AS n)",
    "at": "(CAST('2026-01-01' AS timestamptz) + n * INTERVAL '1 second')",
}


def plan_of(
    database_url: str,
    query: Select[*tuple[Any, ...]],
    history: Sequence[str],
    *,
    most: int,
    analysed: bool,
) -> str:
    """Return the plan of a query after the statements of a history, one step a line.

    In these, `{numbers}` stands for the beginning of a SELECT from `numbers`, which has a column
    `n` from 1 to `most`, and `{at}` for the moment `n` seconds after the beginning of 2026.
    `analysed`: the database has statistics of its tables.
    """
    engine = create_engine(database_url, Bounds.below(LEASE_TTL * 10))
    on_sqlite = engine.dialect.name == "sqlite"
    words = _ON_SQLITE if on_sqlite else _ON_POSTGRESQL
    numbers = words["numbers"].format(most=most)
    with engine.connect() as connection:
        connection.execution_options(tidegate_writes=True)
        with connection.begin():
            for statement in history:
                connection.execute(text(statement.format(numbers=numbers, at=words["at"])))
        if analysed and not on_sqlite:
            with connection.begin():
                connection.execute(text("ANALYZE"))
    if analysed and on_sqlite:
        store = SqlStore(database_url, lease_ttl=LEASE_TTL)
        store.optimize()
        store.close()
    written = query.compile(engine, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if on_sqlite else "EXPLAIN"
    with engine.connect() as connection, connection.begin():
        plan = connection.exec_driver_sql(f"{explain} {written}").all()
    engine.dispose()
    return "\n".join(str(row) for row in plan)
