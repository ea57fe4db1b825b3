"""Two overlords and some workers as real processes, each behind its own faulty wires.

    workers ──► proxy ──► overlord ──► proxy ──► PostgreSQL      one of each for each overlord
    clients and workers ──► proxy ──► broker                     (`ProxiedBroker`, if asked for)

Nothing here decides what happens to them; whatever has ended is started again by `start`.
"""

import signal
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx
import psutil
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildSpec
from tasks.runtime.failpoints import VARIABLE
from tasks.runtime.jars import SPARK
from tests.chaos.processes.proxy import FaultProxy, Mode
from tests.environment.bare_path import bare_path
from tests.environment.brokers import shared_jars, shared_jars_dir

OVERLORDS = ("o1", "o2")
LEASE_TTL_S = 5.0
WORKER_TIMEOUT_S = 10.0
PAUSE_LEASE_S = 120.0
_ASK_S = 3.0
_ROOT = Path(__file__).parents[3]
_MARK = "TIDEGATE_TEST_CHAOS"
_BLIND_HOST = "127.0.0.2"
"""Where a worker says that it listens when its control port is to be blocked."""
_QUICK = {
    "TIDEGATE_LEASE_TTL": "PT5S",
    "TIDEGATE_WORKER_TIMEOUT": "PT10S",
    "TIDEGATE_SUPERVISOR_PERIOD": "PT5S",
    "TIDEGATE_PAUSE_TIMEOUT": "PT40S",  # a batch may take long on a machine that is all used up
    "TIDEGATE_PAUSE_LEASE": f"PT{PAUSE_LEASE_S:g}S",
    "TIDEGATE_GC_DELAY": "PT2S",
    "TIDEGATE_SWEEP_PERIOD": "PT10S",
    "TIDEGATE_WORKER_SLOTS": "2",  # of two workers: exactly taskCount x replicas, none to spare
    "TIDEGATE_SPARK_MASTER": "local[2]",
    "TIDEGATE_SPARK_HEAP": "512m",
    "TIDEGATE_JAVA": "bundled",
}


class ProxiedBroker(Broker):
    """A broker whose clients come through a proxy: it tells them the proxy's address."""

    wire: FaultProxy | None = None

    def prepare(self) -> None:
        """Put the proxy's address where the broker's own would be told."""
        super().prepare()
        self.wire = self.wire or FaultProxy((LOOPBACK, self.port))
        properties = self._folder / "server.properties"
        text = properties.read_text()
        listener = f"advertised.listeners=PLAINTEXT://{LOOPBACK}:"
        assert f"{listener}{self.port}\n" in text, "the broker tells its address in another form"
        properties.write_text(
            text.replace(f"{listener}{self.port}\n", f"{listener}{self.wire.port}\n")
        )

    def stop(self) -> None:
        """End the broker and its proxy."""
        super().stop()
        if self.wire is not None:
            self.wire.close()


@dataclass(frozen=True)
class Shape:
    """What a fleet is made of."""

    folder: Path
    postgres: str
    """URL of the database, past every proxy."""
    workers: tuple[str, ...] = ("w1", "w2")
    blocked: bool = False
    """The control port of every worker: it accepts, and never answers."""
    light: bool = False
    """Workers without a JVM (`light_worker.py`)."""
    more: Mapping[str, str] = field(default_factory=dict)


