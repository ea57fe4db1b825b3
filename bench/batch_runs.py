"""The engine against a bare Spark job: the same range, the same application, taking turns."""

import os
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

from bench import bare
from bench.machine import cpu_seconds
from bench.records import Filled
from bench.result import Spread, spread
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from supervisor.dev.sample import sample_spec
from tasks.contract.ingest_spec import IngestSpec
from tasks.contract.messages import DesiredCompaction
from tasks.contract.offsets import TopicPartition
from tasks.ingest.engine import SparkEngine
from tasks.ports import BatchJob, JournalEntry, MergeJob, MergeResult
from tasks.spark.session import SparkRuntime

ENGINE, BARE, ENGINE_MERGED, BARE_SORTED = "engine", "bare", "engine merged", "bare sorted"


@dataclass(frozen=True)
class Timed:
    """One way of doing the work, several times."""

    seconds: Spread
    cpu_s: Spread
    """Of the JVM and this Python process together."""


@dataclass(frozen=True)
class CatchUp:
    """Long batches; by name of the way."""

    rows: int
    record_bytes: float
    """Mean size of a record's value."""
    ways: Mapping[str, Timed]
    bytes_per_row: float
    """Of the published files, when none was rewritten."""
    bytes_per_row_merged: float
    merged_files: int


