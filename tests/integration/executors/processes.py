"""Executors as processes over topics of their own, and a reader of what they have committed."""

import itertools
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Self

import httpx

from supervisor.adapters.executions.database import migrate_executions
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildSpec
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    RESULT_FORM,
    ExecutionGiven,
    ExecutionPurge,
    ExecutionStart,
)
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import LogTopic
from tests.environment.execution_topics import TopicsOfTest
from tests.waiting import wait_until

_NUMBERS = itertools.count(1)


@dataclass
class ExecutorProcess:
    """One process."""

    name: str
    child: Child
    http: httpx.Client

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self.child.pid is not None
        return self.child.pid

    def well(self) -> bool:
        """Whether it answers, and nothing is wrong."""
        try:
            return self.http.get("/ping").is_success
        except httpx.TransportError:
            return False

    def owns(self) -> set[int]:
        """Return the partitions that it works; none if it does not answer."""
        try:
            partitions = self.http.get("/status").json()["partitions"]
        except httpx.TransportError:
            return set()
        return {one["partition"] for one in partitions if not one["trouble"]}

    def makes(self) -> list[str]:
        """Return the executions of the calls that it makes."""
        return [one["execution"] for one in self.http.get("/status").json()["makes"]]

    def metric(self, name: str) -> float:
        """Return the value of a metric without labels."""
        for line in self.http.get("/metrics").text.splitlines():
            if line.startswith(f"{name} "):
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"there is no metric {name}")

    def kill(self) -> None:
        """End it at once, as `kill -9` does."""
        self.child.signal(signal.SIGKILL)
        self.child.stop()


@dataclass
class Executors:
    """The processes of one database and one set of topics; the block's end ends them."""

    folder: Path
    bootstrap: str
    env: dict[str, str] = field(default_factory=dict)
    prefix: str = field(default_factory=lambda: f"executors.test{next(_NUMBERS)}.")
    all: list[ExecutorProcess] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Their database."""
        return f"sqlite:///{self.folder}/executions.db"

    @property
    def topics(self) -> ExecutionTopics:
        """Their topics."""
        return ExecutionTopics(self.prefix)

    @cached_property
    def log(self) -> TopicsOfTest:
        """What is on the topics; they are there once one process is well."""
        return TopicsOfTest(self.bootstrap, self.topics)

    def spawn(self, **own: str) -> ExecutorProcess:
        """Start one more."""
        name, port = f"executor-{len(self.all) + 1}", free_port()
        child = Child(
            ChildSpec(
                name=name,
                argv=(sys.executable, "-m", "supervisor.cli.main", "executor"),
                folder=self.folder / "logs",
                env={
                    "TIDEGATE_DATA_DIR": str(self.folder / name),
                    "TIDEGATE_EXECUTIONS_URL": self.url,
                    "TIDEGATE_EXECUTIONS_KAFKA": self.bootstrap,
                    "TIDEGATE_EXECUTIONS_PREFIX": self.prefix,
                    "TIDEGATE_EXECUTOR_NAME": name,
                    "TIDEGATE_PORT": str(port),
                    **self.env,
                    **own,
                },
                grace=timedelta(seconds=30),
            )
        )
        child.start()
        client = httpx.Client(base_url=f"http://{LOOPBACK}:{port}", timeout=10.0)
        process = ExecutorProcess(name, child, client)
        self.all.append(process)
        return process

    def start(self, **own: str) -> ExecutorProcess:
        """Start one more, and wait until it is well."""
        process = self.spawn(**own)
        wait_until(process.well)
        return process

    def share(self, *processes: ExecutorProcess) -> None:
        """Wait until these work all partitions, each some and none two."""

        def shared() -> bool:
            owned = [each.owns() for each in processes]
            every = sorted(number for one in owned for number in one)
            return all(owned) and every == list(range(self.topics.entities))

        wait_until(shared)

    def begin(self, plan: FlowPlan, names: Sequence[str]) -> None:
        """Start executions, as an overlord does."""
        for name in names:
            started = Execution(name, plan, {}, datetime.now(UTC))
            self.send(name, ExecutionStart(started))

    def send(self, name: str, letter: ExecutionStart | ExecutionGiven | ExecutionPurge) -> None:
        """Send a letter."""
        place = partition_of(name, self.topics.entities)
        self.log.send(LogTopic.HISTORY, place, name, LETTER_FORM.write(letter))

    def events(self) -> list[tuple[str, ExecutionEvent]]:
        """Return each event with the id of its execution, as they are committed."""
        read = [
            (one.key, RESULT_FORM.read(one.value or b"")) for one in self.log.read(LogTopic.RESULTS)
        ]
        return [(key, each) for key, each in read if isinstance(each, ExecutionEvent)]

    def ends(self) -> dict[str, str]:
        """Return the state in which each execution has ended; one that ended twice is an error."""
        ended = [
            (name, str(event.about["state"]))
            for name, event in self.events()
            if event.name == "execution-ended"
        ]
        assert len(dict(ended)) == len(ended), "an execution ended twice"
        return dict(ended)

    def __enter__(self) -> Self:
        """Make the database."""
        migrate_executions(self.url)
        return self

    def __exit__(self, *_: object) -> None:
        """End all."""
        if "log" in self.__dict__:
            self.log.close()
        for each in self.all:
            each.child.stop()
            each.http.close()
