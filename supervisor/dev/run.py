"""`tidegate dev`: a whole Tidegate on one machine, in one folder, ended by Ctrl-C.

    <data dir>/kafka/       a real broker's data           <data dir>/metadata.db   SQLite
    <data dir>/worker-1/    journals, Spark's files        <data dir>/reports.db     SQLite
    <data dir>/warehouse/   the tables, and stored logs
    <data dir>/logs/        one log and one pid file per child

Broker, overlord, worker and persister are children of this process: they are restarted when they
end, and end with this process.  Beside a broker of your own there is no persister: nobody has asked
for topics there.  A second run in the same folder goes on where the first one stopped.
"""

import fcntl
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import httpx
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from supervisor.dev.demo import Demo
from supervisor.dev.options import DevOptions
from supervisor.dev.ports import LOOPBACK, free_port, is_free
from supervisor.dev.processes import ChildFailed, ChildSpec, ProcessGroup
from supervisor.dev.sample import TOPIC, sample_spec
from supervisor.dev.sample_flow import FLOW, keep_flow
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import OVERLORD_PORT, Settings
from tasks.runtime.errors import JarsError, RuntimePartError
from tasks.runtime.jars import FORMATS, KAFKA, SPARK, JarGroup, ensure_jars
from tasks.runtime.java import Java, find_java

