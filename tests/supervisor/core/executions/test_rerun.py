"""Reruns: what is kept of an ended execution, what begins anew, and what that comes to."""

from dataclasses import replace

import pytest
from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, RerunOf
from supervisor.core.executions.inputs import Fails, KillIt, Outcome, Succeeded
from supervisor.core.executions.plan import (
    Concurrency,
    EachWork,
    FlowPlan,
    OnError,
    ParallelWork,
    RetryRule,
    SetWork,
    Step,
    SwitchWork,
)
from supervisor.core.executions.records import StateRecord, restore
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.rerun import begins_in, kept_steps
from supervisor.core.executions.states import ExecutionState, StepState
from tests.supervisor.core.executions.world import BROKEN, World, call, outcome_of

_FAILS = Fails(BROKEN)
_DAY = FlowPlan(
    "day",
    1,
    (
        call("pack"),
        call("prove", "pack"),
        call("sums", "prove"),
        Step("file", SetWork({"n": "${ steps.pack.n + 1 }"}), ("prove",)),
        call("send", "file", "sums"),
    ),
    outputs={"n": "${ steps.file.n }"},
    always=(call("tidy"),),
)


def _rerun(
    world: World, plan: FlowPlan, first: str | None = None, old: str = "e1", new: str = "e2"
) -> list[str]:
    """Start a rerun; return the kept steps that are others."""
    before = world.get(old)
    kept = kept_steps(before, plan, new, world.now, first)
    world.engine.start(
        Execution(
            new, plan, before.inputs, world.now, runs=kept.runs, rerun=RerunOf(before.id, first)
        )
    )
    world.engine.work(world.now)
    return kept.changed


def _ended(plan: FlowPlan, **outcomes: Outcome) -> World:
    world = World({plan.flow: plan})
    world.start(plan)
    world.finish(outcome_of(**outcomes))
    world.done.clear()
    return world


def _calls(world: World) -> list[str]:
    return [job.step for job in world.done]


@pytest.mark.parametrize(
    ("first", "calls", "kept"),
    [
        (None, ["send", "tidy"], ["pack", "prove", "sums", "file"]),
        ("file", ["send", "tidy"], ["pack", "prove", "sums"]),
        ("sums", ["sums", "send", "tidy"], ["pack", "prove", "file"]),
        ("prove", ["prove", "sums", "send", "tidy"], ["pack"]),
        ("pack", ["pack", "prove", "sums", "send", "tidy"], []),
    ],
)
def test_a_step_and_what_comes_after_it_begin_anew(
    first: str | None, calls: list[str], kept: list[str]
) -> None:
    world = _ended(_DAY, pack=Succeeded({"n": 3}), send=_FAILS)
    assert world.get().state is ExecutionState.FAILED

    assert _rerun(world, _DAY, first) == []
    world.finish(outcome_of(pack=Succeeded({"n": 3})))

    execution = world.get("e2")
    assert execution.state is ExecutionState.SUCCESS
    assert execution.outputs == {"n": 4}
    assert sorted(_calls(world)) == sorted(calls)
    assert {run.step for run in execution.runs.values() if run.kept} == set(kept)
    assert world.get().state is ExecutionState.FAILED
    world.check_ends()


def test_a_rerun_keeps_outputs_and_makes_effects_of_its_own() -> None:
    world = _ended(_DAY, pack=Succeeded({"n": 3}))
    _rerun(world, _DAY, "prove")
    [job] = world.take_calls()
    assert (job.step, job.key.split("/")[0]) == ("prove", "e2")
    assert world.run("pack", "e2").outputs == {"n": 3}
    assert world.run("pack", "e2").attempts == ()
    assert world.run("pack", "e2").ended_at == world.run("pack").ended_at
    first = world.engine.events["e2"][1]
    assert (first.name, first.about) == ("steps-kept", {"of": "e1", "steps": ["pack"]})


def test_of_a_for_each_only_the_items_that_failed_begin_anew() -> None:
    each = EachWork([0, 1, 2, 3, 4], (call("one"), call("two", "one")), concurrency=2)
    plan = FlowPlan("f", 1, (Step("all", each, on_error=OnError.FAIL), call("end", "all")))
    world = World()
    world.start(plan)

    def makes(job: StepCall) -> Outcome:
        run = world.get(job.execution).runs[job.run]
        broken = job.execution == "e1" and job.step == "two" and run.scope.item == 1
        return _FAILS if broken else Succeeded()

    world.finish(makes)
    first_calls = len(world.done)
    world.done.clear()
    assert world.get().state is ExecutionState.FAILED
    _rerun(world, plan)
    assert world.run("all", "e2").state is StepState.RUNNING

    world.finish(makes)

    assert world.get("e2").state is ExecutionState.SUCCESS
    assert first_calls - 1 + len(world.done) == 11
    ones = [job for job in world.done if job.step == "one"]
    kept = [run for run in world.get("e2").runs.values() if run.step == "one" and run.kept]
    assert len(ones) + len(kept) == 5
    world.check_ends()


