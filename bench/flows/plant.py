"""Processes that run flows: an overlord, with an executor where they run on Kafka."""

import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx
from pydantic import JsonValue
from sqlalchemy import ColumnElement, func, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import EXECUTIONS
from supervisor.dev.ports import free_port
from supervisor.dev.processes import Child, ChildSpec
from tests.environment.postgres import postgres
from tests.integration.overlords import Overlord, Overlords
from tests.waiting import wait_until

__all__ = ["FlowPlant", "flow_plant", "keep_in_flight", "prefix_of", "step_flow"]

_THREADS = "64"
_SETTLE_S = 60.0
_LOOK_S = 0.01


@dataclass
class FlowPlant:
    """What is measured, and a reader of its tables."""

    url: str
    """The overlord."""
    http: httpx.Client
    tables: ExecutionDatabase
    database: str
    """The URL of the tables."""

    def apply(self, document: dict[str, JsonValue]) -> None:
        """Store a flow."""
        self.http.post("/api/v1/flows", json=document).raise_for_status()

    def start(self, flow: str, key: str) -> None:
        """Start an execution of it."""
        body = {"key": key, "inputs": {}}
        path = f"/api/v1/flows/{flow}/executions"
        self.http.post(path, json=body).raise_for_status()

    def ended(self, flow: str) -> int:
        """Return how many of its executions have ended, as the tables know."""
        return self._count(flow, EXECUTIONS.c.ended_at.is_not(None))

    def live(self, flow: str) -> int:
        """Return how many of its executions have not ended."""
        return self._count(flow, EXECUTIONS.c.ended_at.is_(None))

    def _count(self, flow: str, which: ColumnElement[bool]) -> int:
        count = select(func.count()).where(EXECUTIONS.c.flow == flow, which)
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


def keep_in_flight(plant: FlowPlant, flow: str, at_once: int = 8) -> Iterator[int]:
    """Start executions whenever fewer are in flight; yield how many have ended, for ever."""
    starts, waiting = list[Future[None]](), threading.Event()
    # One after the other they would never come to be so many: a start is a request of HTTP.
    with ThreadPoolExecutor(at_once) as pool:
        while True:
            ended = plant.ended(flow)
            for number in range(len(starts), ended + at_once):
                starts.append(pool.submit(plant.start, flow, f"n{number}"))
            for start in starts[-at_once:]:
                if start.done():
                    start.result()
            yield ended
            waiting.wait(_LOOK_S)  # whoever measures leaves the processors to what is measured


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


def prefix_of(folder: Path) -> str:
    """Return the prefix of the topics of a plant in this folder."""
    return f"{folder.name}.executions."


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
            more["TIDEGATE_EXECUTIONS_PREFIX"] = prefix_of(folder)
        overlord = stack.enter_context(Overlords(folder, metadata, more=more)).start_leader()
        if bootstrap is not None:
            child = _executor(folder, overlord, more | {"TIDEGATE_METADATA_URL": metadata})
            stack.callback(child.stop)
        tables = ExecutionDatabase(executions)
        stack.callback(tables.close)
        plant = FlowPlant(overlord.url, overlord.http, tables, executions)
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
