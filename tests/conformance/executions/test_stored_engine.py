"""The engine over a database: terms, crashes before the commit, runners that are served."""

import threading
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from pydantic import JsonValue
from sqlalchemy import select, update

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import EXECUTIONS
from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import KillIt, PauseIt, Report, Succeeded
from supervisor.core.executions.plan import EachWork, FlowPlan, OnLost, Step, SubflowWork
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.core.flows.stored import StoredFlow, digest_of
from supervisor.core.values.errors import LeaseLost
from supervisor.executions.engine import CallReport, RunnerOrders, StoredEngine, place_of
from supervisor.ports.flows.executions import CallPlace, ExecutionQuery
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.supervisor.core.executions.world import call

RUNNER = Runner("executor-1", "one")
OTHER = Runner("executor-2", "one")


@dataclass
class Served:
    """A runner of one engine, and what it makes."""

    engine: StoredEngine
    runner: Runner = RUNNER
    makes: dict[CallPlace, StepCall] = field(default_factory=dict)

    def serve(self, *done: StepCall, free: int = 0) -> RunnerOrders:
        """Report these as done, and take what is granted."""
        reports = []
        for job in done:
            self.makes.pop(place_of(job), None)
            holder = None if job.check else self.runner
            given = Report(job.run, job.attempt, Succeeded(), holder, job.check)
            reports.append(CallReport(job.execution, given))
        orders = self.engine.serve(self.runner, list(self.makes), reports, free)
        self.makes |= {place_of(job): job for job in orders.begin}
        return orders


def _each(items: int) -> FlowPlan:
    work = EachWork(list(range(items)), (call("one"),), concurrency=items)
    return FlowPlan("f", 1, (Step("all", work),))


def test_a_runner_gets_as_many_calls_as_it_has_room_for_and_each_goes_to_one(
    stored: Stored,
) -> None:
    engine = stored.engine
    engine.work(starts=[Execution("e1", _each(5), {}, BEGAN)])
    one, other = Served(engine), Served(engine, OTHER)

    first, second, third = one.serve(free=2), other.serve(free=9), one.serve(free=9)

    places = [place_of(job) for orders in (first, second, third) for job in orders.begin]
    assert [len(orders.begin) for orders in (first, second, third)] == [2, 3, 0]
    assert len(set(places)) == 5


def test_e12_an_execution_that_cannot_be_read_stops_no_other_one(
    stored: Stored, executions_url: str
) -> None:
    """Goal: its times, calls and reports wait until somebody has mended it."""
    timed = FlowPlan("f", 1, (call("a"), call("b", "a")), timeout=timedelta(minutes=5))
    stored.engine.work(starts=[Execution(name, timed, {}, BEGAN) for name in ("bad", "good")])
    served = Served(stored.engine)
    first = served.serve(free=1).begin
    assert [each.execution for each in first] == ["bad"]
    whole = _put_head(executions_url, "bad", "no json")
    stored.restart()
    served.engine = stored.engine

    orders = served.serve(*first, free=1)
    assert [each.execution for each in orders.begin] == ["good"], "what was reported is passed over"
    while orders.begin:
        orders = served.serve(*orders.begin, free=1)
    assert stored.get("good").state is ExecutionState.SUCCESS
    stored.now += timedelta(minutes=6)
    assert stored.engine.tick() == 0
    _put_head(executions_url, "bad", whole)
    stored.now += timedelta(minutes=1)
    assert stored.engine.tick() == 1, "it is looked at again"
    assert stored.get("bad").due_at is None, "its timeout has come"


def test_a_child_has_the_inputs_and_labels_of_its_stored_flow(stored: Stored) -> None:
    """Goal: defaults count, and what does not fit begins no execution: the step fails."""
    steps: JsonValue = [{"name": "a", "type": "noop"}]
    inputs: JsonValue = [{"name": "day", "type": "date", "default": "2026-11-25"}]
    _add_flow(stored, {"flow": "f1", "labels": {"team": "a"}, "inputs": inputs, "steps": steps})
    _add_flow(stored, {"flow": "f2", "steps": [{"name": "a", "type": "of another release"}]})
    engine = StoredEngine(stored.store, lambda: 1, LANGUAGE, lambda: BEGAN)
    subs = {
        "fits": SubflowWork("f1"),
        "wrong": SubflowWork("f1", {"day": "soon"}),
        "newer": SubflowWork("f2"),
        "nobody": SubflowWork("f3"),
    }
    plan = FlowPlan("f", 1, tuple(Step(name, work) for name, work in subs.items()))
    engine.work(starts=[Execution("e1", plan, {}, BEGAN)])

    with stored.store.reading() as rows:
        [child] = [one for one in rows.page(ExecutionQuery(), 10) if one.id != "e1"]
    assert (child.inputs, child.labels) == ({"day": "2026-11-25"}, {"team": "a"})
    failures = {one.step: one.error.message for one in stored.get("e1").failures}
    assert failures.keys() == {"wrong", "newer", "nobody"}
    assert "/inputs/day: soon is no date" in failures["wrong"]
    assert "this release does not take the flow f2: /steps/0" in failures["newer"]
    assert failures["nobody"] == "there is no flow f3"


def _add_flow(stored: Stored, document: dict[str, JsonValue]) -> None:
    flow = StoredFlow(str(document["flow"]), 1, document, digest_of(document), "ann", None, BEGAN)
    with stored.store.working(1) as rows:
        rows.flows.add(flow)


