"""Persisters as processes: started, killed, asked."""

import signal
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self

import httpx

from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildSpec
from tests.waiting import wait_until


@dataclass
class PersisterProcess:
    """One process."""

    port: int
    child: Child
    http: httpx.Client

    def state(self) -> str:
        """Return its state; empty: it does not answer."""
        try:
            return str(self.http.get("/ping").json()["state"])
        except httpx.TransportError:
            return ""

    def lag(self) -> int | None:
        """Return the lag over all topics; None: it is not known yet."""
        lag = self.http.get("/status").json()["lag"]
        return sum(lag.values()) if lag else None

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
class Persisters:
    """The processes over one folder; the block's end ends them."""

    folder: Path
    env: dict[str, str]
    all: list[PersisterProcess] = field(default_factory=list)

    def start(self, **own: str) -> PersisterProcess:
        """Start one more, and wait until it stores."""
        port = free_port()
        child = Child(
            ChildSpec(
                name=f"persister-{len(self.all) + 1}",
                argv=(sys.executable, "-m", "supervisor.cli.main", "persister"),
                folder=self.folder / "logs",
                env={
                    "TIDEGATE_METADATA_URL": f"sqlite:///{self.folder}/tidegate.db",
                    "TIDEGATE_WAREHOUSE": str(self.folder / "warehouse"),
                    "TIDEGATE_DATA_DIR": str(self.folder / "data"),
                    "TIDEGATE_PORT": str(port),
                    **self.env,
                    **own,
                },
                grace=timedelta(seconds=20),
            )
        )
        child.start()
        client = httpx.Client(base_url=f"http://{LOOPBACK}:{port}", timeout=30.0)
        process = PersisterProcess(port, child, client)
        self.all.append(process)
        wait_until(lambda: process.state() == "RUNNING")
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.all:
            each.child.stop()
            each.http.close()
