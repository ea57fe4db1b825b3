"""Two overlords and two executors as processes, each with a faulty wire to PostgreSQL.

overlords, executors ──► proxy of each ──► PostgreSQL
overlords, executors ──► one proxy ──► broker
"""

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildSpec
from tests.chaos.processes.proxy import FaultProxy, Mode

__all__ = ["EXECUTORS", "LEADERS", "Crew", "a_crew"]

LEADERS = ("o1", "o2")
EXECUTORS = ("x1", "x2")
_PREFIX = "chaos.executions."
_ASK_S = 10.0
_QUICK = {"TIDEGATE_LEASE_TTL": "PT5S"}


@dataclass
class Crew:
    """The processes of one run; every method is for one thread."""

    folder: Path
    postgres: str
    bootstrap: str
    more: Mapping[str, str] = field(default_factory=dict)
    """Settings of every process."""
    prefix: str = _PREFIX
    """Of the topics of executions."""
    wires: dict[str, FaultProxy] = field(default_factory=dict)
    """Name -> its wire to PostgreSQL."""
    ports: dict[str, int] = field(default_factory=dict)
    children: dict[str, Child] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)

    @property
    def names(self) -> tuple[str, ...]:
        """Every process there should be."""
        return (*LEADERS, *EXECUTORS)

    @property
    def topics(self) -> ExecutionTopics:
        """Where executions live."""
        return ExecutionTopics(self.prefix)

    def url(self, name: str) -> str:
        """Return the address of a process."""
        return f"http://{LOOPBACK}:{self.ports[name]}"

    def start(self, name: str) -> None:
        """Start a process, and wait for nothing."""
        at = urlsplit(self.postgres)
        database = at._replace(netloc=f"postgres@{LOOPBACK}:{self.wires[name].port}")
        role = "overlord" if name in LEADERS else "executor"
        env = {
            "TIDEGATE_PORT": str(self.ports[name]),
            "TIDEGATE_DATA_DIR": str(self.folder / name),
            "TIDEGATE_WAREHOUSE": str(self.folder / "warehouse"),
            "TIDEGATE_METADATA_URL": database.geturl(),
            "TIDEGATE_OVERLORDS": ",".join(self.url(each) for each in LEADERS),
            "TIDEGATE_EXECUTIONS_KAFKA": self.bootstrap,
            "TIDEGATE_EXECUTOR_NAME": name,
            "TIDEGATE_EXECUTIONS_PREFIX": self.prefix,
            **_QUICK,
            **self.more,
        }
        argv = (sys.executable, "-m", "supervisor.cli.main", role)
        grace = timedelta(seconds=30)
        child = Child(ChildSpec(name, argv, self.folder / "logs", env=env, grace=grace))
        child.start()
        self.children[name] = child

    def kill(self, name: str) -> None:
        """End a process as `kill -9` does."""
        self.children[name].signal(signal.SIGKILL)
        self.children[name].stop()
        self.frozen.discard(name)

    def freeze(self, name: str) -> None:
        """Stop a process where it is."""
        self.children[name].signal(signal.SIGSTOP)
        self.frozen.add(name)

    def heal(self) -> None:
        """Let everything pass, and everybody run."""
        for wire in self.wires.values():
            wire.set(Mode.PASS)
        for name in self.frozen:
            self.children[name].signal(signal.SIGCONT)
        self.frozen.clear()
        for name in self.names:
            if not self.children[name].alive():
                self.start(name)

    def partitions(self, executor: str) -> list[int]:
        """Return those that an executor works; none if it does not answer."""
        try:
            status = httpx.get(f"{self.url(executor)}/status", timeout=_ASK_S).json()
        except httpx.HTTPError:
            return []
        return [one["partition"] for one in status["partitions"] if not one["trouble"]]

    def ask(self, method: str, path: str, body: object = None) -> httpx.Response | None:
        """Ask whoever leads; None: nobody answers, or not with success."""
        for name in LEADERS:
            try:
                answer = httpx.request(method, f"{self.url(name)}{path}", json=body, timeout=_ASK_S)
            except httpx.HTTPError:
                continue
            if answer.is_success:
                return answer
        return None


@contextmanager
def a_crew(
    folder: Path,
    postgres: str,
    bootstrap: str,
    more: Mapping[str, str] | None = None,
    prefix: str = _PREFIX,
) -> Iterator[Crew]:
    """Start all, with these settings; nothing of it is left at the end."""
    with ExitStack() as stack:
        crew = Crew(folder, postgres, bootstrap, more or {}, prefix)
        at = urlsplit(postgres)
        for name in crew.names:
            database = (at.hostname or LOOPBACK, at.port or 5432)
            crew.wires[name] = stack.enter_context(FaultProxy(database))
            crew.ports[name] = free_port()
        try:
            for name in crew.names:
                crew.start(name)
            yield crew
        finally:
            for name in crew.frozen:
                crew.children[name].signal(signal.SIGCONT)
            for child in crew.children.values():
                child.stop()
