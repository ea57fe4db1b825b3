"""What an engine writes of executions, gates, inputs and calls, and reads back."""

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, Runner, StepError
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.inputs import (
    AnswerStep,
    AttemptLost,
    Begin,
    ChildEnded,
    Claim,
    ExecutionInput,
    Fails,
    KillIt,
    Nudge,
    PauseIt,
    Report,
    ResumeIt,
    RetryStep,
    SkipStep,
    SlotFreed,
    SlotGiven,
    SlotRefused,
    SlotWanted,
    Stopped,
    Succeeded,
    Tick,
    Waits,
)
from supervisor.core.executions.plan import (
    ApproveWork,
    Concurrency,
    EachWork,
    FlowPlan,
    OnError,
    RetryRule,
    SetWork,
    Step,
    WhenFull,
)
from supervisor.core.executions.records import (
    CALL_FORM,
    GATE_INPUT_FORM,
    INPUT_FORM,
    NewerRecord,
    StateRecord,
    UnreadableRecord,
    gate_record,
    head_record,
    items_record,
    overlaid,
    plan_record,
    restore,
    run_record,
)
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import ExecutionState
from tests.supervisor.core.executions.test_any_order import Life
from tests.supervisor.core.executions.world import BEGAN, PASSES, World, call

_RUNNER = Runner("executor-1", "one")
_ERROR = StepError("timeout", "it took too long", passes=True, known=False)
INPUTS: tuple[ExecutionInput, ...] = (
    Begin(),
    Claim("r", 1, _RUNNER),
    Report("r", 1, Succeeded({"n": 1}), _RUNNER),
    Report("r", 1, Fails(_ERROR), _RUNNER),
    Report("r", 1, Stopped(), _RUNNER),
    Report("r", 1, Waits("the operation", {"id": 7}), None, check=3),
    AttemptLost("r", 2, _RUNNER),
    Tick(),
    KillIt("ann", force=True),
    PauseIt("ann"),
    ResumeIt("ann"),
    RetryStep("r", "ann"),
    SkipStep("r", "ann"),
    AnswerStep("r", True, "ann", "go"),
    Nudge("r"),
    ChildEnded("r", 1, ExecutionState.SUCCESS, {"n": 1}, "why"),
    SlotGiven("f/"),
    SlotRefused("f/", WhenFull.CANCEL),
)
_GOLDEN = Path(__file__).with_name("records-v1.json")


class Kept:
    """The newest record of each key, as a store has them."""

    def __init__(self) -> None:
        self.records: dict[str, StateRecord] = {}

    def keep(self, records: Iterable[StateRecord]) -> None:
        """Take records over."""
        self.records.update((record.key, record) for record in records)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_kept_is_what_was_there(seed: int) -> None:
    """Goal: a restore gives each execution and gate as it was, whatever happened to them."""
    life, kept = Life(seed), Kept()
    life.world.engine.keep = kept.keep

    life.live()

    records = list(kept.records.values())
    random.Random(seed).shuffle(records)
    restored = restore(records)
    assert restored.executions == life.world.engine.executions
    assert restored.gates == life.world.engine.gates
    assert restored.unreadable == {}


def test_a_result_writes_one_run_however_many_there_are() -> None:
    """Goal: what is written does not grow with the execution."""
    few, many = (_written_for_a_result(items) for items in (5, 200))
    for written in (few, many):
        assert len(written) == 3, "the head, the run, and the loop that it is in"
    size = sum(len(record.value or b"") for record in few)
    assert sum(len(record.value or b"") for record in many) < size + 200 * 16, "numbers of items"


def _written_for_a_result(items: int) -> list[StateRecord]:
    world, written = World(), list[StateRecord]()
    each = EachWork(list(range(items)), (call("one"),), concurrency=items)
    world.start(FlowPlan("f", 1, (replace(call("all"), work=each),)))
    first, *_ = world.take_calls()
    world.claim(first)
    world.engine.keep = written.extend
    world.report(first, Succeeded({"n": 1}))
    return written


@pytest.mark.parametrize("given", INPUTS, ids=lambda given: type(given).__name__)
def test_an_input_is_read_as_it_was_written(given: ExecutionInput) -> None:
    assert INPUT_FORM.read(INPUT_FORM.write(given)) == given


def test_an_input_of_a_gate_and_a_call_are_read_as_they_were_written() -> None:
    for given in (SlotWanted("e1", 2, WhenFull.QUEUE), SlotFreed("e1")):
        assert GATE_INPUT_FORM.read(GATE_INPUT_FORM.write(given)) == given
    job = StepCall("e1", "r", "pack", 1, 2, "compact", {"table": "orders"}, 3, {"id": 7})
    assert CALL_FORM.read(CALL_FORM.write(job)) == job


def test_a_call_carries_the_grace_of_its_flow_unless_it_is_that_of_every_flow() -> None:
    """Goal: a release without the field reads the call, and one with it reads those of before."""
    world = World()
    world.start(FlowPlan("f", 1, (call("a"),)))
    world.start(FlowPlan("f", 1, (call("a"),), kill_grace=timedelta(seconds=5)), "e2")
    usual, short = world.take_calls()
    assert (usual.grace, short.grace) == (timedelta(seconds=30), timedelta(seconds=5))
    assert "grace" not in json.loads(CALL_FORM.write(usual))
    assert json.loads(CALL_FORM.write(short))["grace"] == "PT5S"
    for each in (usual, short):
        assert CALL_FORM.read(CALL_FORM.write(each)) == each


