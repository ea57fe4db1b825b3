"""Rollup of a range's rows to segments: one row per time and equal columns.

    files ─► key of each row: chunk, and a share of it where one file would have too many rows
      ├─► per key and partition: how many rows, from which offsets      the spans of its file
      └─► per key, time and columns: the metrics, and `__count`         the rows of its file
                                              └─ one file per key

A list that feeds a sketch first becomes one row per entry, of which only one stands for the record.
A rolled-up row has no offset.  Before a file is offered, a check compares the number of records
behind its rows with the count of its spans.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column as ColumnExpression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from tasks.contract.ingest_spec import DEFAULT_FORMAT, Column, FileFormat, RowSpec
from tasks.contract.messages import FailureCode, OffsetSpan
from tasks.ingest.decode.chunks import Chunks
from tasks.ingest.merge.merge import SORTED_BY, Rewrite, read_files, unused
from tasks.ingest.merge.sizes import FileTarget
from tasks.ingest.merge.theta_function import theta_function
from tasks.ingest.write.files import Step, describe_with, no_step, parquet_options, total_rows
from tasks.ports import DataFile, TaskError
from tasks.rows.row_plan import OWN_TIME, RECORDS, counted_apart, measured
from tasks.rows.sql.text import name
from tasks.spark.paths import hadoop_path

_SPARK = {"long": "BIGINT", "double": "DOUBLE", "float": "FLOAT", "string": "STRING"}


@dataclass(frozen=True)
class Rollup:
    """The work of one rollup."""

    files: tuple[DataFile, ...]
    columns: tuple[Column, ...]
    """The columns in which rows must be equal to become one row."""
    rows: RowSpec
    chunks: Chunks
    target: FileTarget
    """The size of a file; its rows are the records that the file stands for."""
    topic: str | None
    """The topic of all rows; None: each row names its own."""
    written: Mapping[str, Sequence[Column]] = field(default_factory=dict)
    """Path -> the columns of a file, for files with narrower types in some columns."""
    form: FileFormat = DEFAULT_FORMAT


def roll_up(
    session: SparkSession, job: Rollup, *, warehouse: Path, folder: Path, step: Step
) -> tuple[DataFile, ...]:
    """Write all rows, rolled up and sorted, into a new `folder`; synced.

    `step` is called while digests are computed.  Runs two Spark jobs, three if a chunk may need
    several files.

    Raises:
        TaskError: the rows do not stand for as many records as were read (WRITE_FAILED).
    """
    topics = job.topic is None
    stored = (*job.columns, *measured(job.rows))
    read = Rewrite(job.files, stored, job.chunks, job.target, topics, job.written)
    rows = read_files(session, job.files, job=read, warehouse=warehouse)
    if job.rows.truncation is None:
        # Rows of one millisecond become one, as Druid's times have no more digits; rounded down.
        rows = rows.withColumn("__time", fn.expr("timestamp_millis(unix_millis(__time))"))
    chunk = job.chunks.sql("__time")
    share = _share(rows, job, chunk, folder / "chunks")
    key = unused("key", [column.name for column in stored])
    keyed = rows.selectExpr("*", f"concat({chunk}, '-', {share}) AS {key}")
    spans = _spans(keyed, key, job.topic, folder / "spans")
    alike = [key, "__time", *(name(column.name) for column in job.columns)]
    rolled = (
        _with_entries(keyed, job.rows)
        .groupBy(*alike)
        .agg(*_aggregates(session, job.rows, topics=topics))
        .repartition(max(1, min(len(spans), session.sparkContext.defaultParallelism)), key)
        .sortWithinPartitions(*alike[: SORTED_BY + 2])
    )
    writer = rolled.write.mode("append").options(**parquet_options(job.form))
    writer.partitionBy(key).parquet(hadoop_path(folder / "rows"))
    return tuple(_collected(folder, warehouse, spans, step))


def _share(rows: DataFrame, job: Rollup, chunk: str, folder: Path) -> str:
    """Return the SQL of a row's file within its chunk, from 0; equal rows go to one file."""
    records, size = total_rows(job.files), sum(file.size_bytes for file in job.files)
    if job.target.files_for(records, size) == 1:
        return "0"
    alike = ", ".join(("__time", *(name(column.name) for column in job.columns)))
    # The size of rolled-up rows shrinks about as much as their number.
    kinds = f"approx_count_distinct(xxhash64({alike})) AS kinds"
    grouped = rows.groupBy(fn.expr(chunk).alias("k"))
    counted = _small(grouped.agg(fn.expr("count(1) AS n"), fn.expr(kinds)), folder)
    files = {
        row["k"]: job.target.files_for(row["n"], min(row["n"], row["kinds"]) * size / records)
        for row in counted
    }
    several = " ".join(f"WHEN {key} THEN {n}" for key, n in files.items() if n > 1)
    if not several:
        return "0"
    return f"pmod(xxhash64({alike}), CASE {chunk} {several} ELSE 1 END)"


