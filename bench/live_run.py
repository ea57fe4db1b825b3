"""The whole system as real processes: broker, overlord and worker, watched from outside.

    first    topics with records, a spec posted for each, one after the other
    backlog  topics with 220,000 records, read to their end, then suspended
    steady   one topic at a steady rate, two groups, a handoff every 20 s, then suspended

Times come from the metadata database (the overlord's clock), the worker's journals and its
output folders; nothing in the product was added for them.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psutil
from pydantic import JsonValue

from bench.machine import load_average, resident_bytes
from bench.records import PARTITIONS, fill
from bench.result import Spread, spread
from bench.watch import Seen, Watch
from supervisor.core.model.rows import Generation
from supervisor.dev.sample import sample_spec
from supervisor.metadata.store import SqlStore
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.waiting import wait_until

STEADY = "steady"
TASK_DURATION_S = 20
BACKLOG_ROWS = 220_000
_SEGMENT_BYTES = 4 << 20
"""So small that two or three files are wanted of the backlog, and what tasks write may stay.

No bound of rows would do: one that is reached ends the range while it is read.
"""
_FIRST_ROWS = 5_000
_READ_WITHIN_S = 120.0
_LEASE_TTL = timedelta(seconds=5)


@dataclass(frozen=True)
class LiveSizes:
    """How much of each part."""

    first_topics: int = 5
    backlog_topics: int = 3
    rate_per_s: int = 11_000
    handoffs: int = 5
    """Per group."""


@dataclass(frozen=True)
class Memory:
    """The largest sum seen while two tasks were reading, and its parts, in bytes."""

    overlord: int
    worker: int
    jvm: int

    @property
    def total(self) -> int:
        """All three processes."""
        return self.overlord + self.worker + self.jvm


@dataclass(frozen=True)
class Live:
    """What was measured; times in seconds."""

    post_to_batch_s: Spread
    post_to_start_s: Spread
    """Of these, until the batch began."""
    backlog_commit_s: Spread
    backlog_rewritten: int
    """How many of those publications needed a merge."""
    gap_s: Spread
    pause_s: Spread
    lasted_s: Spread
    commit_s: Spread
    commit_rows: Spread
    memory: Memory
    bytes_per_row: float
    load: float
    """Of the machine, when the steady part ended."""


def measure_live(bootstrap: str, folder: Path, sizes: LiveSizes) -> Live:
    """Run the three parts one after the other on one overlord and one warm worker."""
    cluster = Cluster(folder)
    with running(cluster), Watch(folder / "w1" / "journal", cluster.warehouse) as watch:
        part = _Parts(cluster, watch, bootstrap)
        posts = [part.first(f"first-{n}") for n in range(sizes.first_topics)]
        backlogs = [part.backlog(f"backlog-{n}") for n in range(sizes.backlog_topics)]
        memory = part.steady(sizes)
        load = load_average()
        store = SqlStore(f"sqlite:///{folder}/metadata.db", lease_ttl=_LEASE_TTL)
        try:
            rows = _read_rows(store)
            steady = watch.of(STEADY)
        finally:
            store.close()
    return Live(
        post_to_batch_s=spread([whole for whole, _ in posts]),
        post_to_start_s=spread([start for _, start in posts]),
        backlog_commit_s=spread([seconds for seconds, _ in backlogs]),
        backlog_rewritten=sum(rewritten for _, rewritten in backlogs),
        gap_s=spread(list(_gaps(rows, steady))),
        pause_s=spread([_s(g.paused_at, g.end_fixed_at) for g in rows.timed]),
        lasted_s=spread([_s(g.timer_started_at, g.end_fixed_at) for g in rows.timed]),
        commit_s=spread([_s(g.end_fixed_at, g.ended_at) for g in rows.timed]),
        commit_rows=spread([rows.rows_of[g.id] for g in rows.timed]),
        memory=memory,
        bytes_per_row=rows.bytes_per_row,
        load=load,
    )


@dataclass(frozen=True)
class _Parts:
    cluster: Cluster
    watch: Watch
    bootstrap: str

    def first(self, topic: str) -> tuple[float, float]:
        """Return the seconds from POST until the first batch is in the journal, and its begin."""
        fill(self.bootstrap, topic, _FIRST_ROWS)
        began = time.time()
        self.cluster.apply(self._spec(topic, task_duration="PT1H"))
        wait_until(lambda: any(s.batches for s in self.watch.of(topic).values()), _READ_WITHIN_S)
        [seen] = self.watch.of(topic).values()
        self._end(topic)
        assert seen.folder_at is not None
        return seen.batches[0][0] - began, seen.folder_at - began

    def backlog(self, topic: str) -> tuple[float, bool]:
        """Return the seconds from the fixed end to the commit, and whether files were rewritten."""
        fill(self.bootstrap, topic, BACKLOG_ROWS)
        spec = self._spec(topic, task_duration="PT1H", segment_bytes=_SEGMENT_BYTES)
        self.cluster.apply(spec)
        wait_until(lambda: _rows_read(self.watch.of(topic)) == BACKLOG_ROWS, _READ_WITHIN_S)
        self._end(topic)
        url = f"sqlite:///{self.cluster.folder}/metadata.db"
        store = SqlStore(url, lease_ttl=_LEASE_TTL)
        try:
            with store.reading() as tx:
                [generation] = [g for g in tx.generations.recent(topic, 10) if g.end_fixed_at]
                files = tx.segments.of_supervisor(topic)
        finally:
            store.close()
        rewritten = any("/m" in segment.file.path for segment in files)
        return _s(generation.end_fixed_at, generation.ended_at), rewritten

    def steady(self, sizes: LiveSizes) -> Memory:
        """Run handoffs under a steady rate; return the largest memory seen meanwhile."""
        create_topic(self.bootstrap, STEADY, partitions=PARTITIONS)
        pids = self._pids()
        largest = Memory(0, 0, 0)
        with _producing(self.bootstrap, STEADY, sizes.rate_per_s):
            self.cluster.apply(self._spec(STEADY, task_count=2, task_duration="PT20S"))
            until = time.monotonic() + sizes.handoffs * (TASK_DURATION_S + 1.5) + 2
            waiting = threading.Event()
            while time.monotonic() < until:
                waiting.wait(1.0)
                seen = Memory(*(resident_bytes(pid) for pid in pids))
                largest = max(largest, seen, key=lambda memory: memory.total)
            self._end(STEADY)
        return largest

    def _end(self, supervisor_id: str) -> None:
        self.cluster.post(supervisor_id, "suspend")
        wait_until(lambda: self.cluster.is_suspended_and_quiet(supervisor_id), _READ_WITHIN_S)

    def _spec(
        self,
        topic: str,
        *,
        task_duration: str,
        task_count: int = 1,
        segment_bytes: int | None = None,
    ) -> dict[str, JsonValue]:
        spec = sample_spec(
            self.bootstrap, topic, task_count=task_count, task_duration=task_duration
        )
        inner = spec["spec"]
        assert isinstance(inner, dict)
        if segment_bytes is not None:
            inner["tuningConfig"] = {"type": "kafka", "targetSegmentBytes": segment_bytes}
        return spec

    def _pids(self) -> tuple[int, int, int]:
        overlord, worker = (self.cluster.children[name].pid for name in ("overlord", "w1"))
        assert overlord is not None
        assert worker is not None
        below = psutil.Process(worker).children(recursive=True)
        [jvm] = [process.pid for process in below if process.name() == "java"]
        return overlord, worker, jvm


@contextmanager
def _producing(bootstrap: str, topic: str, rate_per_s: int) -> Iterator[None]:
    where = ("--bootstrap", bootstrap, "--topic", topic, "--rate", str(rate_per_s))
    argv = (sys.executable, "-m", "supervisor.dev.sample", *where)
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as producer:
        try:
            yield
            assert producer.poll() is None, f"the producer ended with {producer.returncode}"
        finally:
            producer.terminate()
            producer.wait(60)


@dataclass(frozen=True)
class _Rows:
    timed: tuple[Generation, ...]
    """Published generations of STEADY that ended because their time was over."""
    task_of: dict[str, str]
    """Generation -> the task that published it."""
    successor: dict[str, str]
    """Generation -> the next of its group."""
    rows_of: dict[str, float]
    bytes_per_row: float


def _read_rows(store: SqlStore) -> _Rows:
    with store.reading() as tx:
        found = sorted(tx.generations.recent(STEADY, 1_000), key=lambda g: g.ordinal)
        publications = tx.segments.publications(STEADY)
        files = [segment.file for segment in tx.segments.of_supervisor(STEADY)]
    followed = {
        a.id: next((b.id for b in found if b.group == a.group and b.ordinal > a.ordinal), None)
        for a in found
    }
    successor = {old: new for old, new in followed.items() if new is not None}
    published = {p.generation_id for p in publications}
    return _Rows(
        timed=tuple(g for g in found if g.id in successor and g.id in published),
        task_of={p.generation_id: p.task_id for p in publications},
        successor=successor,
        rows_of={p.generation_id: float(p.rows) for p in publications},
        bytes_per_row=sum(f.size_bytes for f in files) / max(1, sum(f.rows for f in files)),
    )


def _gaps(rows: _Rows, seen: dict[str, Seen]) -> Iterator[float]:
    """Yield, per handoff, from the last batch before the end was fixed to the successor's first."""
    for generation in rows.timed:
        before = seen[rows.task_of[generation.id]]
        after = seen.get(rows.task_of.get(rows.successor[generation.id], ""))
        assert generation.end_fixed_at is not None
        fixed_at = generation.end_fixed_at.timestamp()
        ends = [at for at, _ in before.batches if at <= fixed_at]
        if ends and after is not None and after.folder_at is not None:
            yield after.folder_at - ends[-1]


def _rows_read(tasks: dict[str, Seen]) -> int:
    return sum(seen.batches[-1][1] for seen in tasks.values() if seen.batches)


def _s(began: datetime | None, ended: datetime | None) -> float:
    assert began is not None
    assert ended is not None
    return (ended - began).total_seconds()
