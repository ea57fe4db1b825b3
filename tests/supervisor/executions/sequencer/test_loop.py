"""The owner of a partition: aborts, culprits, times, and what goes to other partitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.inputs import Claim, ExecutionInput, PauseIt, Report, Succeeded
from supervisor.core.executions.plan import (
    CallWork,
    Concurrency,
    FlowPlan,
    SleepWork,
    Step,
    SubflowWork,
)
from supervisor.core.executions.records import CALL_FORM, NewerRecord
from supervisor.core.executions.states import ExecutionState, IllegalMove, StepState
from supervisor.core.flows.children import CalledFlow
from supervisor.core.flows.document import InputDocument, InputType
from supervisor.executions.sequencer import loop
from supervisor.executions.sequencer.batch import PartitionBatch, PartitionPlan
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    POSITION_FORM,
    ExecutionGiven,
    ExecutionStart,
)
from supervisor.executions.sequencer.loop import INPUTS_MAX, PartitionOwner
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import POSITION_KEY, LogAborted, LogFenced, LogTopic
from tests.environment.memory_log import MemoryLog, MemoryTopics
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.supervisor.core.executions.called import flow_of

RUNNER = Runner("executor-1", "one")
PLAN = FlowPlan("f", 1, (Step("a", CallWork("noop")),))


@dataclass
class Owners:
    """An owner for each of some partitions."""

    entities: int = 1
    flows: Mapping[str, FlowPlan | CalledFlow] = field(default_factory=dict)
    topics: MemoryTopics = field(default_factory=MemoryTopics)
    now: datetime = BEGAN
    language: Expressions = LANGUAGE
    owners: list[PartitionOwner] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Let each begin."""
        self.restart()

    def restart(self) -> None:
        """Let others take over."""
        self.owners = [
            PartitionOwner(
                part,
                PartitionPlan(self.entities, 1),
                MemoryLog(self.topics, part),
                self.language,
                flow_of(self.flows),
                now=lambda: self.now,
                writer="test",
            )
            for part in range(self.entities)
        ]
        for owner in self.owners:
            owner.take_over()

    def start(self, plan: FlowPlan, execution: str = "e1") -> None:
        """Append the start of an execution."""
        self._append(execution, ExecutionStart(Execution(execution, plan, {}, self.now)))

    def send(self, execution: str, given: ExecutionInput) -> None:
        """Append an input."""
        self._append(execution, ExecutionGiven(given))

    def _append(self, execution: str, letter: ExecutionStart | ExecutionGiven) -> None:
        part = partition_of(execution, self.entities)
        self.topics.append(LogTopic.HISTORY, part, execution, LETTER_FORM.write(letter))

    def work(self) -> None:
        """Let all work until nothing is left."""
        while any(owner.turn(0) for owner in self.owners):
            pass

    def get(self, execution: str) -> Execution:
        """Return an execution."""
        found = self.owners[partition_of(execution, self.entities)].held.execution(execution)
        assert found is not None
        return found

    def finish(self) -> None:
        """Claim and make every call there was."""
        for entry in self.topics.of(LogTopic.CALLS):
            job = CALL_FORM.read(entry.value or b"")
            self.send(job.execution, Claim(job.run, job.attempt, RUNNER))
            self.send(job.execution, Report(job.run, job.attempt, Succeeded(), RUNNER))
        self.work()


@pytest.fixture
def owners() -> Owners:
    """One partition."""
    return Owners()


def test_an_aborted_transaction_is_worked_in_again_with_the_same_outcome(owners: Owners) -> None:
    owners.start(PLAN)
    answer = owners.owners[0].ask([("e1", PauseIt("ann"))])
    owners.topics.aborts = 3
    owners.work()

    assert owners.topics.commits == [0]
    assert owners.get("e1").state is ExecutionState.RUNNING
    assert len(answer.result(0).dropped) == 1, "what was asked comes before what is read"


def test_an_owner_without_inputs_notices_that_it_was_fenced(owners: Owners) -> None:
    """Goal: what a slow former owner has committed does not wait until something else comes."""
    owners.start(
        FlowPlan("f", 1, (Step("a", CallWork("noop")), Step("b", CallWork("noop"), ("a",))))
    )
    owners.work()
    [rightful] = owners.owners
    owners.restart()
    [former] = owners.owners
    former.ask(inputs=[("e1", PauseIt("somebody"))])
    owners.work()
    assert not rightful.turn(0)

    owners.now += loop.PROVED_EVERY
    with pytest.raises(LogFenced):
        rightful.turn(0)