BROKER_WITHIN = timedelta(seconds=120)
OVERLORD_WITHIN = timedelta(seconds=60)
WORKER_WITHIN = timedelta(seconds=180)
ASK_TIMEOUT_S = 5.0
STOP_GRACE = timedelta(seconds=25)
"""The time for a worker to end its batch and its JVM."""


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Lock the data folder: a second run would start a second broker on the same files."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "dev.lock").open("a")
    except OSError as error:
        raise SetupProblem(
            f"{folder} is not writable: {error.strerror or error}",
            "choose another with --data-dir or TIDEGATE_DATA_DIR",
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SetupProblem(
                f"another `tidegate dev` runs in {folder}",
                "stop it, or choose another folder with --data-dir",
            ) from error
        yield


def _print_notice(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@dataclass(frozen=True)
class Ports:
    """The ports of the children, all on loopback."""

    overlord: int
    worker: int
    persister: int
    executor: int

    @property
    def overlord_url(self) -> str:
        """Base address of the API."""
        return f"http://{LOOPBACK}:{self.overlord}"

    @property
    def console_url(self) -> str:
        """The address that people open."""
        return f"{self.overlord_url}/ui/"

    @property
    def worker_url(self) -> str:
        """Base address of the worker's control API."""
        return f"http://{LOOPBACK}:{self.worker}"

    @property
    def executor_url(self) -> str:
        """Base address of the executor."""
        return f"http://{LOOPBACK}:{self.executor}"

    @property
    def persister_url(self) -> str:
        """Base address of the persister."""
        return f"http://{LOOPBACK}:{self.persister}"


class Dev:
    """One run of `tidegate dev`."""

    def __init__(self, settings: Settings, options: DevOptions) -> None:
        self._settings = settings
        self._options = options
        self._folder = settings.data_dir.absolute()
        self._until = Event()
        self._reports_kafka = ""
        """The broker of the topics of reports; empty: none are sent."""
        self._executions_kafka = ""
        """The broker of the topics of executions; empty: the overlord runs them."""

    def run(self) -> int:
        """Start everything, run until a stop signal, stop everything; return the exit code.

        Raises:
            SetupProblem: Java, jars, a port or a folder prevents the start.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._until.set())
        ports = self._choose_ports()
        try:
            with _only_one(self._folder):
                java = self._prepare()
                with ProcessGroup(notify=_print_notice) as group:
                    return self._run_children(group, java, ports)
        except (ChildFailed, RuntimePartError) as error:
            raise SetupProblem(str(error), "`tidegate doctor` checks each part") from error

    def _choose_ports(self) -> Ports:
        wanted = self._settings.port
        if wanted is not None and not is_free(wanted):
            raise SetupProblem(
                f"port {wanted} of {LOOPBACK} is in use",
                "stop what listens there, choose another with --port, or leave --port out",
            )
        overlord = wanted or (OVERLORD_PORT if is_free(OVERLORD_PORT) else free_port())
        return Ports(overlord, free_port(), free_port(), free_port())

    def _prepare(self) -> Java:
        """Find Java and fetch the jars; the first start takes a minute, later ones none."""
        _print_notice(f"data folder {self._folder} (delete it to begin anew)")
        java = find_java(self._settings.java, self._folder / "truststore")
        parts = [SPARK] if self._options.kafka else [SPARK, KAFKA]
        for part in parts:
            self._jars(java, part)
        try:
            self._jars(java, FORMATS)
        except JarsError as error:
            _print_notice(f"Avro records cannot be read: {error}")
        return java

    def _jars(self, java: Java, part: JarGroup) -> list[Path]:
        folder = self._folder / "jars"
        return ensure_jars(
            folder, java, part, jars_folder=self._settings.jars, notify=_print_notice
        )

    def _run_children(self, group: ProcessGroup, java: Java, ports: Ports) -> int:
        bootstrap = self._options.kafka or self._start_broker(group, java)
        own = "" if self._options.kafka else bootstrap
        self._reports_kafka = own
        self._executions_kafka = self._settings.executions_kafka or own
        self._add(group, self._overlord(ports), OVERLORD_WITHIN)
        if self._reports_kafka:
            self._add(group, self._persister(ports), OVERLORD_WITHIN)
        elif self._executions_kafka:
            self._add(group, self._executor(ports), OVERLORD_WITHIN)
        self._add(group, self._worker(ports), WORKER_WITHIN)
        if self._until.is_set():
            return 0
        sys.stdout.write(
            f"\nConsole  {ports.console_url}\nAPI      {ports.overlord_url}\n"
            f"Kafka    {bootstrap}\n\n"
        )
        sys.stdout.flush()
        if self._options.sample or self._options.demo:
            self._start_sample(group, bootstrap, ports)
        if self._options.demo:
            demo = Demo(
                ports.overlord_url,
                TOPIC,
                group,
                self._until,
                _print_notice,
                stores_reports=bool(self._reports_kafka),
            )
            return demo.show(once=self._options.once)
        _print_notice("Ctrl-C stops everything; a second start goes on where it stopped")
        group.watch(self._until)
        return 0

    def _start_broker(self, group: ProcessGroup, java: Java) -> str:
        broker = Broker(self._folder / "kafka", java, self._jars(java, KAFKA))
        broker.prepare()
        self._add(group, broker.spec(), BROKER_WITHIN)
        return broker.bootstrap

    def _add(self, group: ProcessGroup, spec: ChildSpec, within: timedelta) -> None:
        if self._until.is_set():
            return
        _print_notice(f"starting {spec.name} ...")
        group.add(spec)
        group.wait_ready(spec.name, within)

    def _overlord(self, ports: Ports) -> ChildSpec:
        health = f"{ports.overlord_url}/status/health"
        return self._role("overlord", ports.overlord, ports, health, {})

    def _persister(self, ports: Ports) -> ChildSpec:
        """Return the persister, with an executor in its process: one interpreter for both."""
        own = {
            "TIDEGATE_REPORTS_INSTANCE": "persister-dev",
            "TIDEGATE_EXECUTOR_NAME": "executor-dev",
        }
        spec = self._role("persister", ports.persister, ports, f"{ports.persister_url}/ping", own)
        return replace(spec, argv=(*spec.argv, "--executor-port", str(ports.executor)))

    def _executor(self, ports: Ports) -> ChildSpec:
        own = {"TIDEGATE_EXECUTOR_NAME": "executor-dev"}
        return self._role("executor", ports.executor, ports, f"{ports.executor_url}/ping", own)

    def _worker(self, ports: Ports) -> ChildSpec:
        own = {
            "TIDEGATE_WORKER_ID": "worker-1",
            "TIDEGATE_DATA_DIR": str(self._folder / "worker-1"),
            "TIDEGATE_JARS": str(self._settings.jars or self._folder / "jars"),
        }
        health = f"{ports.worker_url}/status/health"
        return self._role("worker", ports.worker, ports, health, own)

    def _role(
        self, name: str, port: int, ports: Ports, health: str, own: dict[str, str]
    ) -> ChildSpec:
        shared = {
            "TIDEGATE_DATA_DIR": str(self._folder),
            "TIDEGATE_METADATA_URL": self._settings.metadata_url,
            "TIDEGATE_WAREHOUSE": str(self._settings.warehouse.absolute()),
            "TIDEGATE_OVERLORDS": ports.overlord_url,
            "TIDEGATE_HOST": LOOPBACK,
            "TIDEGATE_PORT": str(port),
            "TIDEGATE_INTERNAL_PORT": "",
            "TIDEGATE_ADVERTISED_URL": "",
            "TIDEGATE_AUTH": "auto",
            "TIDEGATE_TLS_CERT": "",
            "TIDEGATE_TLS_KEY": "",
            "TIDEGATE_JAVA": self._settings.java,
            **self._reports(ports),
            "TIDEGATE_EXECUTIONS_KAFKA": self._executions_kafka,
        }
        return ChildSpec(
            name=name,
            argv=(sys.executable, "-m", "supervisor.cli.main", name),
            folder=self._folder / "logs",
            ready=_healthy(health),
            env=shared | own,
            grace=STOP_GRACE,
        )

    def _reports(self, ports: Ports) -> dict[str, str]:
        """Return where reports go, unless the operator's settings say it."""
        if not self._reports_kafka:
            return {}
        return {
            "TIDEGATE_REPORTS_KAFKA": self._settings.reports_kafka or self._reports_kafka,
            "TIDEGATE_REPORTS_PERSISTER": ports.persister_url,
        }

    def _start_sample(self, group: ProcessGroup, bootstrap: str, ports: Ports) -> None:
        rate = str(self._options.rate)
        produce = ("--bootstrap", bootstrap, "--topic", TOPIC, "--rate", rate)
        group.add(
            ChildSpec(
                name="sample",
                argv=(sys.executable, "-m", "supervisor.dev.sample", *produce),
                folder=self._folder / "logs",
            )
        )
        duration = f"PT{int(self._options.task_duration.total_seconds())}S"
        with httpx.Client(base_url=ports.overlord_url, timeout=ASK_TIMEOUT_S) as api:
            _supervise(api, sample_spec(bootstrap, TOPIC, task_duration=duration), bootstrap)
            keep_flow(api)
        _print_notice(f"supervisor {TOPIC} reads topic {TOPIC}; flow {FLOW} follows its publishes")


def _supervise(api: httpx.Client, wanted: dict[str, JsonValue], bootstrap: str) -> None:
    """Post the sample's spec unless it is stored; a stored one keeps its user's changes.

    If the broker's address has changed, the stored spec is posted again with the new address.
    """
    path = "/druid/indexer/v1/supervisor"
    stored = api.get(f"{path}/{TOPIC}")
    if stored.status_code == httpx.codes.OK:
        wanted = stored.json()
        for repeated in ("dataSchema", "ioConfig", "tuningConfig"):
            wanted.pop(repeated, None)
        properties = stored.json()["spec"]["ioConfig"]["consumerProperties"]
        if properties["bootstrap.servers"] == bootstrap:
            return
        moved = properties | {"bootstrap.servers": bootstrap}
        spec = stored.json()["spec"]
        wanted["spec"] = spec | {"ioConfig": spec["ioConfig"] | {"consumerProperties": moved}}
    answer = api.post(path, json=wanted)
    if answer.is_error:
        raise SetupProblem(f"the sample's spec was refused: {answer.text}", "report this")


def _healthy(url: str) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            return httpx.get(url, timeout=1.0).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    return ask
