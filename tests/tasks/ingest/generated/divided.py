"""A topic read as a division says, by real engines; and what lies in the table then."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
from datasketches import compact_theta_sketch
from pyspark.sql import functions as fn

from supervisor.cli.table.table_sql import view_of
from tasks.contract.digests import together
from tasks.contract.ingest_spec import Column, ColumnType, IngestSpec
from tasks.ingest.engine import SparkEngine
from tasks.ports import JournalEntry, MergeJob, MergeResult
from tasks.rows.discovery import common
from tasks.spark.session import SparkRuntime
from tests.supervisor.cli.table.tables import table_files
from tests.tasks.ingest.batches import batch, rejected
from tests.tasks.ingest.generated.draws.records import EXACT, Range
from tests.tasks.ingest.generated.row_model import Line
from tests.tasks.ingest.generated.value_model import listed


@dataclass(frozen=True)
class Read:
    """What reading a topic left."""

    warehouse: Path
    lines: tuple[Counter[Line], ...]
    """Per range, as a reader of the whole table has them: columns have the table's types."""
    columns: Mapping[str, ColumnType]
    """Those of the table, without metrics."""
    rejects: Mapping[tuple[int, int], str]
    """(partition, offset) -> reason."""
    kept: Counter[tuple[int, int, str, bytes | None]]
    """(partition, offset, reason, value) of each quarantined record."""
    counted: Counter[str]
    """How many records were rows, rows with a misfit, unparseable and thrown away."""
    queried: Counter[Line]
    """All rows, as `tidegate query` reads them."""
    segments: tuple[Path, ...]
    digest: str | None
    """What replicas would compare, of the whole topic."""
    chunks: Mapping[datetime, tuple[datetime, datetime]]
    """Time of a row -> the chunk of its file."""


def read(
    spark: SparkRuntime, warehouse: Path, spec: IngestSpec, topic: str, division: Sequence[Range]
) -> Read:
    """Read a topic from its beginning; each range is a task of its own."""
    engine = SparkEngine(spark, str(warehouse), lambda _: "")
    at: tuple[int, ...] = tuple(0 for _ in division[0].ends[0])
    results: list[MergeResult] = []
    entries: list[JournalEntry] = []
    for number, part in enumerate(division):
        if part.restarted:
            engine = SparkEngine(spark, str(warehouse), lambda _: "")
        task = f"task-{number}"
        batches = list(_batches(engine, spec, topic, (task, at, part.ends)))
        results.append(engine.merge(MergeJob(task, 1, spec, tuple(batches))))
        entries += batches
        at = part.ends[-1]
    return _read(warehouse, spec, results, entries)


def _batches(
    engine: SparkEngine,
    spec: IngestSpec,
    topic: str,
    task: tuple[str, tuple[int, ...], Sequence[tuple[int, ...]]],
) -> Iterator[JournalEntry]:
    """Read the batches of one task, each knowing what those before it have met."""
    name, at, ends = task
    last: JournalEntry | None = None
    for number, end in enumerate(ends):
        ranges = {p: (a, b) for p, (a, b) in enumerate(zip(at, end, strict=True))}
        job = replace(batch(spec, topic, ranges, number=number), task_id=name)
        if last is not None:
            job = replace(job, columns=last.columns, kinds=last.kinds)
        last = engine.read_batch(job)
        yield last
        at = end


def _read(
    warehouse: Path,
    spec: IngestSpec,
    results: Sequence[MergeResult],
    entries: Sequence[JournalEntry],
) -> Read:
    metrics = {metric.name for metric in spec.metrics}
    held = [tuple(c for c in result.columns if c.name not in metrics) for result in results]
    columns = {column.name: column.type for column in common(held)}
    lines = tuple(
        Counter(_lines(warehouse, result, columns, had))
        for result, had in zip(results, held, strict=True)
    )
    rejects: dict[tuple[int, int], str] = {}
    for partition, first, last, reason in (r for e in entries for r in rejected(warehouse, e)):
        rejects |= {(partition, offset): reason for offset in range(first, last + 1)}
    counted: Counter[str] = Counter()
    for counters in (entry.counters for entry in entries):
        counted["rows"] += counters.processed
        counted["misfits"] += counters.processed_with_error
        counted["unparseable"] += counters.unparseable
        counted["thrown away"] += counters.thrown_away
    return Read(
        warehouse=warehouse,
        lines=lines,
        columns=columns,
        rejects=rejects,
        kept=_kept(warehouse, results),
        counted=counted,
        queried=Counter(_queried(warehouse, results)),
        segments=tuple(warehouse / s.path for result in results for s in result.segments),
        digest=together(entry.digest for entry in entries),
        chunks=_chunks(warehouse, results),
    )


