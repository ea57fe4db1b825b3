"""Processes that run flows: an overlord, with an executor where they run on Kafka."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import JsonValue
from sqlalchemy import func, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import EXECUTIONS
from supervisor.dev.ports import free_port
from supervisor.dev.processes import Child, ChildSpec
from tests.environment.postgres import postgres
from tests.integration.overlords import Overlord, Overlords
from tests.waiting import wait_until

__all__ = ["FlowPlant", "flow_plant", "step_flow"]

_THREADS = "64"
_SETTLE_S = 60.0


@dataclass
class FlowPlant:
    """What is measured, and a reader of its tables."""

    overlord: Overlord
    tables: ExecutionDatabase

    def apply(self, document: dict[str, JsonValue]) -> None:
        """Store a flow."""
        self.overlord.http.post("/api/v1/flows", json=document).raise_for_status()

    def start(self, flow: str, key: str) -> None:
        """Start an execution of it."""
        body = {"key": key, "inputs": {}}
        path = f"/api/v1/flows/{flow}/executions"
        self.overlord.http.post(path, json=body).raise_for_status()

    def ended(self, flow: str) -> int:
        """Return how many of its executions have ended, as the tables know."""
        count = select(func.count()).where(
            EXECUTIONS.c.flow == flow, EXECUTIONS.c.ended_at.is_not(None)
        )
        with self.tables.reading() as connection:
            return connection.execute(count).scalar_one()

    def times(self, flow: str) -> Sequence[tuple[datetime, datetime]]:
        """Return when its executions were created, and when they ended."""
        columns = EXECUTIONS.c
        query = select(columns.created_at, columns.ended_at).where(
            columns.flow == flow, columns.ended_at.is_not(None)
        )
        with self.tables.reading() as connection:
            return [(row.created_at, row.ended_at) for row in connection.execute(query)]

    def run_one(self, flow: str, key: str) -> float:
        """Start one execution, wait for its end, and return the seconds from its creation."""
        before = self.ended(flow)
        self.start(flow, key)
        wait_until(lambda: self.ended(flow) > before, within_s=_SETTLE_S)
        begin, end = max(self.times(flow))
        return (end - begin).total_seconds()


def step_flow(name: str, items: int, concurrency: int = 50) -> dict[str, JsonValue]:
    """Return a flow of that many `noop` steps."""
    return {
        "flow": name,
        "steps": [
            {
                "name": "all",
                "type": "forEach",
                "items": list(range(items)),
                "concurrency": concurrency,
                "steps": [{"name": "one", "type": "noop"}],
            }
        ],
    }


@contextmanager
def flow_plant(folder: Path, kind: str, bootstrap: str | None = None) -> Iterator[FlowPlant]:
    """Run an overlord on `sqlite` or `postgresql`, with an executor if brokers are given."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        metadata = f"sqlite:///{folder / 'metadata.db'}"
        executions = f"sqlite:///{folder / 'executions.db'}"
        if kind == "postgresql":
            server = stack.enter_context(postgres())
            metadata = executions = stack.enter_context(server.database())
        more = {"TIDEGATE_EXECUTIONS_THREADS": _THREADS}
        if bootstrap is not None:
            more["TIDEGATE_EXECUTIONS_KAFKA"] = bootstrap
            more["TIDEGATE_EXECUTIONS_PREFIX"] = f"{folder.name}.executions."
        overlord = stack.enter_context(Overlords(folder, metadata, more=more)).start_leader()
        if bootstrap is not None:
            child = _executor(folder, overlord, more | {"TIDEGATE_METADATA_URL": metadata})
            stack.callback(child.stop)
        tables = ExecutionDatabase(executions)
        stack.callback(tables.close)
        plant = FlowPlant(overlord, tables)
        plant.apply(step_flow("warm", 20))
        plant.start("warm", "up")
        wait_until(lambda: plant.ended("warm") == 1, within_s=_SETTLE_S)
        yield plant


def _executor(folder: Path, overlord: Overlord, env: dict[str, str]) -> Child:
    child = Child(
        ChildSpec(
            name="executor",
            argv=(sys.executable, "-m", "supervisor.cli.main", "executor"),
            folder=folder / "logs",
            env={
                **env,
                "TIDEGATE_PORT": str(free_port()),
                "TIDEGATE_OVERLORDS": overlord.url,
                "TIDEGATE_DATA_DIR": str(folder / "executor"),
            },
            grace=timedelta(seconds=20),
        )
    )
    child.start()
    return child
