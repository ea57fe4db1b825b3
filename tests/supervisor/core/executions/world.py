"""A place where executions run at once: the engine in memory, a clock that is set, one runner."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.entities import Execution, Runner, StepError, TaskRun
from supervisor.core.executions.inputs import (
    Claim,
    ExecutionInput,
    Fails,
    Outcome,
    Report,
    Stopped,
    Succeeded,
)
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.core.executions.reduced import Cancel, StepCall
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.core.flows.children import CalledFlow
from supervisor.executions.memory import MemoryEngine
from tests.supervisor.core.executions.called import flow_of

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
RUNNER = Runner("executor-1", "one")
BROKEN = StepError("broken", "it is broken")
PASSES = StepError("busy", "try later", passes=True)

Makes = Callable[[StepCall], Outcome]


def call(name: str, *after: str, **more: object) -> Step:
    """Return a step that calls the verb `noop`."""
    return Step(name, CallWork("noop"), after=after, **more)  # type: ignore[arg-type]


@dataclass
class World:
    """Executions, and a runner that makes each call as `makes` says."""

    flows: Mapping[str, FlowPlan | CalledFlow] = field(default_factory=dict)
    now: datetime = BEGAN
    engine: MemoryEngine = field(init=False)
    done: list[StepCall] = field(default_factory=list)
    """Calls whose claim was granted, in order."""

    def __post_init__(self) -> None:
        """Make the engine."""
        self.engine = MemoryEngine(CelExpressions(), flow_of(self.flows))

    def start(self, plan: FlowPlan, execution: str = "e1", **inputs: JsonValue) -> str:
        """Start an execution, and reduce what follows."""
        self.engine.start(Execution(execution, plan, inputs, self.now))
        self.engine.work(self.now)
        return execution

    def send(self, execution: str, *inputs: ExecutionInput) -> None:
        """Reduce inputs one after the other."""
        for given in inputs:
            self.engine.send(execution, given)
        self.engine.work(self.now)

    def get(self, execution: str = "e1") -> Execution:
        """Return an execution as it is now."""
        return self.engine.executions[execution]

    def run(self, step: str, execution: str = "e1") -> TaskRun:
        """Return the one task run of a step."""
        (run,) = (run for run in self.get(execution).runs.values() if run.step == step)
        return run

    def states(self, execution: str = "e1") -> dict[str, StepState]:
        """Return the state of each step; for items the last one's."""
        return {run.step: run.state for run in self.get(execution).runs.values()}

    def claim(self, job: StepCall, runner: Runner = RUNNER) -> bool:
        """Ask for a call; return whether it was granted."""
        self.send(job.execution, Claim(job.run, job.attempt, runner))
        grants = [reply for reply in self.engine.replies if not isinstance(reply, Cancel)]
        return grants[-1].granted

    def report(self, job: StepCall, outcome: Outcome, runner: Runner = RUNNER) -> None:
        """Report what came of a call."""
        holder = None if job.check else runner
        given = Report(job.run, job.attempt, outcome, holder, job.check)
        self.send(job.execution, given)

    def take_calls(self) -> list[StepCall]:
        """Return the calls that nobody has taken."""
        calls, self.engine.calls = self.engine.calls, []
        return calls

    def make_calls(self, makes: Makes = lambda _: Succeeded()) -> None:
        """Claim and make calls until there are no more."""
        while calls := self.take_calls():
            for job in calls:
                if job.check or self.claim(job):
                    self.done.append(job)
                    self.report(job, makes(job))

    def pass_time(self, by: timedelta) -> None:
        """Let time go on."""
        self.now += by
        self.engine.tick(self.now)

    def finish(self, makes: Makes = lambda _: Succeeded()) -> None:
        """Make calls and let time go on until nothing follows any more."""
        for _ in range(10_000):
            self.make_calls(makes)
            due = self.engine.next_due()
            if due is None:
                return
            self.now = max(self.now, due)
            self.engine.tick(self.now)
        raise AssertionError("there is no end of it")

    def check_ends(self) -> None:
        """K7: each start has one end, each step and attempt too, and numbers have no hole."""
        for execution_id, events in self.engine.events.items():
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            ended = self.get(execution_id).state.ended
            for kind in ("step", "attempt"):
                started = [
                    (event.run, event.about.get("attempt"))
                    for event in events
                    if event.name == f"{kind}-started"
                ]
                over = [
                    (event.run, event.about.get("attempt"))
                    for event in events
                    if event.name == f"{kind}-ended"
                ]
                assert len(set(started)) == len(started)
                assert len(set(over)) == len(over)
                assert set(over) <= set(started)
                if ended:
                    assert set(over) == set(started)
            ends = [event for event in events if event.name == "execution-ended"]
            assert len(ends) == int(ended)


def outcome_of(**outcomes: Outcome) -> Makes:
    """Return a maker of calls that gives each step its outcome; the others succeed."""
    return lambda job: outcomes.get(job.step, Succeeded())


def is_at_rest(world: World) -> bool:
    """Whether no work is left anywhere (K8)."""
    return not world.engine.calls and world.engine.next_due() is None


__all__ = [
    "BEGAN",
    "BROKEN",
    "PASSES",
    "RUNNER",
    "ExecutionState",
    "Fails",
    "StepState",
    "Stopped",
    "Succeeded",
    "World",
    "call",
    "is_at_rest",
    "outcome_of",
]
