"""A runner of one thread and no time: it makes what is granted, and dies when a test says so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import cast

from fastapi import FastAPI

from supervisor.adapters.child_prover import ChildProver
from supervisor.adapters.executions.database import migrate_executions
from supervisor.core.executions.entities import Execution, Runner, TaskRun
from supervisor.core.executions.inputs import Report
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.permissions import Actor
from supervisor.executions.engine import CallReport, StoredEngine
from supervisor.ports.prover import Prover
from supervisor.services.flows.executions import StartRequest
from supervisor.services.services import Services
from supervisor.services.steps.product import StepVerbs, product_verbs
from tests.supervisor.api.world import TOPIC, World

__all__ = ["AUTHOR", "Driver", "driver_of"]

AUTHOR = "ann"
_SECOND = timedelta(seconds=1)


@dataclass
class Driver:
    """Applies flows, runs their executions, and plays the runner."""

    world: World
    parts: Services
    verbs: StepVerbs
    lives: int = 1
    reports: list[CallReport] = field(default_factory=list)
    calls: list[StepCall] = field(default_factory=list)

    @property
    def engine(self) -> StoredEngine:
        """The engine."""
        engine = self.parts.executions.engine
        assert isinstance(engine, StoredEngine)
        return engine

    @property
    def runner(self) -> Runner:
        """The runner, in its present life."""
        return Runner("here", str(self.lives))

    def again(self, prover: Prover | None = None) -> StepVerbs:
        """Return the verbs anew, of the present parts."""
        return product_verbs(self.parts, prover or ChildProver())

    def start(self, *steps: Mapping[str, object], author: str = AUTHOR, **flow: object) -> str:
        """Apply a flow of these steps and start it; return the id of the execution."""
        named = [{"name": f"s{n}", **step} for n, step in enumerate(steps)]
        chained = [
            step if n == 0 or "after" in step else {**step, "after": [named[n - 1]["name"]]}
            for n, step in enumerate(named)
        ]
        document = {"flow": "f", "steps": chained, **flow}
        who = Actor.named(author, None)
        self.parts.flows.apply(document, who)
        return self.parts.executions.start(StartRequest("f"), who)[0].id

    def turn(self) -> int:
        """Report, take what is granted, and make it; return how many calls there were."""
        reports, self.reports = self.reports, []
        orders = self.engine.serve(self.runner, (), reports, 10)
        for call in orders.begin:
            self.calls.append(call)
            outcome = self.verbs[call.verb](call, Event())
            holder = None if call.check else self.runner
            given = Report(call.run, call.attempt, outcome, holder, call.check)
            self.reports.append(CallReport(call.execution, given))
        return len(orders.begin)

    def run(self, execution: str, turns: int = 40) -> Execution:
        """Go on until an execution has ended or so many turns are over; supervisors go on too."""
        for _ in range(turns):
            if self.get(execution).state.ended:
                break
            if not self.turn() and not self.reports:
                self.pass_time(_SECOND)
        return self.get(execution)

    def pass_time(self, by: timedelta) -> None:
        """Let times come."""
        self.world.clock.advance(by)
        self.world.leadership.step()
        self.world.settle()
        self.engine.tick()

    def die(self) -> None:
        """Lose the runner with all that it has made and not reported; another one begins."""
        self.reports.clear()
        lost, self.lives = self.runner, self.lives + 1
        self.engine.lose(lost)

    def get(self, execution: str) -> Execution:
        """Return an execution."""
        return self.parts.executions.get(execution)

    def step(self, execution: str, name: str = "s0") -> TaskRun:
        """Return the task run of a step."""
        return next(run for run in self.get(execution).runs.values() if run.step == name)

    def operations(self, kind: str, supervisor: str = TOPIC) -> list[str]:
        """Return ids of the operations of a kind."""
        rows = self.parts.chronicle.operations(100, supervisor_id=supervisor).operations
        return [row.id for row in rows if row.kind == kind]


def driver_of(world: World, prover: Prover | None = None) -> Driver:
    """Return a driver of a world; its database of executions is made."""
    parts = cast("Services", cast("FastAPI", world.client.app).state.parts)
    migrate_executions(f"sqlite:///{world.database.with_name('executions.db')}")
    return Driver(world, parts, product_verbs(parts, prover or ChildProver()))