def _spans(
    keyed: DataFrame, key: str, topic: str | None, folder: Path
) -> dict[str, list[OffsetSpan]]:
    """Return key -> number and offset bounds of the rows of each partition in the key's file."""
    by = [key, "__partition", *(["__topic"] if topic is None else [])]
    counted = keyed.groupBy(*by).agg(
        fn.expr("count(1) AS n"), fn.expr("min(__offset) AS lo"), fn.expr("max(__offset) AS hi")
    )
    spans_by_key: dict[str, list[OffsetSpan]] = {}
    for row in _small(counted, folder):
        span = OffsetSpan(
            topic=row["__topic"] if topic is None else topic,
            partition=row["__partition"],
            first=row["lo"],
            last=row["hi"],
            rows=row["n"],
        )
        spans_by_key.setdefault(row[key], []).append(span)
    return {
        k: sorted(spans, key=lambda s: (s.topic, s.partition)) for k, spans in spans_by_key.items()
    }


def _small(frame: DataFrame, folder: Path) -> list[dict[str, Any]]:
    """Return a few rows, without collect(), which leaves its socket to the garbage collector."""
    frame.coalesce(1).write.parquet(hadoop_path(folder))
    rows: list[dict[str, Any]] = pq.read_table(folder, partitioning=None).to_pylist()
    shutil.rmtree(folder)
    return rows


def _with_entries(rows: DataFrame, spec: RowSpec) -> DataFrame:
    """Split each row with a counted list into one row per entry.

    The first has all values of the row; the others have no offset and no values of other metrics.
    """
    pairs = counted_apart(spec)
    if not pairs:
        return rows
    stored = [column.name for column in measured(spec)]
    none = "CAST(array() AS ARRAY<STRING>)"
    lists = ", ".join(f"coalesce({name(stored[entries])}, {none})" for _, entries in pairs)
    turn, entry = (name(unused(own, rows.columns)) for own in ("turn", "entry"))
    apart = rows.selectExpr("*", f"posexplode_outer(arrays_zip({lists})) AS ({turn}, {entry})")
    texts = {stored[text]: number for number, (text, _) in enumerate(pairs)}
    once = {*stored, "__offset"}

    def column_sql(column: str) -> str:
        own = name(column)
        if column in texts:
            return f"coalesce({own}, {entry}.`{texts[column]}`) AS {own}"
        if column in once:
            return f"CASE WHEN coalesce({turn}, 0) = 0 THEN {own} END AS {own}"
        return own

    return apart.selectExpr(*map(column_sql, rows.columns))


def _aggregates(session: SparkSession, spec: RowSpec, *, topics: bool) -> list[ColumnExpression]:
    place = f"{'__topic, ' if topics else ''}__partition, __offset"
    aggregates = []
    for metric, stored in zip(spec.metrics, measured(spec), strict=False):
        held, wanted = name(stored.name), name(metric.name)
        known = f"FILTER (WHERE {held} IS NOT NULL)"
        theta = theta_function(session, metric.precision) if metric.of == "theta" else ""
        rule = {
            "count": f"sum({held})",
            "sum": f"CAST(sum({held}) AS {_SPARK[metric.type]})",
            "min": f"min({held})",
            "max": f"max({held})",
            "first": f"min_by({held}, struct({OWN_TIME}, {place})) {known}",
            "last": f"max_by({held}, struct({OWN_TIME}, {place})) {known}",
            "any": f"min_by({held}, struct({place})) {known}",
            "distinct": f"hll_sketch_agg({held}, {metric.precision})",
            "theta": f"{theta}({held})",
        }[metric.of]
        aggregates.append(fn.expr(f"{rule} AS {wanted}"))
    return [*aggregates, fn.expr(f"count(__offset) AS {RECORDS}")]


def _collected(
    folder: Path, warehouse: Path, spans: dict[str, list[OffsetSpan]], step: Step
) -> Iterator[DataFile]:
    """Rename each key's file, and check that its rows stand for the records that were read."""
    written = {path.parent.name.partition("=")[2]: path for path in folder.glob("rows/*/*.parquet")}
    if written.keys() != spans.keys():
        raise TaskError(
            FailureCode.WRITE_FAILED, f"rolled up were {sorted(written)}, read {sorted(spans)}"
        )
    for number, key in enumerate(sorted(spans)):
        path = written[key].rename(folder / f"segment-{number:05d}.parquet")
        yield describe_counted(path, warehouse, tuple(spans[key]), step)
    shutil.rmtree(folder / "rows")


def describe_counted(
    path: Path, warehouse: Path, spans: tuple[OffsetSpan, ...], step: Step = no_step
) -> DataFile:
    """Sync and describe one file of rolled-up rows.

    Raises:
        TaskError: its rows stand for more or fewer records than `spans` count (WRITE_FAILED).
    """
    file = describe_with(path, warehouse, spans, step)
    counted = pc.sum(pq.read_table(path, columns=[RECORDS], partitioning=None)[RECORDS]).as_py()
    if counted != sum(span.rows for span in file.spans):
        raise TaskError(
            FailureCode.WRITE_FAILED,
            f"{file.path}: its rows stand for {counted} records, read were {file.spans}",
        )
    return file