def test_a_step_inside_others_begins_anew_and_what_is_beside_it_is_kept() -> None:
    inner = Step("both", ParallelWork((call("left"), call("right"), call("then", "right"))))
    chosen = Step("way", SwitchWork("'a'", {"a": (inner,), "b": (call("other"),)}))
    plan = FlowPlan("f", 1, (call("before"), replace(chosen, after=("before",)), call("z", "way")))
    world = _ended(plan)
    assert begins_in(plan) == ["before", "way", "both", "left", "right", "then", "other", "z"]

    _rerun(world, plan, "right")
    world.finish()

    assert sorted(_calls(world)) == ["right", "then", "z"]
    assert world.get("e2").state is ExecutionState.SUCCESS
    assert {run.step for run in world.get("e2").runs.values() if run.kept} == {"before", "left"}
    world.check_ends()


def test_a_failure_that_is_overlooked_is_kept_and_a_killed_step_is_not() -> None:
    plan = FlowPlan("f", 1, (call("a", on_error=OnError.CONTINUE), call("b", "a"), call("c", "b")))
    world = World()
    world.start(plan)
    [job] = world.take_calls()
    world.claim(job)
    world.report(job, _FAILS)
    world.send("e1", KillIt("ann", force=True))
    world.take_calls()
    assert world.states() == {"a": StepState.FAILED, "b": StepState.KILLED}

    _rerun(world, plan)
    world.finish()

    assert _calls(world) == ["b", "c"]
    assert world.run("a", "e2").error == BROKEN


def test_kept_steps_that_are_others_in_the_newer_version_are_named() -> None:
    world = _ended(_DAY, pack=Succeeded({"n": 3}))
    pack, prove, sums, file, send = _DAY.steps
    slow = replace(prove, retry=RetryRule(9))
    new = replace(file, after=("pack", "check"))
    newer = replace(_DAY, version=2, steps=(pack, call("check"), slow, sums, new, send))

    assert _rerun(world, newer, "send") == ["file"]
    world.finish()

    assert sorted(_calls(world)) == ["check", "send", "tidy"]
    assert world.get("e2").plan.version == 2
    assert world.get("e2").state is ExecutionState.SUCCESS


def test_a_step_that_contains_others_is_another_one_with_them() -> None:
    def plan(values: JsonValue, extra: bool) -> FlowPlan:
        inner = (call("left"), Step("v", SetWork({"x": values})), *([call("w")] if extra else []))
        return FlowPlan("f", 1, (Step("both", ParallelWork(inner)), call("z", "both")))

    world = _ended(plan(1, extra=False))
    assert _rerun(world, plan(2, extra=False), "z") == ["both", "v"]
    assert _rerun(world, plan(1, extra=True), "left", new="e3") == []
    world.finish()
    assert sorted(_calls(world)) == ["left", "w", "z", "z"]


def test_a_rerun_that_waits_for_its_slot_can_be_killed_and_can_begin() -> None:
    each = EachWork([0, 1], (call("one"),))
    plan = FlowPlan("f", 1, (Step("all", each),), concurrency=Concurrency(1))
    world = World({"f": plan})
    world.start(plan)

    def makes(job: StepCall) -> Outcome:
        broken = job.execution == "e1" and world.get("e1").runs[job.run].scope.item == 1
        return _FAILS if broken else Succeeded()

    world.finish(makes)
    world.start(plan, "other")
    _rerun(world, plan)
    _rerun(world, plan, new="e3")
    assert world.get("e2").state is ExecutionState.QUEUED
    world.send("e2", KillIt("ann"))
    assert world.states("e2")["all"] is StepState.KILLED
    assert world.get("e2").state is ExecutionState.KILLED
    world.finish()
    assert world.get("e3").state is ExecutionState.SUCCESS
    assert world.engine.gates == {}
    world.check_ends()


def test_a_rerun_of_a_rerun_keeps_what_the_first_one_has_given() -> None:
    world = _ended(_DAY, pack=Succeeded({"n": 3}), prove=_FAILS)
    _rerun(world, _DAY)
    world.finish(outcome_of(sums=_FAILS))
    assert world.get("e2").state is ExecutionState.FAILED
    world.done.clear()
    _rerun(world, _DAY, old="e2", new="e3")
    world.finish()
    assert world.get("e3").outputs == {"n": 4}
    assert sorted(_calls(world)) == ["send", "sums", "tidy"]


def test_the_first_records_of_a_rerun_hold_what_it_keeps() -> None:
    """Goal: a crash right after the start loses no output."""
    world = _ended(_DAY, pack=Succeeded({"n": 3}))
    written: dict[str, StateRecord] = {}
    world.engine.keep = lambda records: written.update({each.key: each for each in records})
    _rerun(world, _DAY, "send")
    assert restore(written.values()).executions == {"e2": world.get("e2")}