def _chunks(
    warehouse: Path, results: Sequence[MergeResult]
) -> Mapping[datetime, tuple[datetime, datetime]]:
    chunks: dict[datetime, tuple[datetime, datetime]] = {}
    for segment in (segment for result in results for segment in result.segments):
        table = pq.read_table(warehouse / segment.path, columns=["__time"], partitioning=None)
        chunk = (segment.interval_start, segment.interval_end)
        for time in table["__time"].to_pylist():
            assert chunks.setdefault(time, chunk) == chunk
    return chunks


def _lines(
    warehouse: Path, result: MergeResult, columns: Mapping[str, ColumnType], had: Sequence[Column]
) -> Iterator[Line]:
    was = {column.name: column.type for column in had}
    for segment in result.segments:
        rows = pq.read_table(warehouse / segment.path, partitioning=None).to_pylist()
        assert len(rows) == segment.rows or "__count" in rows[0]
        for row in rows:
            assert segment.interval_start <= row["__time"] < segment.interval_end
            yield frozenset(
                (name, widened(value, was[name], columns[name]) if name in was else value)
                for name, value in _line(row)
            )


def widened(value: object, was: ColumnType, kind: ColumnType) -> object:
    """Return what a reader makes of a value whose column is wider in the table than in a file."""
    if was == kind:
        return value
    if isinstance(value, tuple):
        texts = listed(list(value), "array<string>" if kind == "json" else kind)
        return (
            json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
            if kind == "json"
            else texts
        )
    if kind == "double":
        assert isinstance(value, int)
        return float(value)
    assert kind == "json", f"a {was} became a {kind}"
    if isinstance(value, float) and value == int(value) and abs(value) <= EXACT:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _kept(
    warehouse: Path, results: Sequence[MergeResult]
) -> Counter[tuple[int, int, str, bytes | None]]:
    paths = [file.path for result in results for file in result.quarantine]
    names = ["partition", "offset", "reason", "value"]
    quarantined: Counter[tuple[int, int, str, bytes | None]] = Counter()
    for path in paths:
        columns = pq.read_table(warehouse / path, columns=names, partitioning=None).columns
        quarantined.update(zip(*(column.to_pylist() for column in columns), strict=True))
    return quarantined


def _queried(warehouse: Path, results: Sequence[MergeResult]) -> Iterator[Line]:
    sets = [result.columns for result in results]
    whole = common(sets)
    files = [(s.path, n) for n, r in enumerate(results) for s in r.segments]
    table = table_files(warehouse, whole, sets, files)
    if not files:
        return
    with duckdb.connect() as connection:
        paths = [str(warehouse / path) for path, _ in files]
        sql = view_of(table, paths, pq.read_schema).sql
        yield from map(_line, connection.sql(sql).to_arrow_table().to_pylist())


def _line(row: Mapping[str, object]) -> Line:
    kept = ((name, value) for name, value in row.items() if value is not None)
    plain = ((name, value) for name, value in kept if not isinstance(value, bytes))
    return frozenset((name, tuple(v) if isinstance(v, list) else v) for name, v in plain)


def in_sets(_: SparkRuntime, reading: Read, sketch: str) -> dict[datetime, int]:
    """Return per time how many different values theta sketches hold, by a library of their own."""
    held: dict[datetime, set[int]] = defaultdict(set)
    for path in reading.segments:
        for row in pq.read_table(path, columns=["__time", sketch], partitioning=None).to_pylist():
            held[row["__time"]].update(compact_theta_sketch.deserialize(row[sketch]))
    return {time: len(hashes) for time, hashes in held.items()}


def estimates(spark: SparkRuntime, reading: Read, sketch: str) -> dict[datetime, int]:
    """Return per time how many different values the sketches of all its rows have met."""
    if not reading.segments:
        return {}
    paths = [path.as_uri() for path in reading.segments]
    rows = spark.session.read.schema(f"__time timestamp, {sketch} binary").parquet(*paths)
    estimate = f"hll_sketch_estimate(hll_union_agg({sketch})) AS n"
    folder = reading.warehouse / f"estimates-{sketch}"
    rows.groupBy("__time").agg(fn.expr(estimate)).coalesce(1).write.parquet(folder.as_uri())
    return {row["__time"]: row["n"] for row in pq.read_table(folder).to_pylist()}