def test_a_child_that_was_refused_says_so_and_others_write_what_they_wrote_before() -> None:
    for refused in (True, False):
        given = ChildEnded("r", 1, ExecutionState.FAILED, refused=refused)
        written = INPUT_FORM.write(given)
        assert ("refused" in json.loads(written)) == refused
        assert INPUT_FORM.read(written) == given


def test_every_input_is_tried() -> None:
    """Goal: an input that is new has its place above, and in the file of this version."""
    assert {type(given) for given in INPUTS} == set(get_args(get_args(ExecutionInput)[0]))


def test_records_of_this_version_stay_readable() -> None:
    """Goal: the file of a version is never written anew; a change of shape gets a new version."""
    golden = json.loads(_GOLDEN.read_text())
    assert [json.loads(INPUT_FORM.write(given)) for given in INPUTS] == golden["inputs"]
    assert [INPUT_FORM.read(json.dumps(one).encode()) for one in golden["inputs"]] == list(INPUTS)
    records = [StateRecord(key, json.dumps(value).encode()) for key, value in golden["state"]]
    world = known_world()
    assert restore(records).executions == world.engine.executions
    assert restore(records).gates == world.engine.gates


def known_world() -> World:
    """Return one with an execution that is under way, the same each time."""
    world = World()
    plan = FlowPlan(
        "f",
        3,
        (
            call(
                "pack",
                retry=RetryRule(2, errors=frozenset({"busy", "away", "timeout"})),
                timeout=timedelta(hours=2),
            ),
            replace(call("each", "pack"), work=EachWork("${ inputs.days }", (call("day"),))),
            replace(call("ok", "each"), work=ApproveWork("go on?"), on_error=OnError.PAUSE),
        ),
        always=(replace(call("tidy"), work=SetWork({"n": 1})),),
        outputs={"n": "${ steps.pack.n }"},
        concurrency=Concurrency(2, "inputs.days"),
    )
    world.start(plan, days=["mon", "tue"])
    [pack] = world.take_calls()
    world.claim(pack)
    world.report(pack, Fails(PASSES))
    world.pass_time(timedelta(seconds=20))
    world.make_calls(lambda job: Succeeded({"n": 7}) if job.step == "pack" else Waits("the day"))
    return world


def test_a_set_is_written_in_one_order() -> None:
    """Goal: engines in other processes write the same."""
    gate = gate_record(Gate("f/", 9, frozenset(f"e{n}" for n in range(9))))
    assert json.loads(gate.value or b"")["holders"] == [f"e{n}" for n in range(9)]


def test_an_entity_that_cannot_be_read_stops_nobody() -> None:
    good = _first_of("good")
    torn = _first_of("torn")
    torn[0] = StateRecord("e/torn", b'{"v":1,"id":')
    half = _first_of("half")[:1]
    wrong = StateRecord("g/wrong", b'{"v":1,"limit":"many","name":"wrong"}')

    restored = restore([*torn, *half, wrong, *good])

    assert list(restored.executions) == ["good"]
    assert sorted(restored.unreadable) == ["e/half", "e/torn", "g/wrong"]
    assert restored.unreadable["e/half"] == "its record e/half/plan is missing"


def _first_of(execution_id: str) -> list[StateRecord]:
    plan = FlowPlan("f", 1, (call("a"),), timeout=timedelta(hours=1))
    execution = Execution(execution_id, plan, {}, BEGAN)
    return [head_record(execution), plan_record(execution)]


def test_a_newer_record_is_not_an_unreadable_one() -> None:
    with pytest.raises(NewerRecord, match="needs version 2") as caught:
        restore([StateRecord("e/new", b'{"v":2,"id":"new"}')])
    assert caught.value.version == 2


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b'"x"', b"{}", b'{"v":1,"type":"nobody"}'])
def test_what_is_no_input_is_refused_with_a_reason(value: bytes) -> None:
    with pytest.raises(UnreadableRecord) as caught:
        INPUT_FORM.read(value)
    assert str(caught.value)


def test_items_have_a_record_of_their_own_without_which_nothing_is_read() -> None:
    """Goal: what is written for each item does not hold all of them."""
    days: list[JsonValue] = ["monday", "tuesday"]
    world = World()
    world.start(FlowPlan("f", 1, (Step("all", EachWork(days, (call("one"),))),)))
    execution, run = world.get(), world.run("all").id
    records = [
        head_record(execution),
        plan_record(execution),
        *(run_record(execution, each) for each in execution.runs),
    ]
    assert not any(b"tuesday" in (record.value or b"") for record in records[2:])

    whole = restore([*records, items_record(execution, run)])
    assert whole.executions == {execution.id: execution}
    key = f"e/{execution.id}/r/{run}/items"
    assert restore(records).unreadable[f"e/{execution.id}"] == f"its record {key} is missing"


def test_newer_records_laid_over_an_execution_keep_its_items() -> None:
    """Goal: a task run that is written again, without its items, has them still."""
    world = World()
    world.start(FlowPlan("f", 1, (Step("all", EachWork(["monday"], (call("one"),))),)))
    stored, run = world.get(), world.run("all").id
    whole = overlaid(None, [head_record(stored), plan_record(stored), *_runs_of(stored)])
    assert whole == stored

    world.finish()
    ended = world.get()

    newer = [head_record(ended), *(run_record(ended, each) for each in ended.runs)]
    assert overlaid(stored, newer) == ended
    assert ended.runs[run].items == stored.runs[run].items
    with pytest.raises(UnreadableRecord, match="/items is missing"):
        overlaid(None, [*newer, plan_record(stored)])


def _runs_of(execution: Execution) -> Iterable[StateRecord]:
    for run, kept in execution.runs.items():
        yield run_record(execution, run)
        if kept.items is not None:
            yield items_record(execution, run)
