"""Random flows, and everything that can happen to them, in any order, twice and late.

What is checked shares no rule with the reducer: versions, ends, keys of effects, slots.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest

from supervisor.core.executions.entities import Runner, StepError, TaskRun
from supervisor.core.executions.inputs import (
    AnswerStep,
    AttemptLost,
    Claim,
    ExecutionInput,
    Fails,
    KillIt,
    Nudge,
    Outcome,
    PauseIt,
    Report,
    ResumeIt,
    RetryStep,
    SkipStep,
    Stopped,
    Succeeded,
    Tick,
    Waits,
)
from supervisor.core.executions.plan import (
    ApproveWork,
    CallWork,
    Concurrency,
    EachWork,
    FlowPlan,
    OnError,
    OnLost,
    ParallelWork,
    RetryRule,
    SetWork,
    SleepWork,
    Step,
    SubflowWork,
    SwitchWork,
    WhenFull,
    Work,
)
from supervisor.core.executions.reduced import Cancel, StepCall
from supervisor.core.executions.states import AttemptState
from tests.supervisor.core.executions.world import StepState, World

_SEEDS = 100
_RUNNERS = [Runner(f"executor-{number}", life) for number in (1, 2) for life in ("one", "two")]
_RUNNING = {AttemptState.RUNNING, AttemptState.WAITING}


class Flows:
    """Makes random plans."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._steps = 0

    def plan(self, name: str, *, subflows: bool) -> FlowPlan:
        """Return a plan of a few steps, some of them inside others."""
        chance = self._chance
        full = chance.choice(list(WhenFull))
        return FlowPlan(
            name,
            1,
            self._graph(2, subflows=subflows),
            on_failure=self._graph(0, subflows=False) if chance.random() < 0.4 else (),
            always=self._graph(0, subflows=False) if chance.random() < 0.5 else (),
            timeout=timedelta(minutes=20) if chance.random() < 0.3 else None,
            concurrency=Concurrency(chance.randint(1, 2), when_full=full)
            if chance.random() < 0.5
            else None,
        )

    def _graph(self, depth: int, *, subflows: bool) -> tuple[Step, ...]:
        steps: list[Step] = []
        for _ in range(self._chance.randint(1, 4)):
            before = [step.name for step in steps if self._chance.random() < 0.4]
            steps.append(self._step(depth, tuple(before), subflows=subflows))
        return tuple(steps)

    def _step(self, depth: int, after: tuple[str, ...], *, subflows: bool) -> Step:
        chance = self._chance
        self._steps += 1
        name = f"s{self._steps}"
        work = self._work(depth, subflows=subflows)
        calls = isinstance(work, CallWork)
        return Step(
            name,
            work,
            after=after,
            condition=chance.choice([None, None, None, "1 == 1", "1 == 2"]),
            retry=RetryRule(attempts=chance.randint(1, 3)) if calls else RetryRule(),
            timeout=timedelta(minutes=3) if calls and chance.random() < 0.3 else None,
            on_error=chance.choice(list(OnError) if calls else [OnError.FAIL, OnError.CONTINUE]),
            on_lost=chance.choice(list(OnLost)),
        )

    def _work(self, depth: int, *, subflows: bool) -> Work:
        chance = self._chance
        kinds = ["call"] * 5 + ["set", "sleep", "approve"]
        kinds += ["parallel", "switch", "each"] if depth else []
        kinds += ["subflow"] if subflows else []
        match chance.choice(kinds):
            case "set":
                return SetWork({"n": "${ 1 + 1 }"})
            case "sleep":
                return SleepWork(chance.randint(1, 100))
            case "approve":
                return ApproveWork("go on?")
            case "parallel":
                return ParallelWork(self._graph(depth - 1, subflows=subflows))
            case "switch":
                return SwitchWork("'a'", {"a": self._graph(depth - 1, subflows=subflows)})
            case "each":
                steps = self._graph(depth - 1, subflows=subflows)
                return EachWork(list(range(chance.randint(0, 4))), steps, chance.randint(1, 3))
            case "subflow":
                return SubflowWork("child")
            case _:
                return CallWork("noop")


