"""Artifacts: stored once, read by whom a record names them to, gone with the last such record."""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from threading import Event

import pytest
from pydantic import JsonValue

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.artifacts import SqlArtifacts
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.chores.flows.purge import PurgeDuty
from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import AttemptLost, Claim, Outcome, Report, Succeeded
from supervisor.core.executions.plan import CallWork, FlowPlan, OnLost, SetWork, Step
from supervisor.core.executions.records import StateRecord
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.artifacts import Artifact, artifact_of, references_in
from supervisor.core.history.expiry import HistoryAges
from supervisor.executions.artifacts import with_artifacts
from supervisor.executions.runner import CallRunner, StepVerb
from supervisor.ports.flows.artifacts import ArtifactsFull, ArtifactStore
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.projection import ProjectionStep
from tests.environment.memory_artifacts import MemoryArtifacts
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.world import call
from tests.waiting import wait_until

PLAN = FlowPlan("f", 1, (call("get", on_lost=OnLost.RETRY),))
RUNNER = Runner("one", "1")
_DAY = timedelta(days=1)
FIRST, SECOND = artifact_of("ab12", 1, "first"), artifact_of("ab12", 1, {"second": [2]})


class _Clock(SystemClock):
    """Always the same time."""

    def now(self) -> datetime:
        """Return it."""
        return BEGAN


@pytest.fixture
def artifacts(executions_url: str) -> Iterator[SqlArtifacts]:
    """The store over an empty database."""
    with closing(ExecutionDatabase(executions_url)) as database:
        yield SqlArtifacts(database, _Clock(), bytes_max=100)


def _keeps(store: ArtifactStore) -> None:
    """Look at everything that each store of artifacts promises."""
    store.put("e1", FIRST)
    store.put("e1", FIRST)
    store.put("e1", SECOND)

    assert (store.get(FIRST.ref.id), store.get(SECOND.ref.id)) == (FIRST, SECOND)
    assert store.get("ab12-1-" + "0" * 32) is None
    with pytest.raises(ArtifactsFull):
        store.put("e1", artifact_of("cd", 1, "x" * 90))
    store.put("e2", artifact_of("cd", 1, "x" * 90))
    store.put("e1", FIRST)  # a repeat is no more than what is there


def test_a_store_in_memory_keeps_each_once_up_to_its_limit() -> None:
    _keeps(MemoryArtifacts(bytes_max=100))


def test_a_database_keeps_each_once_up_to_its_limit(artifacts: SqlArtifacts) -> None:
    _keeps(artifacts)


def _submit(stored: Stored, name: str = "e1") -> tuple[str, int]:
    """Start an execution whose only step is made; return its run and attempt."""
    stored.start(PLAN, name)
    [new] = [one for one in stored.take_calls() if one.execution == name]
    stored.send(name, Claim(new.run, new.attempt, RUNNER))
    return new.run, new.attempt


def _ends_with(stored: Stored, artifact: Artifact, name: str = "e1") -> None:
    """Let the step of an execution end with an artifact."""
    run, attempt = _submit(stored, name)
    outputs: dict[str, JsonValue] = {"status": 200, "body": artifact.ref.value}
    stored.send(name, Report(run, attempt, Succeeded(outputs), RUNNER))


def _named(stored: Stored, execution: str, artifact: Artifact) -> bool:
    with stored.store.reading() as rows:
        return rows.artifact(execution, artifact.ref.id) == artifact


def _purge(stored: Stored, days: int) -> None:
    keeps = HistoryAges(executions=10 * _DAY)
    PurgeDuty(stored.engine, lambda: BEGAN + days * _DAY, keeps).run_once()


def test_who_reads_an_execution_reads_what_its_steps_gave_and_nothing_else(
    stored: Stored, artifacts: SqlArtifacts
) -> None:
    artifacts.put("e1", FIRST)
    artifacts.put("other", SECOND)
    _ends_with(stored, FIRST)

    assert _named(stored, "e1", FIRST)
    assert not _named(stored, "e1", SECOND)
    assert not _named(stored, "e2", FIRST)


def test_an_artifact_goes_with_its_execution(stored: Stored, artifacts: SqlArtifacts) -> None:
    artifacts.put("e1", FIRST)
    _ends_with(stored, FIRST)
    _purge(stored, 9)
    assert artifacts.get(FIRST.ref.id) == FIRST

    _purge(stored, 11)

    assert artifacts.get(FIRST.ref.id) is None
    assert not _named(stored, "e1", FIRST)