def test_an_owner_without_inputs_writes_its_position_now_and_then(owners: Owners) -> None:
    def written() -> int:
        return len(owners.topics.commits)

    owners.start(PLAN)
    owners.work()
    before = written()
    for _ in range(3):
        owners.now += loop.PROVED_EVERY / 3 - timedelta(milliseconds=1)
        owners.work()
    assert written() == before

    owners.now += timedelta(seconds=1)
    owners.work()
    owners.work()
    assert written() == before + 1

    owners.topics.aborts = 1
    owners.now += loop.PROVED_EVERY
    owners.work()
    assert (written(), owners.topics.aborts) == (before + 1, 0)
    owners.work()
    assert written() == before + 2


def test_one_that_is_always_aborted_is_taken_over_anew(owners: Owners) -> None:
    owners.start(PLAN)
    owners.topics.aborts = 10_000
    with pytest.raises(LogAborted):
        owners.work()

    owners.topics.aborts = 0
    owners.restart()
    owners.work()
    assert owners.get("e1").version == 1


def test_a_transaction_has_as_many_inputs_as_it_may(owners: Owners) -> None:
    owners.start(PLAN)
    for _ in range(2 * INPUTS_MAX):
        owners.send("e1", PauseIt("ann"))
    owners.work()

    assert len(owners.topics.commits) == 3
    assert owners.owners[0].held.position.next == 2 * INPUTS_MAX + 1


