"""The runs of `bench size`: a year's database beside an empty one, a large fleet, many files."""

import time
import tracemalloc
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.result import Spread, spread
from bench.year.plane import Plane, open_plane
from bench.year.shape import FleetShape
from bench.year.syncs import FleetWorkers
from bench.year.table_sizes import TableSize, sizes_of_sqlite
from bench.year.work import Publishing, ask, pass_once
from supervisor.chores.file_lists import listed, whole
from supervisor.core.model.listed_segments import SegmentKey

_SYNC_ROUNDS = 30
_NEWS = 200
_PASS_ROUNDS = 30
_QUESTIONS = 15
_WARM_UP = 20
_HOURS = 24

Pair = tuple[Spread, Spread]
"""Of the year's database, and of the empty one."""


@dataclass(frozen=True)
class YearRun:
    """Ten supervisors with their history, beside the same ones without."""

    shape: FleetShape
    load_s: float
    sync_cpu_ms: Pair
    news_ms: Pair
    pass_ms: Pair
    publish_ms: Pair
    answers_ms: Mapping[str, tuple[Spread, ...]]
    tables: Sequence[TableSize]


@dataclass(frozen=True)
class FleetRun:
    """Many supervisors with many partitions, and no history."""

    shape: FleetShape
    sync_cpu_ms: Spread
    news_ms: Spread
    pass_ms: Spread


@dataclass(frozen=True)
class FilesRun:
    """The list of one table's files with all of their offset spans."""

    files: int
    spans: int
    pages_s: float
    longest_ms: float
    """The longest transaction of the list in pages."""
    whole_ms: float
    """The one transaction that reads the same list at once."""
    transactions: int
    peak_mib: float
    """Python's memory for the list and for what reads it."""


def measure_year(folder: Path, days: int, publishes: int) -> YearRun:
    """Fill two databases, one of them with a history; measure both by turns."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        began = time.perf_counter()
        shape = FleetShape(ranges=days * _HOURS)
        year = _opened(stack, folder, "year", shape)
        load_s = time.perf_counter() - began
        tables = sizes_of_sqlite(folder / "year.db")
        empty = _opened(stack, folder, "empty", FleetShape(ranges=0))
        planes = (year, empty)
        syncing = [FleetWorkers(plane) for plane in planes]
        for each in syncing:
            each.report()
        cpu = [[w.unchanged(1) for w in syncing] for _ in range(_SYNC_ROUNDS)]
        names = shape.names * _PASS_ROUNDS
        passes = [[pass_once(plane, name) for plane in planes] for name in names]
        answers = ask(planes, _QUESTIONS)
        news = [[w.news(1) for w in syncing] for _ in range(_NEWS)]
        publishing = [Publishing(plane) for plane in planes]
        published = [[p.publish() for p in publishing] for _ in range(_WARM_UP + publishes)]
    return YearRun(
        shape=shape,
        load_s=load_s,
        sync_cpu_ms=_pair([[s.middle for s in both] for both in cpu]),
        news_ms=_pair([[s.middle for s in both] for both in news]),
        pass_ms=_pair(passes[shape.supervisors :]),
        publish_ms=_pair(published[_WARM_UP:]),
        answers_ms=answers,
        tables=tables,
    )


def _opened(stack: ExitStack, folder: Path, name: str, shape: FleetShape) -> Plane:
    return stack.enter_context(open_plane(f"sqlite:///{folder}/{name}.db", shape, folder))


def _pair(turns: Sequence[Sequence[float]]) -> Pair:
    year, empty = zip(*turns, strict=True)
    return spread(year), spread(empty)


def measure_fleet(folder: Path, supervisors: int) -> FleetRun:
    """Let 50 workers run 4 groups x 25 partitions of each supervisor; measure syncs and passes."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = FleetShape(
        supervisors=supervisors,
        groups=4,
        replicas=1,
        partitions=25,
        ranges=0,
        compacted_every=0,
        workers=50,
    )
    with open_plane(f"sqlite:///{folder}/fleet.db", shape, folder) as plane:
        syncing = FleetWorkers(plane)
        syncing.report()
        cpu = syncing.unchanged(3)
        passes = [pass_once(plane, name) for name in shape.names]
        news = syncing.news(_NEWS)
    return FleetRun(shape, cpu, news, spread(passes))


def measure_files(folder: Path, files: int) -> FilesRun:
    """Read the list of a table's files with their spans in pages, and all at once."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = FleetShape(
        supervisors=1,
        groups=1,
        replicas=1,
        partitions=100,
        ranges=files,
        files=1,
        compacted_every=0,
        workers=1,
    )
    with open_plane(f"sqlite:///{folder}/files.db", shape, folder) as plane:
        name = shape.names[0]
        took: list[float] = []
        plane.store.on_measured(lambda _, __, seconds: took.append(seconds))
        began = time.perf_counter()
        read = whole(plane.store, listed(plane.store, _keys(plane, name)))
        pages_s = time.perf_counter() - began
        pages, spans = list(took), sum(len(segment.file.spans) for segment in read)
        count = len(read)
        del read
        peak = _peak_of(plane, name)
        took.clear()
        with plane.store.reading() as tx:
            tx.segments.of_supervisor(name)
    return FilesRun(
        files=count,
        spans=spans,
        pages_s=pages_s,
        longest_ms=1000 * max(pages),
        whole_ms=1000 * max(took),
        transactions=len(pages),
        peak_mib=peak,
    )


def _keys(plane: Plane, name: str) -> list[SegmentKey]:
    with plane.store.reading() as tx:
        return tx.segments.keys_of_supervisor(name)


def _peak_of(plane: Plane, name: str) -> float:
    tracemalloc.start()
    whole(plane.store, listed(plane.store, _keys(plane, name)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20