@dataclass
class BatchBench:
    """One engine and one session over one broker; makes numbered tasks and folders."""

    runtime: SparkRuntime
    bootstrap: str
    folder: Path
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Use `folder` as the warehouse."""
        self._engine = SparkEngine(self.runtime, str(self.folder), str)
        self._engine.warm()

    def engine(self, filled: Filled, rows: int, segment_rows_max: int) -> MergeResult:
        """Read the first `rows` records as one batch of a new task and make segments of it."""
        return self.read_by(self._spec(filled, segment_rows_max), filled, rows)

    def read_by(self, spec: IngestSpec, filled: Filled, rows: int) -> MergeResult:
        """Read the first `rows` records by any spec, and make segments of them."""
        return self._batch(self._new_task(), 0, spec, filled, (0, rows))

    def batches(self, filled: Filled, count: int, segment_rows_max: int) -> list[MergeResult]:
        """Read a topic as so many batches of one task, and make segments of each.

        Of one task: what each of so many had fetched would fill the heap until, after a minute,
        their consumers are closed.
        """
        task_id, spec = self._new_task(), self._spec(filled, segment_rows_max)
        bounds = [filled.rows * n // count for n in range(count + 1)]
        parts = enumerate(pairwise(bounds))
        return [self._batch(task_id, n, spec, filled, part) for n, part in parts]

    def _new_task(self) -> str:
        return f"task-{next(self._numbers)}"

    def _batch(
        self, task_id: str, number: int, spec: IngestSpec, filled: Filled, part: tuple[int, int]
    ) -> MergeResult:
        entry = self._read(task_id, number, spec, filled, part)
        return self._engine.merge(MergeJob(task_id, 1, spec, (entry,)))

    def _read(
        self, task_id: str, number: int, spec: IngestSpec, filled: Filled, part: tuple[int, int]
    ) -> JournalEntry:
        start, end = (
            {TopicPartition(filled.topic, p): at for p, at in filled.ends(rows).items()}
            for rows in part
        )
        entry = self._engine.read_batch(BatchJob(task_id, 1, number, spec, start, end, ()))
        rows = part[1] - part[0]
        assert entry.counters.processed == rows, f"{entry.counters} of {rows} records"
        return entry

    def new_folder(self) -> Path:
        """Return where one bare job may write."""
        return self.folder / f"bare-{next(self._numbers)}"

    def read_only(self, filled: Filled, rows: int) -> None:
        """Read the first `rows` records as one batch, without the merge."""
        self._read(self._new_task(), 0, self._spec(filled, rows), filled, (0, rows))

    def bare(self, filled: Filled, rows: int, *, in_order: bool) -> None:
        """Do the same with the bare job."""
        write = bare.write_sorted if in_order else bare.write_decoded
        write(self.runtime.session, self.bootstrap, filled, rows, self.new_folder())

    def compact(self, order: DesiredCompaction) -> None:
        """Rewrite files as one."""
        self._engine.compact(order)

    def clean(self, keep: Collection[Path] = ()) -> None:
        """Delete what was written, outside of any measurement."""
        for path in self.folder.iterdir():
            if path not in keep:
                with suppress(OSError):
                    shutil.rmtree(path)

    def timed(self, work: Callable[[], object], keep: Collection[Path] = ()) -> tuple[float, float]:
        """Return seconds by the clock and of CPU that the work took; clean up after it."""
        pids = (os.getpid(), self.runtime.pid)
        cpu, began = cpu_seconds(pids), time.perf_counter()
        work()
        took = time.perf_counter() - began, cpu_seconds(pids) - cpu
        self.clean(keep)
        return took

    def in_turns(
        self,
        ways: Mapping[str, Callable[[], object]],
        repeats: int,
        keep: Collection[Path] = (),
    ) -> dict[str, Timed]:
        """Time several ways of doing the same, every second round in reverse order."""
        found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for turn in range(repeats):
            for way in list(ways)[:: 1 if turn % 2 == 0 else -1]:
                found[way].append(self.timed(ways[way], keep))
        return {way: _timed_of(took) for way, took in found.items()}

    def _spec(self, filled: Filled, segment_rows_max: int) -> IngestSpec:
        spec = ingest_spec(read_spec(sample_spec(self.bootstrap, filled.topic)).spec)
        tuning = spec.tuning.model_copy(update={"segment_rows_max": segment_rows_max})
        return spec.model_copy(update={"tuning": tuning})


def measure_catch_up(bench: BatchBench, filled: Filled, rows: int, repeats: int) -> CatchUp:
    """Take turns over the first `rows` records, every second round in reverse order."""
    sizes: dict[str, float] = {}
    files: dict[str, int] = {}

    def engine(way: str, segment_rows_max: int) -> None:
        merged = bench.engine(filled, rows, segment_rows_max)
        is_rewritten = any("/m1/" in file.path for file in merged.segments)
        assert is_rewritten == (way == ENGINE_MERGED), f"{way}: rewritten: {is_rewritten}"
        files[way] = len(merged.segments)
        sizes[way] = sum(file.size_bytes for file in merged.segments) / rows

    ways: dict[str, Callable[[], object]] = {
        # One file per partition: with these bounds they are two for each that is needed, and
        # stay; with the default bound one file is wanted, and four are rewritten.
        ENGINE: lambda: engine(ENGINE, -(-rows // 2)),
        BARE: lambda: bench.bare(filled, rows, in_order=False),
        ENGINE_MERGED: lambda: engine(ENGINE_MERGED, 5_000_000),
        BARE_SORTED: lambda: bench.bare(filled, rows, in_order=True),
    }
    # What the JVM has not compiled yet would be the loss of whoever comes first.
    bench.timed(lambda: bench.bare(filled, rows // 5, in_order=False))
    bench.timed(lambda: bench.engine(filled, rows // 5, 5_000_000))
    bench.timed(lambda: bench.bare(filled, rows // 5, in_order=True))
    found = bench.in_turns(ways, repeats)  # which fills `sizes` and `files`
    return CatchUp(
        rows=rows,
        record_bytes=filled.size_bytes / filled.rows,
        ways=found,
        bytes_per_row=sizes[ENGINE],
        bytes_per_row_merged=sizes[ENGINE_MERGED],
        merged_files=files[ENGINE_MERGED],
    )


def measure_small(bench: BatchBench, filled: Filled, repeats: int) -> Mapping[str, Timed]:
    """Take turns over batches of all records of a small topic, after as many unmeasured ones."""
    found: dict[str, list[tuple[float, float]]] = {ENGINE: [], BARE: []}
    for number in range(2 * repeats):
        took = {
            ENGINE: bench.timed(lambda: bench.read_only(filled, filled.rows)),
            BARE: bench.timed(lambda: bench.bare(filled, filled.rows, in_order=False)),
        }
        if number >= repeats:
            for way, times in took.items():
                found[way].append(times)
    return {way: _timed_of(took) for way, took in found.items()}


def _timed_of(took: list[tuple[float, float]]) -> Timed:
    return Timed(spread([seconds for seconds, _ in took]), spread([cpu for _, cpu in took]))