@dataclass
class Ledger:
    """What runners did: kept apart from every state."""

    granted: dict[tuple[str, int], Runner] = field(default_factory=dict)
    """(Task run, attempt) -> who was granted it."""
    effects: dict[str, set[tuple[str, int]]] = field(default_factory=lambda: defaultdict(set))
    """Key of an effect -> the attempts that job it."""


class Life:
    """One seed: what happens to the executions, and what is checked after each input."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        flows = Flows(self.chance)
        child = flows.plan("child", subflows=False)
        self.world = World({"child": child})
        self.plan = flows.plan("f", subflows=True)
        self.ledger = Ledger()
        self.calls: list[StepCall] = []
        self.sent: list[tuple[str, ExecutionInput]] = []
        self.versions: dict[str, int] = {}

    def live(self) -> None:
        """Let faults and people at it, then let everything end."""
        for number in range(self.chance.randint(1, 3)):
            self.world.start(self.plan, f"e{number}")
        for _ in range(120):
            self._happen()
            self._check()
        self._wind_up()

    def _happen(self) -> None:
        chance, world = self.chance, self.world
        self.calls += world.take_calls()
        dice = chance.random()
        if dice < 0.5 and self.calls:
            self._work(chance.choice(self.calls))
        elif dice < 0.65:
            world.now += timedelta(seconds=chance.randint(0, 90))
            world.engine.tick(world.now)
        elif dice < 0.75 and self.sent:
            self._send(*chance.choice(self.sent))  # something comes once more
        elif dice < 0.85:
            self._lose()
        else:
            self._person()

    def _send(self, execution: str, given: ExecutionInput) -> None:
        self.sent.append((execution, given))
        self.world.send(execution, given)

    def _work(self, job: StepCall) -> None:
        if job.check:
            self._send(job.execution, self._report(job, None))
            return
        runner = self.chance.choice(_RUNNERS)
        before = len(self.world.engine.replies)
        self._send(job.execution, Claim(job.run, job.attempt, runner))
        replies = [one for one in self.world.engine.replies[before:] if not isinstance(one, Cancel)]
        place = (job.run, job.attempt)
        if replies and replies[-1].granted:
            assert self.ledger.granted.setdefault(place, runner) == runner, "granted to two"
            self.ledger.effects[job.key].add(place)
        holder = self.ledger.granted.get(place)
        if holder is not None and self.chance.random() < 0.7:
            self._send(job.execution, self._report(job, holder))

    def _report(self, job: StepCall, runner: Runner | None) -> Report:
        return Report(job.run, job.attempt, self._outcome(), runner, job.check)

    def _outcome(self) -> Outcome:
        error = StepError("e", "m", self.chance.random() < 0.6, self.chance.random() < 0.6)
        outcomes: list[Outcome] = [Succeeded({"n": 1}), Fails(error), Waits("it"), Stopped()]
        return self.chance.choice([*outcomes, Succeeded()])

    def _lose(self) -> None:
        for (run, attempt), runner in list(self.ledger.granted.items()):
            if self.chance.random() < 0.3:
                execution = self._execution_of(run)
                self._send(execution, AttemptLost(run, attempt, runner))

    def _execution_of(self, run: str) -> str:
        for execution in self.world.engine.executions.values():
            if run in execution.runs:
                return execution.id
        raise AssertionError(f"nobody has the run {run}")

    def _person(self) -> None:
        chance = self.chance
        execution = chance.choice(list(self.world.engine.executions.values()))
        run = chance.choice([*execution.runs, "nothing"])
        wishes: list[ExecutionInput] = [
            PauseIt("p"),
            ResumeIt("p"),
            ResumeIt("p"),
            RetryStep(run, "p"),
            SkipStep(run, "p"),
            AnswerStep(run, chance.random() < 0.7, "p"),
            Nudge(run),
            Tick(),
        ]
        if chance.random() < 0.2:
            wishes.append(KillIt("p", chance.random() < 0.3))
        self._send(execution.id, chance.choice(wishes))

    def _check(self) -> None:
        engine = self.world.engine
        for execution in engine.executions.values():
            before = self.versions.get(execution.id, 0)
            assert execution.version >= before
            self.versions[execution.id] = execution.version
            if execution.state.ended:
                assert all(run.state.ended for run in execution.runs.values())
            for run in execution.runs.values():
                _check_attempts(run)
        for gate in engine.gates.values():
            assert len(gate.holders) <= gate.limit
            for holder in gate.holders:
                assert not engine.executions[holder].state.ended, "an ended one holds a slot"
        self.world.check_ends()

    def _check_order(self) -> None:
        """A step begins after the ends of all that it comes after."""
        for execution in self.world.engine.executions.values():
            events = self.world.engine.events[execution.id]
            began = {one.run: one.number for one in events if one.name == "step-started"}
            ended = {one.run: one.number for one in events if one.name == "step-ended"}
            assert set(began) == set(execution.runs)
            for run in execution.runs.values():
                for name in execution.plan.step(run.step).after:
                    before = run.scope.run_id(execution.id, execution.plan.step(name))
                    assert ended[before] < began[run.id]

    def _check_failures(self) -> None:
        """What has failed, and is not overlooked, fails what it is in."""
        for execution in self.world.engine.executions.values():
            for run in execution.runs.values():
                overlooks = execution.plan.step(run.step).on_error is OnError.CONTINUE
                if run.state is not StepState.FAILED or overlooks:
                    continue
                parent = execution.runs.get(run.scope.parent)
                around = execution.state if parent is None else parent.state
                assert around != "SUCCESS"

    def _check_keys(self) -> None:
        """One key is of attempts of one task run, between which a loss or a doubt lies."""
        for key, places in self.ledger.effects.items():
            assert {run for run, _ in places} == {key.split("/")[1]}

    def _wind_up(self) -> None:
        """Faults are over, people help: everything ends."""
        world = self.world
        for _ in range(2_000):
            self.calls += world.take_calls()
            open_ones = [one for one in world.engine.executions.values() if not one.state.ended]
            if not open_ones:
                break
            for one in open_ones:
                self._help(one.id)
            for job in self.calls:
                self._finish(job)
            self.calls = []
            world.now += timedelta(minutes=1)
            world.engine.tick(world.now)
            self._check()
        assert all(one.state.ended for one in world.engine.executions.values())
        assert world.engine.gates == {}, "a slot is held by nobody"
        assert world.engine.next_due() is None
        self._check_order()
        self._check_failures()
        self._check_keys()

    def _help(self, execution: str) -> None:
        self.world.send(execution, ResumeIt("p"))
        for run in list(self.world.get(execution).runs.values()):
            if run.state is StepState.WAITING:
                self.world.send(execution, AnswerStep(run.id, True, "p"), SkipStep(run.id, "p"))
            held = run.attempt
            if held is not None and held.state in _RUNNING and held.runner is not None:
                given = Report(run.id, held.number, Succeeded(), held.runner)
                self.world.send(execution, given)

    def _finish(self, job: StepCall) -> None:
        if job.check:
            self.world.report(job, Succeeded())
        elif self.world.claim(job, _RUNNERS[0]):
            self.world.report(job, Succeeded(), _RUNNERS[0])


def _check_attempts(run: TaskRun) -> None:
    """Numbers have no hole; the last alone is open; a key is left when its effect has failed."""
    assert [attempt.number for attempt in run.attempts] == list(range(1, len(run.attempts) + 1))
    for old, new in pairwise(run.attempts):
        assert old.state.ended
        failed = old.state is AttemptState.FAILED and old.error is not None and old.error.known
        assert new.effect - old.effect == int(failed)


@pytest.mark.parametrize("seed", range(_SEEDS))
def test_whatever_happens_everything_ends_once(seed: int) -> None:
    Life(seed).live()