class Fleet:
    """The processes of one run; every method is called from the thread that made it."""

    def __init__(self, shape: Shape) -> None:
        """Listen with the proxies; no process runs yet."""
        self.shape = shape
        shape.folder.mkdir(parents=True, exist_ok=True)
        self.children: dict[str, Child] = {}
        self.frozen: dict[str, float] = {}
        """Name -> monotonic time at which it was found stopped."""
        self.mark = f"{shape.folder.name}-{time.time_ns()}"
        self._stack = ExitStack()
        self._ports = {name: free_port() for name in (*OVERLORDS, *shape.workers)}
        at = urlsplit(shape.postgres)
        database = (at.hostname or LOOPBACK, at.port or 5432)
        self.to_postgres = {o: self._proxy(database) for o in OVERLORDS}
        self.to_overlord = {o: self._proxy((LOOPBACK, self._ports[o])) for o in OVERLORDS}
        if shape.blocked:
            for name in shape.workers:
                blind = self._proxy((LOOPBACK, 9), host=_BLIND_HOST, port=self._ports[name])
                blind.set(Mode.HOLE)

    def _proxy(self, to: tuple[str, int], *, host: str = LOOPBACK, port: int = 0) -> FaultProxy:
        return self._stack.enter_context(FaultProxy(to, host=host, port=port))

    @property
    def names(self) -> tuple[str, ...]:
        """Every process there should be."""
        return (*OVERLORDS, *self.shape.workers)

    @property
    def warehouse(self) -> Path:
        """Where the tables lie."""
        return self.shape.folder / "warehouse"

    def advertised(self, overlord: str) -> str:
        """Return the address under which workers know an overlord: its proxy's."""
        return f"http://{LOOPBACK}:{self.to_overlord[overlord].port}"

    def direct(self, name: str) -> str:
        """Return the address of a process past the proxies."""
        return f"http://{LOOPBACK}:{self._ports[name]}"

    def leader_of(self, url: str) -> str | None:
        """Return which overlord is known by this address."""
        return next((o for o in OVERLORDS if self.advertised(o) == url), None)

    def environment(self) -> dict[str, str]:
        """What each process gets."""
        return {
            "PATH": bare_path(self.shape.folder / "bare-path"),
            "JAVA_HOME": "",
            "TIDEGATE_WAREHOUSE": str(self.warehouse),
            "TIDEGATE_OVERLORDS": ",".join(self.advertised(o) for o in OVERLORDS),
            _MARK: self.mark,
            **_QUICK,
            **self.shape.more,
        }

    def start(self, name: str, failpoint: str = "") -> None:
        """Start a process, armed or not, and wait for nothing."""
        own = {
            "TIDEGATE_PORT": str(self._ports[name]),
            "TIDEGATE_DATA_DIR": str(self.shape.folder / name),
            VARIABLE: failpoint,
        }
        if name in OVERLORDS:
            at = urlsplit(self.shape.postgres)
            database = at._replace(netloc=f"postgres@{LOOPBACK}:{self.to_postgres[name].port}")
            own["TIDEGATE_METADATA_URL"] = database.geturl()
            own["TIDEGATE_ADVERTISED_URL"] = self.advertised(name)
        else:
            own["TIDEGATE_WORKER_ID"] = name
            if not self.shape.light:
                shared_jars(SPARK)  # no worker fetches any
                own["TIDEGATE_JARS"] = str(shared_jars_dir())
            if self.shape.blocked:
                own["TIDEGATE_ADVERTISED_URL"] = f"http://{_BLIND_HOST}:{self._ports[name]}"
        child = Child(
            ChildSpec(
                name=name,
                argv=(sys.executable, *self._program(name)),
                folder=self.logs,
                env=self.environment() | own,
                cwd=_ROOT,
                grace=timedelta(seconds=40),
            )
        )
        child.start()
        self.children[name] = child
        self.frozen.pop(name, None)

    def _program(self, name: str) -> tuple[str, ...]:
        if name in OVERLORDS:
            return ("-m", "supervisor.cli.main", "overlord")
        light = ("-m", "tests.chaos.processes.light_worker")
        return light if self.shape.light else ("-m", "supervisor.cli.main", "worker")

    @property
    def logs(self) -> Path:
        """Where each process writes `<name>.log`, through all its starts."""
        return self.shape.folder / "logs"

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the process itself, not to its JVM."""
        if number is signal.SIGKILL:
            self.children[name].kill()
        else:
            self.children[name].signal(number)

    def ended(self) -> dict[str, int | None]:
        """Return name -> exit code of every process that is not running."""
        return {n: c.exit_code() for n, c in self.children.items() if not c.alive()}

    def look_for_frozen(self) -> None:
        """Note who was stopped by a signal, by us or by itself."""
        for name, child in self.children.items():
            if name not in self.frozen and child.pid is not None and _is_stopped(child.pid):
                self.frozen[name] = time.monotonic()

    def thaw(self, name: str) -> None:
        """Let a stopped process go on."""
        self.children[name].signal(signal.SIGCONT)
        self.frozen.pop(name, None)

    def heal(self) -> None:
        """Let everything pass, and everybody run."""
        for proxy in (*self.to_postgres.values(), *self.to_overlord.values()):
            proxy.swallow_commits(0)
            proxy.set(Mode.PASS)
        self.look_for_frozen()
        for name in list(self.frozen):
            self.thaw(name)

    def serves(self, name: str) -> bool:
        """Whether a process answers that it is healthy."""
        try:
            answer = httpx.get(f"{self.direct(name)}/status/health", timeout=_ASK_S)
        except httpx.HTTPError:
            return False
        return answer.status_code == httpx.codes.OK

    def ask(
        self, method: str, overlord: str, path: str, document: JsonValue = None
    ) -> httpx.Response | None:
        """Ask one overlord past the proxies; None: it does not answer."""
        try:
            return httpx.request(
                method, f"{self.direct(overlord)}{path}", json=document, timeout=_ASK_S
            )
        except httpx.HTTPError:
            return None

    def close(self) -> None:
        """End all that runs."""
        self.heal()
        for child in reversed(list(self.children.values())):
            child.stop()
        self._stack.close()

    def left_over(self) -> list[str]:
        """Return processes of this fleet that still live; call it after `close`."""
        left = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(_MARK) == self.mark:
                    left.append(f"{process.pid} {' '.join(process.cmdline())[:120]}")
            except psutil.Error:
                continue  # another user's, or gone meanwhile
        return left

    def __enter__(self) -> Self:
        """Use it for one run."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing running."""
        self.close()


def _is_stopped(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.Error:
        return False
