"""Pages of a list of many executions, by each filter, and single executions."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import JsonValue
from sqlalchemy import text

from bench.result import Spread, spread
from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.app.short_pauses import short_pauses
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.reading import read_flow
from supervisor.executions.engine import StoredEngine
from supervisor.ports.flows.executions import ExecutionQuery, ExecutionReads
from tests.environment.postgres import postgres

__all__ = ["ListTimes", "measure_lists"]

ListTimes = Spread
"""Milliseconds of each call."""
_NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
_PAGE = 100
_FLOWS = 50
_FIRST = "flow0:seed"
_DOCUMENT: dict[str, JsonValue] = {
    "flow": "flow0",
    "labels": {"team": "a"},
    "steps": [
        {"name": "a", "type": "noop"},
        {"name": "b", "type": "noop", "after": ["a"]},
        {"name": "c", "type": "approve", "question": "on?", "after": ["b"]},
    ],
}
_COPIES = {
    "executions": """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows)
INSERT INTO executions (id, flow, flow_version, state, version, created_at, ended_at, due_at,
                        parent, head, plan, started_by, error)
SELECT 'flow' || (n % :flows) || ':' || n, 'flow' || (n % :flows), 1,
       CASE WHEN n % 100 = 0 THEN 'RUNNING' WHEN n % 10 = 0 THEN 'FAILED' ELSE 'SUCCESS' END,
       version, {at}, CASE WHEN n % 100 = 0 THEN NULL ELSE {at} END, NULL, NULL,
       replace(head, :first, 'flow' || (n % :flows) || ':' || n), plan,
       CASE WHEN n % 3 = 0 THEN 'schedule' ELSE 'request' END,
       CASE WHEN n % 10 = 0 AND n % 100 > 0 THEN 'verify: ' || (n % 997) || ' rows lost' END
FROM numbers, (SELECT * FROM executions WHERE id = :first) AS one""",
    "labels": """
INSERT INTO labels (execution, name, value, created_at)
SELECT id, 'team', CASE WHEN flow = 'flow7' THEN 'b' ELSE 'a' END, created_at
FROM executions WHERE id <> :first""",
    "task_runs": """
INSERT INTO task_runs (execution, id, body)
SELECT e.id, r.id, r.body FROM executions AS e, task_runs AS r
WHERE r.execution = :first AND e.id <> :first AND e.flow = 'flow7'""",
}
_AT = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', created_at, '+' || n || ' seconds')",
    "postgresql": "created_at + n * interval '1 second'",
}


def measure_lists(folder: Path, kind: str, rows: int, calls: int) -> Mapping[str, ListTimes]:
    """Ask for the first page and a later one by each filter, and for single executions."""
    with _database(folder, kind) as url:
        migrate_executions(url)
        store = SqlExecutions(ExecutionDatabase(url))
        _fill(store, url, kind, rows)
        with short_pauses():  # as an overlord has, which has run for a while
            gc.collect()
            times = {
                name: spread([_taken(store, ask, number) for number in range(calls)])
                for name, ask in _questions(rows).items()
            }
        store.close()
        return times


def _questions(rows: int) -> Mapping[str, Callable[[ExecutionReads, int], object]]:
    def page(**wanted: object) -> Callable[[ExecutionReads, int], object]:
        query = ExecutionQuery(**wanted)  # type: ignore[arg-type]  # by the names of its fields
        return lambda tx, _: tx.page(query, _PAGE)

    def one(tx: ExecutionReads, number: int) -> Execution:
        wanted = (number * 7_919 % (rows // _FLOWS)) * _FLOWS + 7
        execution = tx.execution(f"flow7:{wanted if wanted <= rows else 7}")
        assert execution is not None
        return execution

    failed = frozenset({ExecutionState.FAILED})
    return {
        "all": page(),
        "flow": page(flow="flow7"),
        "state": page(states=failed),
        "flow and state": page(flow="flow20", states=failed),
        "label": page(labels=(("team", "b"),)),
        "started by": page(started_by="schedule"),
        "error": page(error="997 rows"),
        "error, none": page(error="no such text"),
        "time": page(until=_NOON + timedelta(seconds=rows // 2)),
        "one": one,
    }


def _taken(
    store: SqlExecutions, ask: Callable[[ExecutionReads, int], object], number: int
) -> float:
    began = time.perf_counter()
    with store.reading() as tx:
        ask(tx, number)
    return (time.perf_counter() - began) * 1e3


def _fill(store: SqlExecutions, url: str, kind: str, rows: int) -> None:
    """Store one execution by the engine, and copies of it by SQL."""
    language = CelExpressions()
    document = read_flow(_DOCUMENT, language)
    engine = StoredEngine(store, lambda: 1, language, lambda: _NOON)
    labels = {"team": "a"}
    engine.work(starts=[Execution(_FIRST, compile_flow(document, 1), {}, _NOON, labels=labels)])
    filler = ExecutionDatabase(url)
    with filler.writing() as connection:
        given = {"rows": rows, "flows": _FLOWS, "first": _FIRST}
        for statement in _COPIES.values():
            filled = text(statement.replace("{at}", _AT[kind]))
            names = set(filled.compile().params)
            connection.execute(filled, {key: given[key] for key in names})
    if kind == "postgresql":
        with filler.writing() as connection:
            connection.execute(text("ANALYZE"))
    filler.close()


@contextmanager
def _database(folder: Path, kind: str) -> Iterator[str]:
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        if kind == "sqlite":
            yield f"sqlite:///{folder / 'executions.db'}"
        else:
            yield stack.enter_context(stack.enter_context(postgres()).database())
