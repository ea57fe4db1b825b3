"""A flow tried without a server: calls give the outcomes that are named, and no time is waited for.

The rules are those of every engine; calls, sleeps, looks and retries take the time that they would
wait, and no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.executions.entities import (
    Execution,
    Runner,
    StepError,
    TaskRun,
    WaitsFor,
)
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.inputs import (
    AnswerStep,
    AttemptLost,
    Claim,
    Fails,
    Outcome,
    Report,
    Succeeded,
)
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduced import ExecutionEvent, StepCall
from supervisor.executions.batch import FlowOf
from supervisor.executions.memory import MemoryEngine

NAME = "simulated"
"""The id of the execution that is tried."""
_RUNNER = Runner("simulated", "1")
_TURNS_MAX = 100_000
_FAILED = StepError("failed", "the outcome that was named for it", passes=True)


@dataclass(frozen=True)
class LosesRunner:
    """The runner of a call is gone."""


@dataclass(frozen=True)
class SaysNo:
    """A person says no."""


NamedOutcome = Succeeded | Fails | LosesRunner | SaysNo


@dataclass(frozen=True)
class Simulated:
    """What became of a flow."""

    execution: Execution
    events: Sequence[tuple[str, ExecutionEvent]]
    """Id of an execution, the tried one or a child, and what happened, in order."""
    waits: Sequence[TaskRun]
    """Steps that wait for a person, so that it goes no further; empty: it has ended."""


@dataclass
class Simulation:
    """One try.  `outcomes`: name of a step -> outcomes of its attempts; the last one repeats."""

    language: Expressions
    flow_of: FlowOf
    outcomes: Mapping[str, Sequence[NamedOutcome]] = field(default_factory=dict)
    _used: dict[str, int] = field(default_factory=dict)

    def run(self, plan: FlowPlan, inputs: Mapping[str, JsonValue], at: datetime) -> Simulated:
        """Try a flow from the time `at` on, until it has ended or waits for a person."""
        engine, now = MemoryEngine(self.language, self.flow_of), at
        engine.start(Execution(NAME, plan, inputs, at))
        engine.work(now)
        for _ in range(_TURNS_MAX):
            if self._act(engine, now):
                continue
            due = engine.next_due()
            if due is None or self._waits(engine):
                break
            now = max(now, due)
            engine.tick(now)
        return Simulated(engine.executions[NAME], _in_order(engine), self._waits(engine))

    def _act(self, engine: MemoryEngine, now: datetime) -> bool:
        """Make the calls that are there, and answer; return False if there was nothing to do."""
        calls, engine.calls = engine.calls, []
        for call in calls:
            self._make(engine, call, now)
        answers = list(self._answers(engine))
        for execution, answer in answers:
            engine.send(execution, answer)
        engine.work(now)
        return bool(calls or answers)

    def _make(self, engine: MemoryEngine, call: StepCall, now: datetime) -> None:
        engine.send(call.execution, Claim(call.run, call.attempt, _RUNNER))
        engine.work(now)
        outcome = self._next(call.step)
        if isinstance(outcome, LosesRunner):
            engine.send(call.execution, AttemptLost(call.run, call.attempt, _RUNNER))
        else:
            given: Outcome = Fails(_FAILED) if isinstance(outcome, SaysNo) else outcome
            engine.send(call.execution, Report(call.run, call.attempt, given, _RUNNER))

    def _answers(self, engine: MemoryEngine) -> Iterator[tuple[str, AnswerStep]]:
        for execution in engine.executions.values():
            for run in execution.runs.values():
                if run.wait is not None and run.wait.kind is WaitsFor.ANSWER:
                    yes = not isinstance(self._next(run.step), SaysNo)
                    yield execution.id, AnswerStep(run.id, yes, "somebody")

    def _next(self, step: str) -> NamedOutcome:
        outcomes = self.outcomes.get(step)
        if not outcomes:
            return Succeeded()
        number = self._used.get(step, 0)
        self._used[step] = number + 1
        return outcomes[min(number, len(outcomes) - 1)]

    @staticmethod
    def _waits(engine: MemoryEngine) -> list[TaskRun]:
        return [
            run
            for execution in engine.executions.values()
            for run in execution.runs.values()
            if run.wait is not None and run.wait.kind is WaitsFor.PERSON
        ]


def _in_order(engine: MemoryEngine) -> list[tuple[str, ExecutionEvent]]:
    events = [(name, event) for name, events in engine.events.items() for event in events]
    return sorted(events, key=lambda one: one[1].at)
