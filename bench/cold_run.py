"""A worker that has just started, with a class archive and without, as processes; in turns.

    start ──► stop ──► start again: until it is ready ──► first rows of a table

The first start only fills the caches of the system.  Each turn has an overlord, a data folder and
a table of its own.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, time

import psutil

from bench.records import Filled, fill
from bench.result import Spread, spread
from bench.watch import Watch
from supervisor.dev.sample import sample_spec
from tasks.ingest.class_archive import make_archive
from tasks.runtime.jars import FORMATS, SPARK
from tests.environment.brokers import shared_jars, shared_java
from tests.integration.cluster import Cluster
from tests.waiting import wait_until

WITH, WITHOUT = "with an archive", "without"
PARTITIONS, TASKS = 8, 2
_READ_WITHIN_S = 1_200.0
_CHOICE = "JDK_JAVA_OPTIONS"


@dataclass(frozen=True)
class Began:
    """The first rows of some workers that had just started."""

    start_cpu_s: Spread
    """CPU time of Python and JVM until the worker was ready."""
    start_s: Spread
    first_batch_s: Spread
    """Seconds from the POST of a spec until a task had rows in its journal."""
    row_us: Spread
    """CPU time per row, from the POST until all rows were in journals."""


@dataclass(frozen=True)
class Cold:
    """The same work by both."""

    rows: int
    record_bytes: float
    ways: dict[str, Began]


@dataclass(frozen=True)
class _Turn:
    start_cpu_s: float
    start_s: float
    first_batch_s: float
    row_us: float


def measure_cold(bootstrap: str, folder: Path, rows: int, repeats: int) -> Cold:
    """Start workers in turns, every second round in reverse order; each reads the same topic."""
    os.environ.pop(_CHOICE, None)  # else that decides, and no archive is made or used
    filled = fill(bootstrap, "cold", rows, partitions=PARTITIONS)
    turns: dict[str, list[_Turn]] = {WITHOUT: [], WITH: []}
    for number in range(repeats):
        ways = list(turns) if number % 2 == 0 else list(reversed(turns))
        for way in ways:
            into = folder / f"{number}-{way.replace(' ', '-')}"
            turns[way].append(_turn(bootstrap, into, filled, way))
    found = {way: _began(each) for way, each in turns.items()}
    return Cold(rows, filled.size_bytes / rows, found)


def _turn(bootstrap: str, folder: Path, filled: Filled, way: str) -> _Turn:
    cluster = Cluster(folder, more={_CHOICE: ""})
    if way == WITH:
        jars = shared_jars(SPARK) + shared_jars(FORMATS)
        make_archive(shared_java(), jars, folder / "w1" / "jars")
    with cluster, Watch(folder / "w1" / "journal", cluster.warehouse) as watch:
        cluster.start_overlord()
        cluster.start_worker("w1")
        cluster.stop("w1")
        start_cpu_s, start_s = _started(cluster)
        before, began = _cpu_s(cluster), time()
        spec = sample_spec(bootstrap, filled.topic, task_count=TASKS, task_duration="PT1H")
        cluster.apply(spec)

        def batches() -> list[list[tuple[float, int]]]:
            return [seen.batches for seen in watch.of(filled.topic).values() if seen.batches]

        _await(lambda: sum(each[-1][1] for each in batches()) == filled.rows)
        used_s = _cpu_s(cluster) - before
        first_at = min(each[0][0] for each in batches())
    return _Turn(start_cpu_s, start_s, first_at - began, used_s / filled.rows * 1e6)


def _started(cluster: Cluster) -> tuple[float, float]:
    """Start the worker; return the CPU time and the seconds until it is ready."""
    began = monotonic()
    cluster.start_worker("w1")
    return _cpu_s(cluster), monotonic() - began


def _cpu_s(cluster: Cluster) -> float:
    """Return the CPU time so far of worker and JVM, and of programs that they ran to their end."""
    worker = psutil.Process(cluster.children["w1"].pid)
    times = [process.cpu_times() for process in (worker, *worker.children(recursive=True))]
    return sum(t.user + t.system + t.children_user + t.children_system for t in times)


def _await(condition: Callable[[], bool]) -> None:
    wait_until(condition, _READ_WITHIN_S)


def _began(turns: list[_Turn]) -> Began:
    return Began(
        start_cpu_s=spread([turn.start_cpu_s for turn in turns]),
        start_s=spread([turn.start_s for turn in turns]),
        first_batch_s=spread([turn.first_batch_s for turn in turns]),
        row_us=spread([turn.row_us for turn in turns]),
    )