def test_what_a_later_execution_names_stays_until_that_goes(
    stored: Stored, artifacts: SqlArtifacts
) -> None:
    """Goal: a rerun has the outputs that it kept, and a parent those of its children."""
    artifacts.put("e1", FIRST)
    _ends_with(stored, FIRST)
    stored.now = BEGAN + 5 * _DAY
    kept = FlowPlan("g", 1, (Step("v", SetWork({"body": FIRST.ref.value})),))
    stored.work(starts=[Execution("e2", kept, {}, stored.now)])
    assert _named(stored, "e2", FIRST)

    _purge(stored, 12)
    assert artifacts.get(FIRST.ref.id) == FIRST
    assert _named(stored, "e2", FIRST)

    _purge(stored, 16)
    assert artifacts.get(FIRST.ref.id) is None


def test_what_no_record_came_to_name_goes_when_it_is_old_and_its_execution_has_ended(
    stored: Stored, artifacts: SqlArtifacts
) -> None:
    """Goal: an attempt that was lost leaves nothing; a result that is still on its way does."""
    artifacts.put("e1", FIRST)
    artifacts.put("nobody", SECOND)
    run, attempt = _submit(stored)
    _purge(stored, 9)
    assert artifacts.get(SECOND.ref.id) == SECOND, "it is not old yet"
    _purge(stored, 11)
    assert artifacts.get(FIRST.ref.id) == FIRST, "its execution lives: the result may come"
    assert artifacts.get(SECOND.ref.id) is None

    stored.send("e1", AttemptLost(run, attempt, RUNNER))
    stored.pass_time(_DAY)
    [again] = stored.take_calls()
    stored.send("e1", Claim(again.run, again.attempt, RUNNER))
    stored.send("e1", Report(again.run, again.attempt, Succeeded(), RUNNER))
    assert stored.get("e1").state.ended
    _purge(stored, 11)

    assert artifacts.get(FIRST.ref.id) is None
    assert stored.get("e1").state.ended, "it is not old yet, and is there"


def test_a_tombstone_of_the_topics_takes_them_along_and_a_new_projection_does_not(
    stored: Stored, artifacts: SqlArtifacts, executions_url: str
) -> None:
    """Topics do not have the content: whoever projects anew has to find it."""
    for name, artifact in (("e1", FIRST), ("e2", SECOND)):
        artifacts.put(name, artifact)
        _ends_with(stored, artifact, name)
    ends = ProjectionStep((LogTopic.STATE, 0), None, 1, [StateRecord("e/e1", None)])
    with closing(SqlProjection(ExecutionDatabase(executions_url))) as projection:
        projection.project([ends])
        assert projection.known(["e1", "e2"]) == {"e2"}
        assert artifacts.get(FIRST.ref.id) is None
        assert artifacts.get(SECOND.ref.id) == SECOND

        projection.clear()

        assert projection.known(["e2"]) == frozenset()
        assert artifacts.get(SECOND.ref.id) == SECOND


def test_a_large_output_goes_from_step_to_step_and_no_record_has_it(
    stored: Stored, executions_url: str
) -> None:
    """The whole way on the engine of the database: runner, store, next step, purge."""
    large, seen = "x" * 50_000, list[JsonValue]()
    sent = {"body": "${ steps.give.body }", "bytes": "${ steps.give.body.bytes }"}
    plan = FlowPlan(
        "f",
        1,
        (
            Step("give", CallWork("give")),
            Step("take", CallWork("take", sent), after=("give",)),
        ),
    )

    def take(call: StepCall, _: Event) -> Outcome:
        seen.append(dict(call.arguments))
        return Succeeded()

    verbs: dict[str, StepVerb] = {"give": lambda _, __: Succeeded({"body": large}), "take": take}
    with closing(ExecutionDatabase(executions_url)) as database:
        store = SqlArtifacts(database, _Clock())
        runner = CallRunner(stored.engine, RUNNER, with_artifacts(verbs, store), 2, look_s=0.01)
        stored.start(plan, "e1")
        runner.start()
        wait_until(lambda: stored.get("e1").state.ended)
        runner.stop()

        assert stored.get("e1").state is ExecutionState.SUCCESS
        assert seen == [{"body": large, "bytes": len(large)}]
        [gave] = [one for one in stored.get("e1").runs.values() if one.step == "give"]
        assert len(str(gave.outputs)) < 300
        [ref] = references_in(gave.outputs)
        _purge(stored, 11)
        assert store.get(ref.id) is None
