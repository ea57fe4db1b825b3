"""A real Kafka broker of one node, KRaft without ZooKeeper, as a child process on loopback.

    <folder>/cluster-id   created once; the data belongs to this id
    <folder>/ports.json   kept across starts while they are free: clients remember addresses
    <folder>/data/        log.dirs; formatted once, `<folder>/formatted` says that it was
    <folder>/server.properties, broker.log, broker.pid

It keeps its data over stop, kill and start.  Meant for development and tests: one copy of each
record, no encryption, loopback only.
"""

import base64
import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from supervisor.dev.ports import LOOPBACK, accepts, free_port, is_free, keep
from supervisor.dev.processes import Child, ChildFailed, ChildSpec
from tasks.runtime.java import Java
from tasks.runtime.tied import tied_argv

START_WITHIN = timedelta(seconds=120)
"""A start takes some 5 s; a busy machine with two cores takes much longer."""

STOP_WITHIN = timedelta(seconds=15)

_FORMAT_TIMEOUT_S = 120.0
_ASK_TIMEOUT_S = 3.0
_PORT_FREED_WITHIN_S = 3.0
_POLL_S = 0.1

_JVM_FLAGS = (
    *("-Xms64m", "-Xmx300m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Djava.awt.headless=true"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
)

_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    # One node holds the only copy of everything, its own topics included.
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Their default of 50 partitions is for clusters, and costs a start some seconds.
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "num.partitions": "1",
    # A mistyped name is an error, never a new and empty topic.
    "auto.create.topics.enable": "false",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "log.cleaner.dedupe.buffer.size": "8388608",
    # A stream left running over a weekend does not fill the disk.
    "log.retention.hours": "24",
    "log.retention.bytes": "1073741824",
    "log.segment.bytes": "134217728",
    # A start after a crash waits until the controller gives up the broker's last life: 9 s by
    # default.  Heartbeats never leave the process here, so less is safe.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # What a killed executor has open ends by its timeout.  The coordinator looks for that every
    # 10 s by default, and readers of its partitions wait as long.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}


class Broker:
    """One broker and its folder.  `start` it, or give its `spec()` to a `ProcessGroup`."""

    def __init__(
        self, folder: Path, java: Java, jars: Sequence[Path], *, port: int | None = None
    ) -> None:
        """`port` is the port for clients; None: a free port."""
        self._folder = folder.absolute()
        self._java = java
        self._class_path = os.pathsep.join(str(jar) for jar in jars)
        self._wanted_port = port
        self._child: Child | None = None
        self.port = 0
        self.cluster_id = ""

    @property
    def bootstrap(self) -> str:
        """The address for `bootstrap.servers`, known once the broker is prepared."""
        assert self.port, "the broker is not prepared yet"
        return f"{LOOPBACK}:{self.port}"

    @property
    def log(self) -> Path:
        """The log file of the broker, over all its starts."""
        return self._folder / "broker.log"

    @property
    def pid(self) -> int | None:
        """The broker's process id; None when the broker does not run."""
        return None if self._child is None else self._child.pid

    def prepare(self) -> None:
        """Choose ports, write settings and format the storage, unless this was done before.

        Raises:
            ChildFailed: the storage could not be formatted.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self.cluster_id = self._kept_cluster_id()
        self.port, controller = self._kept_ports()
        text = "".join(f"{name}={value}\n" for name, value in self.settings(controller).items())
        self._write("server.properties", text)
        if not (self._folder / "formatted").exists():
            self._format()
            self._write("formatted", f"{self.cluster_id}\n")

    def settings(self, controller: int) -> dict[str, str]:
        """Return the entries of `server.properties`; `controller` is the controller's port."""
        return {
            **_SETTINGS,
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{LOOPBACK}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
            "log.dirs": "data",  # of its folder, whose own name may have a comma or an é
        }

    def spec(self) -> ChildSpec:
        """Return the prepared broker as a child to keep running."""
        properties = str(self._folder / "server.properties")
        return ChildSpec(
            name="broker",
            argv=self._java_argv("kafka.Kafka", properties),
            folder=self._folder,
            ready=self.is_ready,
            cwd=self._folder,
            grace=STOP_WITHIN,
        )

    def is_ready(self) -> bool:
        """Whether the port answers clients, and belongs to this broker and no other."""
        if not accepts(self.port):
            return False
        try:
            admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
            cluster = admin.list_topics(timeout=_ASK_TIMEOUT_S)
        except KafkaException:
            return False
        answering: object = cluster.cluster_id  # a str, whatever its stub says
        return answering == self.cluster_id and len(cluster.brokers) == 1

    def start(self, within: timedelta = START_WITHIN) -> None:
        """Prepare and start the broker; return when the broker answers clients.

        The broker dies with this process, and with the calling thread.

        Raises:
            ChildFailed: the broker ended or did not answer in time; it does not run then.
        """
        assert self.pid is None, "the broker runs already"
        self.prepare()
        self._child = child = Child(self.spec())
        child.start()
        deadline = time.monotonic() + within.total_seconds()
        while not self.is_ready():
            if not child.alive():
                raise ChildFailed("broker", f"ended with {child.exit_code()}", child.log)
            if time.monotonic() > deadline:
                child.kill()
                raise ChildFailed("broker", f"was not ready within {within}", child.log)
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Stop the broker: SIGTERM, a grace time, then SIGKILL.  The data stays."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def kill(self) -> None:
        """End the broker by SIGKILL, as a crash would.  The data stays."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _kept_cluster_id(self) -> str:
        kept = self._folder / "cluster-id"
        if not kept.exists():
            # 22 characters of base64.  The first byte keeps it from looking like an option.
            cluster_id = base64.urlsafe_b64encode(b"\x00" + uuid.uuid4().bytes[1:]).decode()[:22]
            self._write(kept.name, cluster_id)
        return kept.read_text()

    def _kept_ports(self) -> tuple[int, int]:
        """Return the ports of the broker and of its controller, the last ones where possible."""
        kept = self._folder / "ports.json"
        last = json.loads(kept.read_text()) if kept.exists() else {}
        port = self._wanted_port or self._again(last.get("broker")) or free_port()
        controller = self._again(last.get("controller")) or free_port()
        self._write(kept.name, json.dumps({"broker": port, "controller": controller}))
        return port, controller

    @staticmethod
    def _again(port: int | None) -> int | None:
        """Return the port if it is free; a server killed a moment ago may still hold it."""
        deadline = time.monotonic() + _PORT_FREED_WITHIN_S
        while port is not None and not is_free(port):
            if time.monotonic() > deadline:
                return None
            time.sleep(_POLL_S)
        if port is not None:
            keep(port)  # or this process has kept it since its last start
        return port

    def _format(self) -> None:
        # Without the mark the broker has never started: this is half a format, cut short by a
        # crash.
        shutil.rmtree(self._folder / "data", ignore_errors=True)
        properties = str(self._folder / "server.properties")
        wanted = ("format", "--cluster-id", self.cluster_id, "--config", properties)
        with self.log.open("ab") as output:
            ended = subprocess.run(
                tied_argv(self._java_argv("kafka.tools.StorageTool", *wanted)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                timeout=_FORMAT_TIMEOUT_S,
                check=False,
            )
        if ended.returncode != 0:
            raise ChildFailed("broker", "could not format its storage", self.log)

    def _java_argv(self, main_class: str, *arguments: str) -> tuple[str, ...]:
        java = str(self._java.executable)
        return (java, *_JVM_FLAGS, "-cp", self._class_path, main_class, *arguments)

    def _write(self, name: str, text: str) -> None:
        half = self._folder / f"{name}.half"
        half.write_text(text)
        half.replace(self._folder / name)  # atomic, whenever a crash comes
