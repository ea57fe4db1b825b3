"""Lists of executions: each filter by itself and with others, page by page, on both databases."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import JsonValue

from supervisor.adapters.executions import pages
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.core.executions.entities import Execution, RerunOf, RunFailure, StepError
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.states import ExecutionState
from supervisor.ports.flows.executions import ExecutionChanges, ExecutionPlace, ExecutionQuery
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.world import call

_STATES = (ExecutionState.RUNNING, ExecutionState.SUCCESS, ExecutionState.FAILED)
_TRIGGERS: tuple[dict[str, JsonValue], ...] = (
    {"type": "request"},
    {"type": "schedule", "name": "nightly"},
    {"type": "schedule", "name": "hourly"},
)
_QUERIES = (
    ExecutionQuery(),
    ExecutionQuery(flow="f1"),
    ExecutionQuery(states=frozenset({ExecutionState.FAILED})),
    ExecutionQuery(states=frozenset({ExecutionState.FAILED, ExecutionState.RUNNING})),
    ExecutionQuery(states=frozenset()),
    ExecutionQuery(flow="f0", states=frozenset(_STATES[1:])),
    ExecutionQuery(parent="p_1"),
    ExecutionQuery(since=BEGAN + timedelta(seconds=5), until=BEGAN + timedelta(seconds=30)),
    ExecutionQuery(labels=(("team", "a"),)),
    ExecutionQuery(labels=(("team", "a"), ("day", "1"))),
    ExecutionQuery(labels=(("team", "b"),), states=frozenset({ExecutionState.SUCCESS})),
    ExecutionQuery(labels=(("team", "none"),)),
    ExecutionQuery(labels=(("team", "a"),), since=BEGAN + timedelta(seconds=20)),
    ExecutionQuery(started_by="schedule"),
    ExecutionQuery(started_by="rerun"),
    ExecutionQuery(started_by="subflow", flow="f1"),
    ExecutionQuery(trigger="nightly"),
    ExecutionQuery(trigger="nightly", flow="f1"),
    ExecutionQuery(trigger="none"),
    ExecutionQuery(trigger="hourly", states=frozenset({ExecutionState.FAILED}), flow="f0"),
    ExecutionQuery(error="ANSWERED 50"),
    ExecutionQuery(error="100%_"),
    ExecutionQuery(error="100%_", flow="f1", labels=(("team", "b"),)),
)


def _executions() -> list[Execution]:
    chance = random.Random(7)
    plans = [FlowPlan(f"f{n}", 1, (call("one"),)) for n in range(2)]
    some = []
    for n in range(60):
        at = BEGAN + timedelta(seconds=n // 3)  # three at a time: the id decides
        state = chance.choice(_STATES)
        message = chance.choice(("server answered 502", "server Answered 404", "at 100%_ full"))
        failure = RunFailure("r", "one", StepError("http", message), at)
        failed = state is ExecutionState.FAILED
        some.append(
            Execution(
                f"e{n:02}",
                chance.choice(plans),
                {},
                at,
                version=1,
                state=state,
                trigger=chance.choice(_TRIGGERS),
                labels={"team": chance.choice("ab"), "day": chance.choice("12")},
                parent=chance.choice((None, None, "p_1/r/1", "px1/r/1")),
                rerun=RerunOf("e0") if n % 13 == 0 else None,
                failures=(failure,) if failed else (),
                ended_at=None if state is ExecutionState.RUNNING else at,
            )
        )
    return some


def _fits(execution: Execution, wanted: ExecutionQuery) -> bool:
    parent = (execution.parent or "").split("/")[0]
    at = execution.created_at
    return (
        wanted.flow in {None, execution.flow}
        and (wanted.states is None or execution.state in wanted.states)
        and wanted.parent in {None, parent}
        and (wanted.since is None or at >= wanted.since)
        and (wanted.until is None or at < wanted.until)
        and all(execution.labels[name] == value for name, value in wanted.labels)
        and wanted.started_by in {None, execution.started_by}
        and wanted.trigger in {None, execution.trigger_name}
        and (wanted.error is None or wanted.error.lower() in execution.error.lower())
    )


def _store(executions: SqlExecutions, some: list[Execution]) -> None:
    by_id = {each.id: each for each in some}
    with executions.working(1) as rows:
        rows.store(ExecutionChanges(by_id, set(by_id)))


@pytest.fixture
def listed(executions_url: str) -> SqlExecutions:
    """A database with 60 executions."""
    executions = SqlExecutions(ExecutionDatabase(executions_url))
    _store(executions, _executions())
    return executions


@pytest.mark.parametrize("rare", [0, 12, 5_000])
def test_each_filter_gives_what_fits_page_by_page(
    listed: SqlExecutions, rare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: it is the same, whichever of its filters a page is read by."""
    monkeypatch.setattr(pages, "_RARE", rare)
    some = sorted(_executions(), key=lambda each: (each.created_at, each.id), reverse=True)
    with closing(listed), listed.reading() as rows:
        for wanted in _QUERIES:
            seen: list[str] = []
            before = None
            while page := rows.page(wanted, 7, before):
                seen += [each.id for each in page]
                before = ExecutionPlace(page[-1].created_at, page[-1].id)
            assert seen == [each.id for each in some if _fits(each, wanted)], wanted


@pytest.mark.parametrize(
    "wanted",
    [
        ExecutionQuery(labels=(("team", "a"),), states=frozenset({ExecutionState.PAUSED})),
        ExecutionQuery(labels=(("team", "a"),), flow="rare"),
        ExecutionQuery(labels=(("team", "a"),), started_by="webhook"),
        ExecutionQuery(labels=(("team", "a"),), trigger="nightly"),
        ExecutionQuery(labels=(("team", "a"),), trigger="nightly", flow="f0"),
        ExecutionQuery(labels=(("team", "a"),), error="nowhere"),
        ExecutionQuery(labels=(("team", "a"), ("team", "none"))),
    ],
    ids=("state", "flow", "started by", "trigger", "of a flow", "error", "label"),
)
def test_a_label_of_all_beside_a_rare_filter_reads_few_rows(
    executions_sqlite_url: str, wanted: ExecutionQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: not one look-up for each execution that has the label, counted in SQLite's steps."""
    monkeypatch.setattr(pages, "_RARE", 20)
    one = replace(_executions()[0], labels={"team": "a"}, state=ExecutionState.SUCCESS, failures=())
    with closing(SqlExecutions(ExecutionDatabase(executions_sqlite_url))) as executions:
        _store(executions, [replace(one, id=f"f:{n}") for n in range(500)])
        with executions.reading() as rows:
            steps = 0

            def step() -> None:
                nonlocal steps
                steps += 1

            driver = rows.connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.set_progress_handler(step, 1)
            assert rows.page(wanted, 100) == []
            driver.set_progress_handler(None, 1)
    assert steps < 1_500


def test_a_long_label_is_known_by_its_beginning(executions_url: str) -> None:
    with closing(SqlExecutions(ExecutionDatabase(executions_url))) as executions:
        first = _executions()[0]
        _store(executions, [replace(first, labels={"n" * 150: "v" * 5000, "day": "1"})])
        with executions.reading() as rows:
            wanted = ExecutionQuery(labels=(("n" * 100, "v" * 300),))
            assert [each.id for each in rows.page(wanted, 5)] == [first.id]
            assert rows.execution(first.id) == replace(
                first, labels={"n" * 150: "v" * 5000, "day": "1"}
            )