def test_a_fault_of_the_rules_stops_one_input_alone(
    owners: Owners, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: the culprit is a dead letter, who asked for one hears of it, all others go on."""

    class Faulty(PartitionBatch):
        def _reduce(self, execution_id: str, given: ExecutionInput) -> None:
            if given == PauseIt("culprit"):
                raise IllegalMove("a fault")
            super()._reduce(execution_id, given)

    monkeypatch.setattr(loop, "PartitionBatch", Faulty)
    for name in ("e1", "e2"):
        owners.start(PLAN, name)
    owners.send("e1", PauseIt("culprit"))
    owners.send("e2", PauseIt("ann"))
    asked = owners.owners[0].ask([("e1", PauseIt("culprit"))])
    fine = owners.owners[0].ask(starts=[Execution("e3", PLAN, {}, BEGAN)])
    owners.work()

    assert isinstance(asked.exception(0), IllegalMove)
    assert fine.result(0).started == {"e3"}
    assert owners.get("e1").state is ExecutionState.RUNNING
    assert owners.get("e2").state is ExecutionState.PAUSED
    [dead] = owners.topics.of(LogTopic.DEAD)
    assert dead.headers["tidegate-why"] == "IllegalMove: a fault"
    assert owners.owners[0].held.position.drops == {"internal": 1}
    assert owners.owners[0].held.position.next == 4


def test_an_input_that_makes_too_large_a_record_is_a_dead_letter(owners: Owners) -> None:
    owners.topics.largest = 5_000
    owners.start(FlowPlan("f", 1, PLAN.steps, outputs={"x": "y" * 6_000}), "large")
    owners.start(PLAN)
    owners.work()

    [dead] = owners.topics.of(LogTopic.DEAD)
    assert (dead.key, dead.value) == (b"large", None), "nor would it fit there"
    assert "LogTooLarge" in dead.headers["tidegate-why"]
    assert owners.get("e1").version == 1


def test_e12_what_cannot_be_read_is_one_dead_letter_and_its_neighbours_go_on(
    owners: Owners,
) -> None:
    for name, value in (("e1", b"{"), ("e1", None), ("e2", b'{"v":1,"kind":"Nothing"}')):
        owners.start(PLAN, name)
        owners.topics.append(LogTopic.HISTORY, 0, name, value)
    owners.topics.aborts = 1
    owners.work()
    owners.restart()
    owners.work()
    owners.finish()

    assert [dead.value for dead in owners.topics.of(LogTopic.DEAD)] == [
        b"{",
        None,
        b'{"v":1,"kind":"Nothing"}',
    ]
    assert owners.get("e1").state is owners.get("e2").state is ExecutionState.SUCCESS
    assert owners.owners[0].held.position.drops["undecodable"] == 3


@pytest.mark.parametrize("asks", [False, True])
def test_e11_what_a_call_gave_that_is_too_large_fails_the_call(owners: Owners, asks: bool) -> None:
    """With a reason for people; the others go on."""
    for name in ("e1", "e2"):
        owners.start(PLAN, name)
    owners.work()
    owners.topics.largest = 5_000
    for entry in owners.topics.of(LogTopic.CALLS):
        job = CALL_FORM.read(entry.value or b"")
        outputs: dict[str, JsonValue] = {"x": "y" * 6_000} if job.execution == "e1" else {}
        owners.send(job.execution, Claim(job.run, 1, RUNNER))
        report = Report(job.run, 1, Succeeded(outputs), RUNNER)
        if asks:
            owners.work()
            owners.owners[0].ask([(job.execution, report)])
        else:
            owners.send(job.execution, report)
    owners.work()

    assert owners.get("e2").state is ExecutionState.SUCCESS
    failed = owners.get("e1")
    assert failed.state is ExecutionState.FAILED
    assert [one.error.code for one in failed.failures] == ["output-too-large"]
    assert owners.topics.of(LogTopic.DEAD) == []


def test_times_come_once_and_after_a_restart(owners: Owners) -> None:
    owners.start(FlowPlan("f", 1, (Step("nap", SleepWork(60)),)))
    owners.work()
    owners.now += timedelta(seconds=59)
    assert not owners.owners[0].turn(0)

    owners.restart()
    owners.now += timedelta(seconds=1)
    owners.work()

    assert owners.get("e1").state is ExecutionState.SUCCESS
    assert owners.owners[0].held.position.drops == {}
    assert owners.owners[0].held.next_due() is None or not owners.owners[0].turn(0)


def test_a_clock_that_goes_back_does_not_take_time_back(owners: Owners) -> None:
    owners.start(PLAN)
    owners.work()
    owners.now -= timedelta(hours=1)
    owners.restart()
    owners.start(PLAN, "e2")
    owners.work()

    values = {entry.key: entry.value for entry in owners.topics.of(LogTopic.STATE)}
    position = POSITION_FORM.read(values[POSITION_KEY.encode()] or b"")
    assert position.last == BEGAN
    assert position.writer == "test"


def test_what_concerns_another_partition_goes_there_as_a_letter() -> None:
    """Goal: a child, its end, and the slots of a gate cross partitions."""
    gated = Concurrency(1)
    flows = {"child": FlowPlan("child", 1, (Step("a", CallWork("noop")),), concurrency=gated)}
    owners = Owners(8, flows)
    parent = FlowPlan("f", 1, tuple(Step(f"s{n}", SubflowWork("child")) for n in range(4)))
    owners.start(parent)
    owners.work()
    for _ in range(4):  # one slot: one child after the other
        owners.finish()

    assert owners.get("e1").state is ExecutionState.SUCCESS
    assert len(set(owners.topics.commits)) > 2
    assert all(owner.held.restored.gates == {} for owner in owners.owners)
    before = [owner.held.restored for owner in owners.owners]
    owners.restart()
    assert [owner.held.restored for owner in owners.owners] == before


def test_a_partition_that_waits_for_a_newer_release_answers_so(owners: Owners) -> None:
    body = LETTER_FORM.write(ExecutionGiven(PauseIt("ann"))).replace(b'"v":1', b'"v":2', 1)
    owners.topics.append(LogTopic.HISTORY, 0, "e1", body)
    owners.work()
    answer = owners.owners[0].ask(starts=[Execution("e1", PLAN, {}, BEGAN)])

    assert not owners.owners[0].turn(0)
    assert isinstance(answer.exception(0), NewerRecord)


def test_a_state_of_a_newer_release_is_not_taken_over(owners: Owners) -> None:
    owners.start(PLAN)
    owners.work()
    owners.topics.append(LogTopic.STATE, 0, "e/e1", b'{"v":2}')

    with pytest.raises(NewerRecord):
        owners.restart()


def test_a_flow_that_is_not_there_fails_the_step_that_starts_it() -> None:
    owners = Owners(8)
    owners.start(FlowPlan("f", 1, (Step("sub", SubflowWork("nobody")),)))
    owners.work()

    assert owners.get("e1").state is ExecutionState.FAILED


@pytest.mark.parametrize("execution", ["e1", "e2", "e3"])
def test_inputs_of_a_child_are_bound_before_it_goes_to_its_partition(execution: str) -> None:
    child = FlowPlan("child", 1, (Step("a", CallWork("noop")),))
    rows = InputDocument(name="rows", type=InputType.INTEGER, default=5)
    owners = Owners(8, {"child": CalledFlow(child, (rows,), {"team": "a"})})
    fits, fails = SubflowWork("child", {}), SubflowWork("child", {"rows": "many"})
    owners.start(FlowPlan("f", 1, (Step("fits", fits), Step("fails", fails))), execution)
    owners.work()
    owners.finish()

    parent = owners.get(execution)
    assert {run.step: run.state for run in parent.runs.values()} == {
        "fits": StepState.SUCCESS,
        "fails": StepState.FAILED,
    }
    assert "/inputs/rows: many is no integer" in parent.failures[0].error.message
    held = [one for owner in owners.owners for one in owner.held.restored.executions.values()]
    [begun] = (one for one in held if one.parent is not None)
    assert (begun.inputs, begun.labels) == ({"rows": 5}, {"team": "a"})