def _put_head(url: str, execution: str, head: str) -> str:
    """Write another record in the place of an execution's; return the one before."""
    of_it = EXECUTIONS.c.id == execution
    with closing(ExecutionDatabase(url)) as database, database.writing() as connection:
        before: str = connection.execute(select(EXECUTIONS.c.head).where(of_it)).scalar_one()
        connection.execute(update(EXECUTIONS).where(of_it).values(head=head))
    return before


def test_a_flow_goes_to_its_end_by_what_runners_report(stored: Stored) -> None:
    stored.engine.work(starts=[Execution("e1", _each(7), {}, BEGAN)])
    served = Served(stored.engine)
    orders = served.serve(free=3)
    while orders.begin:
        orders = served.serve(*orders.begin, free=3)

    execution = stored.get("e1")
    assert execution.state is ExecutionState.SUCCESS
    assert stored.leftovers() == {}


def test_an_answer_that_got_lost_is_given_again(stored: Stored) -> None:
    """Goal: what was granted to a runner that does not know of it is not forgotten, nor doubled."""
    engine = stored.engine
    engine.work(starts=[Execution("e1", _each(2), {}, BEGAN)])
    served = Served(engine)
    lost = engine.serve(RUNNER, [], free=1)

    again = served.serve(free=1)

    assert set(map(place_of, again.begin)) > set(map(place_of, lost.begin))
    assert served.serve(free=9).begin == []


def test_what_was_killed_is_stopped_and_its_end_is_the_runners_word(stored: Stored) -> None:
    stored.engine.work(starts=[Execution("e1", _each(1), {}, BEGAN)])
    served = Served(stored.engine)
    [job] = served.serve(free=1).begin
    stored.engine.work([("e1", KillIt("ann"))])

    assert served.serve().stop == [place_of(job)]
    served.serve(job)
    assert stored.get("e1").state is ExecutionState.KILLED
    assert stored.get("e1").runs[job.run].state is StepState.SUCCESS, "a late success is kept"


def test_a_runner_that_is_gone_loses_what_it_held(stored: Stored) -> None:
    plan = FlowPlan("f", 1, (call("once", on_lost=OnLost.FAIL), call("again")))
    stored.engine.work(starts=[Execution("e1", plan, {}, BEGAN)])
    served = Served(stored.engine)
    jobs = served.serve(free=2).begin

    assert stored.engine.lose(RUNNER) == 2
    assert stored.engine.lose(RUNNER) == 0
    states = {run.step: run.state for run in stored.get("e1").runs.values()}
    assert states == {"once": StepState.FAILED, "again": StepState.RETRYING}
    assert set(served.serve().stop) == set(map(place_of, jobs)), "it comes back, and hears of it"


def test_a_deposed_leader_stores_nothing_from_the_next_ones_first_write_on(
    stored: Stored,
) -> None:
    stored.engine.work(starts=[Execution("e1", _each(1), {}, BEGAN)])
    deposed = stored.engine
    stored.restart()
    stored.engine.work([("e1", PauseIt("ann"))])

    with pytest.raises(LeaseLost):
        deposed.work([("e1", KillIt("bob"))])

    assert stored.get("e1").state is ExecutionState.PAUSED


def test_what_was_not_committed_has_not_happened(stored: Stored) -> None:
    stored.engine.work(starts=[Execution("e1", _each(2), {}, BEGAN)])
    before = stored.get("e1")

    with pytest.raises(RuntimeError):
        _kill_and_die(stored)

    assert stored.get("e1") == before
    assert stored.engine.work([("e1", KillIt("ann"))]).dropped == []
    assert stored.get("e1").state is ExecutionState.KILLED


def test_what_was_read_before_a_rollback_is_not_remembered(stored: Stored) -> None:
    """Goal: a version that never was is not taken for another one of its number."""
    stored.engine.work(starts=[Execution("e1", _each(2), {}, BEGAN)])
    rolled_back = stored.store
    with pytest.raises(RuntimeError):
        _kill_and_die(stored)
    stored.restart()
    stored.engine.work([("e1", PauseIt("ann"))])

    with rolled_back.reading() as rows:
        execution = rows.execution("e1")

    assert execution == stored.get("e1")


def _kill_and_die(stored: Stored) -> None:
    with stored.store.working(1) as rows:
        batch = stored.engine.batch(rows)
        batch.send("e1", KillIt("ann"))
        batch.work()
        rows.store(batch.changes())
        assert rows.execution("e1") == batch.execution("e1"), "a transaction reads what it wrote"
        raise RuntimeError("the process dies here")


def test_inputs_at_once_are_worked_in_one_after_the_other(stored: Stored) -> None:
    """Goal: no version is lost when many threads send."""
    stored.engine.work(starts=[Execution("e1", _each(24), {}, BEGAN)])
    served = Served(stored.engine)
    jobs = served.serve(free=24).begin
    before = stored.get("e1").version

    def report(job: StepCall) -> None:
        given = Report(job.run, job.attempt, Succeeded(), RUNNER)
        stored.engine.work([(job.execution, given)])

    threads = [threading.Thread(target=report, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert stored.get("e1").version == before + 24
    assert stored.get("e1").state is ExecutionState.SUCCESS
