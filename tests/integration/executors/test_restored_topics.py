"""Topics of executions that are lost: a command writes them from the tables, and all goes on."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import LogTopic
from tests.integration.executors.processes import ExecutorProcess, Executors
from tests.integration.overlords import Overlord, Overlords
from tests.supervisor.adapters.executions.sink import Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process]

Json = dict[str, object]
_WITHIN_S = 60.0
_HOME = "/api/v1/executions"


@dataclass
class World:
    """An overlord, executors over topics of their own, and a server that notes what it is sent."""

    executors: Executors
    leader: Overlord
    sink: Sink
    env: dict[str, str]

    def start_executor(self) -> ExecutorProcess:
        """Start one that works every partition."""
        one = self.executors.start(TIDEGATE_OVERLORDS=self.leader.url)
        self.executors.share(one)
        return one

    def begin(self, flow: str, key: str) -> None:
        """Start an execution."""
        answer = self.leader.http.post(f"/api/v1/flows/{flow}/executions", json={"key": key})
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text

    def get(self, execution: str) -> Json:
        """Return an execution as the tables have it."""
        return cast("Json", self.leader.http.get(f"{_HOME}/{execution}").raise_for_status().json())

    def run(self, execution: str, step: str) -> Json:
        """Return a task run; an empty one if there is none."""
        runs = cast("list[Json]", self.get(execution)["runs"])
        return next((run for run in runs if run["step"] == step), {})

    def approve(self, execution: str) -> None:
        """Answer its question."""
        path = f"{_HOME}/{execution}/runs/{self.run(execution, 'ok')['id']}/answer"
        answer = self.leader.http.post(path, json={"yes": True})
        assert answer.is_success, answer.text

    def tables_behind(self) -> int:
        """Return how many records the tables do not have, and the history still has."""
        parts = self.leader.http.get("/api/v1/executor").json()["partitions"]
        return sum(int(part["lag"]) + int(part["projectionLag"]) for part in parts)

    def lose_topics(self) -> None:
        """Delete every topic with what is in it."""
        names = [each.name for each in self.executors.topics.all.values()]
        admin = AdminClient({"bootstrap.servers": self.executors.bootstrap, "log_level": 0})
        for answer in admin.delete_topics(names).values():
            answer.result(_WITHIN_S)
        wait_until(lambda: not set(names) & set(admin.list_topics(timeout=_WITHIN_S).topics))

    def restore(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the command."""
        argv = (sys.executable, "-m", "supervisor.cli.main", "execution", "restore-topics")
        return subprocess.run(
            [*argv, *options],
            env={**os.environ, **self.env},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def keys(self) -> Counter[str]:
        """Return how often the server was sent each idempotency key."""
        return Counter(one.headers["Idempotency-Key"] for one in self.sink.ledger)


@contextmanager
def _world(broker: Broker, folder: Path) -> Iterator[World]:
    executors = Executors(folder, broker.bootstrap)
    env = {
        "TIDEGATE_EXECUTIONS_URL": executors.url,
        "TIDEGATE_EXECUTIONS_KAFKA": broker.bootstrap,
        "TIDEGATE_EXECUTIONS_PREFIX": executors.prefix,
    }
    overlords = Overlords(folder, f"sqlite:///{folder}/metadata.db", env)
    with a_sink() as sink, overlords, executors:
        leader = overlords.start_leader()
        call = {"type": "http", "method": "POST", "url": sink.url(), "idempotent": True}
        steps = [
            {"name": "before", **call, "body": {"at": "${ execution.id }"}},
            {"name": "ok", "type": "approve", "question": "on?", "after": ["before"]},
            {"name": "after", **call, "after": ["ok"]},
        ]
        flows: list[Json] = [
            {"flow": "free", "steps": steps},
            {"flow": "alone", "steps": steps, "concurrency": {"limit": 1}},
        ]
        for flow in flows:
            answer = leader.http.post("/api/v1/flows", json=flow)
            assert answer.is_success, answer.text
        yield World(executors, leader, sink, env)


def test_executions_go_on_over_topics_that_were_lost(broker: Broker, tmp_path: Path) -> None:
    names = [f"free:{number}" for number in range(12)]
    with _world(broker, tmp_path) as world:
        one = world.start_executor()
        for name in names:
            world.begin(*name.split(":"))
        world.begin("alone", "first")
        wait_until(lambda: world.run("alone:first", "ok").get("state") == "WAITING")
        world.begin("alone", "second")
        for name in names:
            wait_until(lambda: world.run(name, "ok").get("state") == "WAITING")  # noqa: B023
        wait_until(lambda: world.get("alone:second")["state"] == "QUEUED")
        wait_until(lambda: world.tables_behind() == 0)
        refused = world.restore("--yes", "--force")
        one.child.stop()
        in_use = world.restore("--yes")
        world.begin("free", "late")
        world.lose_topics()
        before = world.keys()
        dry = world.restore("--dry-run")
        lost = world.executors.spawn()
        wait_until(lambda: not lost.child.alive())
        done = world.restore("--yes")
        assert done.returncode == 0, done.stderr
        world.start_executor()

        assert (refused.returncode, in_use.returncode) == (1, 1)
        assert "executors run: executor-1" in refused.stderr
        assert "has records" in in_use.stderr
        assert dry.returncode == 0, dry.stderr
        assert "executions: 14, of them 14 have not ended" in dry.stdout
        assert "gates: 1" in dry.stdout
        assert "starts that are sent again: 1" in dry.stdout
        assert "tidegate execution restore-topics" in lost.child.log.read_text()

        wait_until(lambda: world.run("free:late", "ok").get("state") == "WAITING")
        for name in (*names, "free:late", "alone:first"):
            world.approve(name)
        wait_until(lambda: world.run("alone:second", "ok").get("state") == "WAITING")
        world.approve("alone:second")
        for name in (*names, "free:late", "alone:first", "alone:second"):
            wait_until(lambda: world.get(name)["state"] == "SUCCESS")  # noqa: B023
        assert set(world.keys().values()) == {1}, "no step with a key twice"
        assert len(world.keys()) == 2 * (len(names) + 3)
        assert len(before) == len(names) + 1


def test_an_execution_that_cannot_be_read_is_repaired_while_executors_run(
    broker: Broker, tmp_path: Path
) -> None:
    name = "free:one"
    with _world(broker, tmp_path) as world:
        one = world.start_executor()
        world.begin("free", "one")
        wait_until(lambda: world.run(name, "ok").get("state") == "WAITING")
        wait_until(lambda: world.tables_behind() == 0)
        place = partition_of(name, world.executors.topics.entities)
        world.executors.log.send(LogTopic.STATE, place, f"e/{name}", b"no JSON")
        one.child.stop()
        world.start_executor()
        world.approve(name)

        def dead() -> list[Json]:
            answer = world.leader.http.get("/api/v1/executor/dead").raise_for_status()
            return cast("list[Json]", answer.json()["letters"])

        wait_until(lambda: len(dead()) == 1)
        done = world.restore("--execution", name, "--yes")
        [letter] = dead()
        path = f"/api/v1/executor/dead/{letter['offset']}/replay"
        world.leader.http.post(path).raise_for_status()

        wait_until(lambda: world.get(name)["state"] == "SUCCESS")
        assert done.returncode == 0, done.stderr
        assert "cannot be read" in json.dumps(letter)
        assert set(world.keys().values()) == {1}
