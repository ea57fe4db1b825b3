"""An overlord whose flows run: its database is migrated, and a runner makes the calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pytest
from fastapi import FastAPI

from supervisor.adapters.executions.database import migrate_executions
from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Succeeded
from supervisor.executions.engine import StoredEngine
from supervisor.executions.runner import CallRunner
from supervisor.services.flows.executions import Executions
from supervisor.services.services import Services
from tests.supervisor.api.world import Json, World
from tests.waiting import wait_until


@dataclass
class Running:
    """A world in which flows run."""

    world: World

    @property
    def executions(self) -> Executions:
        """The verbs on executions."""
        app = self.world.client.app
        assert isinstance(app, FastAPI)
        parts: Services = app.state.parts
        return parts.executions

    def apply(self, **flow: object) -> Json:
        """Apply a flow, and return its version."""
        answer = self.world.post("/api/v1/flows", flow).raise_for_status()
        applied: Json = answer.json()["flow"]
        return applied

    def start(self, flow: str, **wanted: object) -> str:
        """Start an execution, and return its id."""
        answer = self.world.post(f"/api/v1/flows/{flow}/executions", wanted)
        return str(answer.raise_for_status().json()["id"])

    def get(self, execution: str) -> Json:
        """Return an execution."""
        return self.world.get_object(f"/api/v1/executions/{execution}")

    def run_of(self, execution: str, step: str) -> str:
        """Wait until a step of an execution waits for a person, and return its task run."""

        def waiting() -> list[str]:
            runs = cast("list[Json]", self.get(execution)["runs"])
            return [str(run["id"]) for run in runs if run["step"] == step and run["waitsFor"]]

        wait_until(lambda: bool(waiting()))
        return waiting()[0]

    def wait_for(self, execution: str, state: str) -> Json:
        """Wait until an execution is in a state."""
        wait_until(lambda: self.get(execution)["state"] == state)
        return self.get(execution)


@pytest.fixture
def running(world: World) -> Iterator[Running]:
    """An overlord that leads, with a runner."""
    app = world.client.app
    assert isinstance(app, FastAPI)
    parts: Services = app.state.parts
    migrate_executions(f"sqlite:///{world.database.with_name('executions.db')}")
    verbs = {"noop": lambda _, __: Succeeded({"rows": 3})}
    engine = parts.executions.engine
    assert isinstance(engine, StoredEngine)
    runner = CallRunner(engine, Runner("here", "one"), verbs, 4, look_s=0.01)
    runner.start()
    yield Running(world)
    runner.stop()
