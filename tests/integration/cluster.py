"""A Tidegate of real processes for one test: overlord and workers as children, on free ports.

Nothing of the machine helps it: its PATH has no java, node or psql, and Java is the bundled one.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self

import httpx
from prometheus_client.parser import text_string_to_metric_families
from pydantic import JsonValue

from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildFailed, ChildSpec
from tasks.runtime.jars import FORMATS, SPARK
from tests.environment.bare_path import bare_path
from tests.environment.brokers import shared_jars, shared_jars_dir
from tests.environment.frozen import freeze
from tests.waiting import HANGS_AFTER_S, wait_until

START_WITHIN_S = HANGS_AFTER_S
ASK_TIMEOUT_S = 60.0
SUPERVISORS = "/druid/indexer/v1/supervisor"
_ROOT = Path(__file__).parents[2]


@dataclass
class Cluster:
    """One overlord and its workers over one folder; stop and start them as the test needs."""

    folder: Path
    metadata_url: str | None = None
    gc_delay: str = "PT2S"
    more: Mapping[str, str] = field(default_factory=dict)
    light: bool = False
    """Workers without a JVM: they start in two seconds, and can be killed often."""
    slots: int = 4
    """Of each worker."""

    def __post_init__(self) -> None:
        """Choose ports; they stay the same over restarts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._path = bare_path(self.folder / "bare-path")
        self.port = free_port()
        self.url = f"http://{LOOPBACK}:{self.port}"
        self._worker_ports: dict[str, int] = {}
        self.children: dict[str, Child] = {}
        self.http = httpx.Client(base_url=self.url, timeout=ASK_TIMEOUT_S)

    @property
    def warehouse(self) -> Path:
        """Where the tables lie."""
        return self.folder / "warehouse"

    def worker_port(self, name: str) -> int:
        """Return where a worker's control API listens."""
        return self._worker_ports[name]

    def environment(self) -> dict[str, str]:
        """What each child gets."""
        url = self.metadata_url or f"sqlite:///{self.folder}/metadata.db"
        return {
            "PATH": self._path,
            "JAVA_HOME": "",
            "TIDEGATE_JAVA": "bundled",
            "TIDEGATE_METADATA_URL": url,
            "TIDEGATE_WAREHOUSE": str(self.warehouse),
            "TIDEGATE_DATA_DIR": str(self.folder / "overlord"),
            "TIDEGATE_OVERLORDS": self.url,
            "TIDEGATE_GC_DELAY": self.gc_delay,
            "TIDEGATE_LEASE_TTL": "PT5S",
            "TIDEGATE_WORKER_TIMEOUT": "PT15S",
            # A batch may take long on a machine that is all used up: no task fails by that.
            "TIDEGATE_PAUSE_TIMEOUT": "PT2M",
            "TIDEGATE_PAUSE_LEASE": "PT5M",
            **self.more,
        }

    def start_overlord(self) -> None:
        """Start it and wait until it leads."""
        self.spawn("overlord")
        self.await_healthy("overlord")
        wait_until(self.leads)

    def start_worker(self, name: str = "w1") -> None:
        """Start a worker with a folder of its own and wait until it serves."""
        self.spawn(name)
        self.await_healthy(name)

    def spawn(self, name: str) -> None:
        """Start the overlord or a worker and wait for nothing."""
        if name == "overlord":
            self._spawn(name, "overlord", self.port, {})
            return
        if name not in self._worker_ports:
            self._worker_ports[name] = free_port()
        port = self._worker_ports[name]
        own = {
            "TIDEGATE_DATA_DIR": str(self.folder / name),
            "TIDEGATE_WORKER_ID": name,
            "TIDEGATE_WORKER_SLOTS": str(self.slots),
            "TIDEGATE_SPARK_MASTER": "local[2]",
        }
        if not self.light:
            for part in (SPARK, FORMATS):  # a worker of this cluster fetches none
                shared_jars(part)
            own["TIDEGATE_JARS"] = str(shared_jars_dir())
        self._spawn(name, "worker", port, own)

    def tree(self, name: str) -> Path:  # noqa: ARG002 -- another kind of cluster tells them apart
        """Return the folder of the source that a child runs."""
        return _ROOT

    def _spawn(self, name: str, role: str, port: int, own: dict[str, str]) -> None:
        light = self.light and role == "worker"
        program = (
            ("tests.chaos.processes.light_worker",) if light else ("supervisor.cli.main", role)
        )
        child = Child(
            ChildSpec(
                name=name,
                argv=(sys.executable, "-m", *program),
                folder=self.folder / "logs",
                env=self.environment() | {"TIDEGATE_PORT": str(port)} | own,
                cwd=self.tree(name),
                grace=timedelta(seconds=40),
            )
        )
        child.start()
        self.children[name] = child

    def await_healthy(self, name: str) -> None:
        """Wait until a child serves.

        Raises:
            ChildFailed: it ended instead; with its log.
        """
        child = self.children[name]
        wait_until(lambda: self.serves(name) or not child.alive(), within_s=START_WITHIN_S)
        if not child.alive():
            raise ChildFailed(name, f"ended with {child.exit_code()}", child.log)

    def serves(self, name: str) -> bool:
        """Whether a child answers that it is healthy."""
        port = self.port if name == "overlord" else self._worker_ports[name]
        return _healthy(f"http://{LOOPBACK}:{port}/status/health")

    def stop(self, name: str) -> int | None:
        """End a child in good order and return its exit code."""
        child = self.children.pop(name)
        child.signal(signal.SIGTERM)
        wait_until(lambda: not child.alive())
        return child.exit_code()

    def freeze(self, name: str) -> None:
        """Let a child stand still; SIGCONT has it go on."""
        pid = self.children[name].pid
        assert pid is not None
        freeze(pid)

    def kill(self, name: str) -> None:
        """End a child, and its JVM, as a crash would."""
        self.children.pop(name).kill()

    def close(self) -> None:
        """End all that runs."""
        for child in reversed(list(self.children.values())):
            child.stop()
        self.children.clear()
        self.http.close()

    def __enter__(self) -> Self:
        """Use it for one test."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing running."""
        self.close()

    def leads(self) -> bool:
        """Whether the overlord answers, and leads."""
        try:
            return self.http.get("/druid/indexer/v1/isLeader").status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    # -- what users do -------------------------------------------------------------------------

    def apply(self, spec: Mapping[str, JsonValue]) -> str:
        """Post a spec and return the supervisor's id."""
        answer = self.http.post(SUPERVISORS, json=dict(spec))
        assert answer.status_code == httpx.codes.OK, answer.text
        return str(answer.json()["id"])

    def post(self, supervisor_id: str, verb: str) -> None:
        """Suspend, resume or terminate."""
        answer = self.http.post(f"{SUPERVISORS}/{supervisor_id}/{verb}")
        assert answer.status_code == httpx.codes.OK, answer.text

    def status(self, supervisor_id: str) -> dict[str, JsonValue]:
        """Return the status payload."""
        answer = self.http.get(f"{SUPERVISORS}/{supervisor_id}/status")
        assert answer.status_code == httpx.codes.OK, answer.text
        payload: dict[str, JsonValue] = answer.json()["payload"]
        return payload

    def tasks(self, data_source: str) -> list[dict[str, JsonValue]]:
        """Return every task of a table, running or not."""
        rows: list[dict[str, JsonValue]] = []
        for state in ("running", "complete"):
            params = {"datasource": data_source, "state": state, "max": "1000"}
            answer = self.http.get("/druid/indexer/v1/tasks", params=params)
            assert answer.status_code == httpx.codes.OK, answer.text
            rows += answer.json()
        return rows

    def ledger(self, supervisor_id: str) -> dict[str, JsonValue]:
        """Return committed offsets, publications and gaps."""
        answer = self.http.get(f"/api/v1/supervisors/{supervisor_id}/ledger")
        assert answer.status_code == httpx.codes.OK, answer.text
        found: dict[str, JsonValue] = answer.json()
        return found

    def publications(self, supervisor_id: str) -> list[dict[str, JsonValue]]:
        """Return what was published, oldest first."""
        found = self.ledger(supervisor_id)["publications"]
        assert isinstance(found, list)
        return [p for p in found if isinstance(p, dict)]

    def files(self, data_source: str) -> list[Path]:
        """Return the published files of a table; none before its first publish."""
        answer = self.http.get(f"/api/v1/datasources/{data_source}/files")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return []
        assert answer.status_code == httpx.codes.OK, answer.text
        return [Path(file["uri"]) for file in answer.json()["files"]]

    def tidegate(
        self, *arguments: str, typed: str | None = None, timeout_s: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as a user would; `typed` is typed into it."""
        return subprocess.run(
            (sys.executable, "-m", "supervisor.cli.main", *arguments),
            env={**os.environ, **self.environment()},
            input=typed,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def compared(self, supervisor_id: str) -> dict[str, float]:
        """Return what was found -> of how many replicas, as scrapers see it."""
        families = text_string_to_metric_families(self.http.get("/metrics").text)
        return {
            sample.labels["found"]: sample.value
            for family in families
            for sample in family.samples
            if sample.name == "tidegate_replicas_compared_total"
            and sample.labels["supervisor"] == supervisor_id
        }

    def has_read(self, supervisor_id: str, ends: Mapping[str, int]) -> bool:
        """Whether the tasks that read now have journaled everything up to `ends`."""
        tasks = self.status(supervisor_id)["activeTasks"]
        assert isinstance(tasks, list)
        reached: dict[str, JsonValue] = {}
        for task in tasks:
            assert isinstance(task, dict)
            current = task["currentOffsets"]
            assert isinstance(current, dict)
            reached |= current
        return reached == dict(ends)

    def inventory(self) -> dict[str, JsonValue]:
        """Return every file that the database names, and the folders that are not settled."""
        answer = self.http.get("/api/v1/files")
        assert answer.status_code == httpx.codes.OK, answer.text
        found: dict[str, JsonValue] = answer.json()
        return found

    def is_settled(self) -> bool:
        """Whether no folder of a task is left that something still has to look after."""
        found = self.inventory()
        return not found["writing"] and not found["pending"]

    def is_suspended_and_quiet(self, supervisor_id: str) -> bool:
        """Whether a suspended supervisor has published what it had read."""
        status = self.status(supervisor_id)
        return not status["activeTasks"] and not status["publishingTasks"] and not status["groups"]


def _healthy(url: str) -> bool:
    try:
        return httpx.get(url, timeout=1.0).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


@contextmanager
def running(cluster: Cluster, workers: tuple[str, ...] = ("w1",)) -> Iterator[Cluster]:
    """Start a cluster's overlord, then its workers at once; the body's end ends them."""
    with cluster:
        cluster.start_overlord()
        for name in workers:
            cluster.spawn(name)
        for name in workers:
            cluster.await_healthy(name)
        yield cluster
