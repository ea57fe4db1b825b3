"""An executor and a persister in one process, as `tidegate dev` has them, with nothing to do."""

import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import psutil

from bench.machine import resident_bytes
from bench.result import Spread, spread
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildSpec
from tests.integration.overlords import Overlords
from tests.waiting import wait_until

__all__ = ["IdleRun", "measure_idle"]

_SETTLE_S = 60.0
_EACH_S = 1.0


@dataclass(frozen=True)
class IdleRun:
    """Of one process."""

    megabytes: Spread
    """Resident, looked at each second."""
    cpu_percent: float
    """Of one core, over all of the time."""


def measure_idle(folder: Path, bootstrap: str, seconds: float) -> IdleRun:
    """Start an overlord and the process, wait until both are well, and watch the process."""
    folder.mkdir(parents=True)
    own, other = free_port(), free_port()
    more = {
        "TIDEGATE_EXECUTIONS_KAFKA": bootstrap,
        "TIDEGATE_EXECUTIONS_PREFIX": f"{folder.name}.executions.",
        "TIDEGATE_REPORTS_KAFKA": bootstrap,
        "TIDEGATE_REPORTS_PERSISTER": f"http://{LOOPBACK}:{own}",
    }
    metadata = f"sqlite:///{folder / 'metadata.db'}"
    with ExitStack() as stack:
        overlord = stack.enter_context(Overlords(folder, metadata, more=more)).start_leader()
        spec = ChildSpec(
            name="persister",
            argv=(
                *(sys.executable, "-m", "supervisor.cli.main", "persister"),
                *("--executor-port", str(other)),
            ),
            folder=folder / "logs",
            env={
                **more,
                "TIDEGATE_METADATA_URL": metadata,
                "TIDEGATE_DATA_DIR": str(folder / "persister"),
                "TIDEGATE_PORT": str(own),
                "TIDEGATE_OVERLORDS": overlord.url,
            },
            grace=timedelta(seconds=20),
        )
        child = Child(spec)
        child.start()
        stack.callback(child.stop)
        for port in (own, other):
            wait_until(lambda port=port: _is_well(port), within_s=_SETTLE_S)  # type: ignore[misc]
        assert child.pid is not None
        return _watched(child.pid, seconds)


def _watched(pid: int, seconds: float) -> IdleRun:
    process, waiting, sizes = psutil.Process(pid), threading.Event(), list[float]()
    times = process.cpu_times()
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        waiting.wait(_EACH_S)
        sizes.append(resident_bytes(pid) / 1e6)
    used = process.cpu_times()
    spent = used.user + used.system - times.user - times.system
    return IdleRun(spread(sizes), 100 * spent / (time.monotonic() - began))


def _is_well(port: int) -> bool:
    try:
        return httpx.get(f"http://{LOOPBACK}:{port}/ping", timeout=1.0).is_success
    except httpx.HTTPError:
        return False
