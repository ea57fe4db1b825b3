"""What many ranges leave behind: overlord and worker through hundreds of handoffs, from outside.

Ranges of a second each, in four groups, so that what a range leaks shows within minutes: memory,
threads and descriptors are looked at all the time, and the second half of the ranges is judged.
What looks must not grow what it looks at: ranges are counted in the metadata database, and the
JVM collects before each look, else its heap grows to its bound whether anything leaks or not.
"""

import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression
from threading import Event

import psutil

from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import spec, streaming

TOPIC = "many-ranges"
GROUPS = 4
_JVM = "worker's JVM"
_RATE_PER_S = 200
_LOOK_S = 5.0
_COLLECTED_WITHIN_S = 60
_AT_LEAST = 4
"""Looks, for a slope to say anything."""


@dataclass(frozen=True)
class Look:
    """One process at one moment."""

    ranges: int
    """Published up to then."""
    resident: int
    """Bytes."""
    threads: int
    descriptors: int


@dataclass(frozen=True)
class Grown:
    """One process over the second half of a run."""

    looks: tuple[Look, ...]

    @property
    def bytes_per_range(self) -> float:
        """The slope of its resident set, by least squares."""
        ranges = [float(look.ranges) for look in self.looks]
        return linear_regression(ranges, [float(look.resident) for look in self.looks]).slope

    def told(self, name: str) -> str:
        """Say how it was at the beginning and at the end."""
        first, last = self.looks[0], self.looks[-1]
        return (
            f"{name}: {first.resident / 1e6:.0f} to {last.resident / 1e6:.0f} MB, "
            f"{self.bytes_per_range / 1e4:+.1f} MB per 100 ranges, {first.threads} to "
            f"{last.threads} threads, {first.descriptors} to {last.descriptors} descriptors, "
            f"over ranges {first.ranges} to {last.ranges}"
        )


def measure_ranges(bootstrap: str, folder: Path, ranges: int) -> dict[str, Grown]:
    """Publish so many ranges; return the second half of what was seen of each process, by name."""
    create_topic(bootstrap, TOPIC, partitions=GROUPS)
    found: list[dict[str, Look]] = []
    with (
        running(Cluster(folder)) as cluster,
        streaming(bootstrap, TOPIC, rate_per_s=_RATE_PER_S),
    ):
        cluster.apply(spec(bootstrap, TOPIC, task_count=GROUPS, task_duration="PT1S"))
        watched, waiting = _watched(cluster), Event()
        database = cluster.folder / "metadata.db"
        while not found or found[-1]["overlord"].ranges < ranges or len(found) < 2 * _AT_LEAST:
            waiting.wait(_LOOK_S)
            _collect(watched[_JVM])
            published = _published(database)
            found.append({name: _look(process, published) for name, process in watched.items()})
    return {name: _second_half([each[name] for each in found]) for name in watched}


def _watched(cluster: Cluster) -> dict[str, psutil.Process]:
    overlord, worker = (psutil.Process(cluster.children[name].pid) for name in ("overlord", "w1"))
    [jvm] = [each for each in worker.children(recursive=True) if each.name() == "java"]
    return {"overlord": overlord, "worker's Python": worker, _JVM: jvm}


def _published(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        [(number,)] = connection.execute("SELECT count(*) FROM publications")
    return int(number)


def _collect(jvm: psutil.Process) -> None:
    argv = [str(Path(jvm.exe()).with_name("jcmd")), str(jvm.pid), "GC.run"]
    subprocess.run(argv, check=True, timeout=_COLLECTED_WITHIN_S, stdout=subprocess.DEVNULL)


def _look(process: psutil.Process, ranges: int) -> Look:
    with process.oneshot():
        resident, threads = process.memory_info().rss, process.num_threads()
        return Look(ranges, resident, threads, process.num_fds())


def _second_half(looks: Sequence[Look]) -> Grown:
    half = looks[-1].ranges / 2
    kept = [look for look in looks if look.ranges >= half]
    return Grown(tuple(kept if len(kept) >= _AT_LEAST else looks[-_AT_LEAST:]))
