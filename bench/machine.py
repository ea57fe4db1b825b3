"""What the figures were measured on: machine, versions, commit, load."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

_VERSIONS = ("pyspark", "confluent-kafka", "pyarrow", "sqlalchemy", "pydantic", "fastapi")
_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Machine:
    """Facts that a reader needs to compare two runs."""

    cores: int
    memory_bytes: int
    system: str
    versions: dict[str, str]
    commit: str
    """Short hash, with a word on uncommitted changes."""
    measured_at: datetime


def machine() -> Machine:
    """Look at this machine and this working copy."""
    versions = {"python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in _VERSIONS}
    return Machine(
        cores=os.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.machine()}",
        versions=versions,
        commit=_commit(),
        measured_at=datetime.now(UTC),
    )


def load_average() -> float:
    """Return the mean number of processes that ran or wanted to, over the last minute."""
    return os.getloadavg()[0]


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return user and system seconds that these processes have used so far."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return sum(used.user + used.system for used in times)


def resident_bytes(pid: int) -> int:
    """Return the resident set of one process."""
    return int(psutil.Process(pid).memory_info().rss)


def _commit() -> str:
    head = _git("rev-parse", "--short", "HEAD") or "unknown"
    return f"{head} with uncommitted changes" if _git("status", "--porcelain") else head


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ("git", *arguments),  # noqa: S607 -- git of the PATH
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else ""
