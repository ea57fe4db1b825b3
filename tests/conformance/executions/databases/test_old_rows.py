"""Rows of before a migration: what the newer columns say of them."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from alembic import command
from alembic.config import Config

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.side.database import SideKind
from supervisor.adapters.side.errors import SideErrors
from supervisor.core.executions.entities import Execution, RerunOf
from supervisor.core.executions.plan import FlowPlan
from supervisor.database.migrations import Migrations
from supervisor.ports.flows.executions import ExecutionChanges, ExecutionQuery
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.world import call

_ONE = Execution("f-1.x:mon", FlowPlan("f-1.x", 1, (call("one"),)), {}, BEGAN, version=1)
_FIRED = tuple(
    replace(_ONE, id=f"f-1.x:{name}:{slot}", trigger={"type": kind, "name": name})
    for name, kind, slot in (
        ("nightly", "schedule", "20261125T031500Z"),
        ("loaded", "published", "p-1.2"),
        ("door", "webhook", "~k0f"),
    )
)
_RERUN = replace(_FIRED[0], id="f-1.x:again", rerun=RerunOf(_FIRED[0].id))


def _back_to(url: str, revision: str) -> None:
    migrations = Migrations(folder="executions", lock=1)
    kind = SideKind(SideErrors("executions", "TIDEGATE_EXECUTIONS_URL", "an overlord"), migrations)
    with migrations.migrating(kind.with_schema(url)) as connection:
        config = Config()
        config.set_main_option("script_location", str(migrations.scripts()))
        config.attributes["connection"] = connection
        command.downgrade(config, revision)


def test_an_execution_of_before_is_found_by_its_trigger(executions_url: str) -> None:
    some = {each.id: each for each in (_ONE, *_FIRED, _RERUN)}
    first = SqlExecutions(ExecutionDatabase(executions_url))
    with closing(first), first.working(1) as rows:
        rows.store(ExecutionChanges(some, set(some)))
    _back_to(executions_url, "0006")
    migrate_executions(executions_url)

    executions = SqlExecutions(ExecutionDatabase(executions_url))
    with closing(executions), executions.reading() as rows:
        for each in _FIRED:
            wanted = ExecutionQuery(flow="f-1.x", trigger=str(each.trigger["name"]))
            assert [found.id for found in rows.page(wanted, 9)] == [each.id]


@pytest.mark.parametrize("flow", [None, "f-1.x"])
def test_one_trigger_among_many_executions_reads_few_rows(
    executions_sqlite_url: str, flow: str | None
) -> None:
    """Goal: the list by a trigger comes from its index, whatever the others have started."""
    others = {f"o:{n}": replace(_ONE, id=f"o:{n}") for n in range(300)}
    some = {**others, _FIRED[0].id: _FIRED[0]}
    with closing(SqlExecutions(ExecutionDatabase(executions_sqlite_url))) as executions:
        with executions.working(1) as rows:
            rows.store(ExecutionChanges(some, set(some)))
        with executions.reading() as rows:
            steps = 0

            def step() -> None:
                nonlocal steps
                steps += 1

            driver = rows.connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.set_progress_handler(step, 1)
            page = rows.page(ExecutionQuery(flow=flow, trigger="nightly"), 100)
            driver.set_progress_handler(None, 1)
    assert [each.id for each in page] == [_FIRED[0].id]
    assert steps < 500
