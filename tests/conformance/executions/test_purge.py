"""The end of executions: by age and by number, in bounded batches, never a live one."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import EVENTS, EXECUTIONS, LABELS, RUNS
from supervisor.chores.flows.purge import PURGES_PER_RUN, PurgeDuty
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import ApproveWork, FlowPlan, SetWork, Step
from supervisor.core.history.expiry import HistoryAges
from supervisor.executions import engine as engines
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN

_DONE = FlowPlan("done", 1, (Step("v", SetWork({"n": 1})),))
_ASKS = FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),))
_DAY = timedelta(days=1)


def _start(stored: Stored, plan: FlowPlan, name: str, at: datetime) -> None:
    stored.now = at
    stored.engine.work(starts=[Execution(name, plan, {}, at, labels={"team": "a"})])


def _left(stored: Stored) -> list[str]:
    with stored.store.reading() as rows:
        return list(rows.versions([f"e{n}" for n in range(200)]))


def _purge(stored: Stored, now: datetime, **ages: timedelta | int) -> None:
    keeps = HistoryAges(**ages)  # type: ignore[arg-type]
    PurgeDuty(stored.engine, lambda: now, keeps).run_once()


def _count(url: str) -> Sequence[int]:
    database = ExecutionDatabase(url)
    with database.reading() as connection:
        counts = [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (EXECUTIONS, RUNS, EVENTS, LABELS)
        ]
    database.close()
    return counts


def test_e13_what_ended_long_ago_goes_with_all_that_is_stored_of_it(
    stored: Stored, executions_url: str
) -> None:
    for number in range(4):
        _start(stored, _DONE, f"e{number}", BEGAN + number * _DAY)
    _start(stored, _ASKS, "e9", BEGAN)

    _purge(stored, BEGAN + 12 * _DAY, executions=timedelta(days=10))

    assert sorted(_left(stored)) == ["e2", "e3", "e9"]
    assert stored.get("e2").state.ended
    with stored.store.reading() as rows:  # this process had it in memory
        assert rows.execution("e0") is None
        assert rows.events("e0", 0, 10) == []
    executions, runs, _, labels = _count(executions_url)
    assert (executions, runs, labels) == (3, 3, 3)


def test_of_a_flow_that_has_too_many_the_oldest_go(stored: Stored) -> None:
    for number in range(6):
        _start(stored, _DONE, f"e{number}", BEGAN + number * _DAY)
    for number in range(10, 15):
        _start(stored, _ASKS, f"e{number}", BEGAN)

    _purge(stored, BEGAN + 6 * _DAY, executions=365 * _DAY, executions_of_each=2)

    assert sorted(_left(stored)) == ["e10", "e11", "e12", "e13", "e14", "e4", "e5"]


def test_a_run_of_the_duty_is_bounded_and_the_next_one_goes_on(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "PURGED_AT_ONCE", 1)
    monkeypatch.setattr("supervisor.chores.flows.purge.PURGED_AT_ONCE", 1)
    monkeypatch.setattr("supervisor.chores.flows.purge.PURGES_PER_RUN", 2)
    for number in range(5):
        _start(stored, _DONE, f"e{number}", BEGAN)
    left = []
    for _ in range(3):
        _purge(stored, BEGAN + 40 * _DAY)
        left.append(len(_left(stored)))
    assert left == [3, 1, 0]
    assert PURGES_PER_RUN > 1


def test_a_key_that_is_purged_starts_anew(stored: Stored) -> None:
    _start(stored, _DONE, "e1", BEGAN)
    again = stored.engine.work(starts=[Execution("e1", _DONE, {}, BEGAN)])
    assert again.started == frozenset()
    _purge(stored, BEGAN + 40 * _DAY)
    anew = stored.engine.work(starts=[Execution("e1", _DONE, {}, BEGAN)])
    assert anew.started == {"e1"}


def test_who_knew_an_execution_that_was_purged_reads_the_one_that_has_its_id_now(
    stored: Stored,
) -> None:
    """Two overlords, one key that is used again: both executions have the same version."""
    _start(stored, _DONE, "e1", BEGAN)
    before = stored.get("e1")
    former = stored.store
    stored.restart()

    _purge(stored, BEGAN + 12 * _DAY, executions=timedelta(days=10))
    _start(stored, replace(_DONE, version=2), "e1", BEGAN + 12 * _DAY)

    with former.reading() as rows:
        now = rows.execution("e1")
    assert now is not None
    assert now.version == before.version
    assert (now.created_at, now.plan.version) == (BEGAN + 12 * _DAY, 2)
