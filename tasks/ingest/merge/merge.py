"""The merge of journaled files to segments: they stay as they are, or are rewritten once, sorted.

    each file in one time chunk, and few per chunk? ──yes──► they are the segments
        │no
        ▼
    one job: rows in the parts of `sizes` ──► sort each part ──► a file for each of its chunks

There is no shuffle: one Spark task reads, sorts and writes a part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tasks.contract.ingest_spec import DEFAULT_FORMAT, Column, FileFormat
from tasks.contract.messages import FailureCode, SegmentFile
from tasks.ingest.decode.chunks import Chunks, Interval
from tasks.ingest.decode.transform import micros
from tasks.ingest.merge.sizes import FileShare, FileTarget, lay_out
from tasks.ingest.write.files import data_paths, parquet_options
from tasks.ingest.write.write import merge_spans
from tasks.ports import DataFile, TaskError
from tasks.rows.discovery import wider
from tasks.rows.sql.text import name
from tasks.spark.paths import hadoop_path, read_parquet

SORTED_BY = 3
"""The number of leading columns after `__time` by which a segment's rows are sorted."""

_TYPES: dict[str, DataType] = {
    "string": StringType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "json": StringType(),
    "array<long>": ArrayType(LongType()),
    "array<double>": ArrayType(DoubleType()),
    "array<string>": ArrayType(StringType()),
}
ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "json": pa.string(),
    "array<long>": pa.list_(pa.int64()),
    "array<double>": pa.list_(pa.float64()),
    "array<string>": pa.list_(pa.string()),
}
"""Type of a column -> Arrow's type in a file; elements of arrays may be null."""


@dataclass(frozen=True)
class Rewrite:
    """The work of one merge job."""

    files: tuple[DataFile, ...]
    columns: tuple[Column, ...]
    chunks: Chunks
    target: FileTarget
    topics: bool = False
    """Whether the files have a column `__topic`."""
    written: Mapping[str, Sequence[Column]] = field(default_factory=dict)
    """Path -> the columns of a file, for files with narrower types in some columns."""
    form: FileFormat = DEFAULT_FORMAT


def rewrite(session: SparkSession, job: Rewrite, *, warehouse: Path, folder: Path) -> list[Path]:
    """Write all rows, sorted, into a new `folder`; each file lies in one time chunk."""
    order = order_of(job.columns)
    read = partial(read_files, session, job=job, warehouse=warehouse)
    return rewrite_with(session, job, read, order, warehouse=warehouse, folder=folder)


def order_of(columns: Sequence[Column]) -> list[str]:
    """Return the sort order of a segment's rows, as SQL."""
    return ["__time", *(name(column.name) for column in columns[:SORTED_BY])]


def rewrite_with(
    session: SparkSession,
    job: Rewrite,
    read: Callable[[Sequence[DataFile]], DataFrame],
    order: Sequence[str],
    *,
    warehouse: Path,
    folder: Path,
) -> list[Path]:
    """Do the same for a custom `read` of the files; its frame has `__time`; `order` is SQL."""
    chunks = {job.chunks.of(t) for f in job.files for t in (f.time_min, f.time_max)}
    cores = session.sparkContext.defaultParallelism
    layout = lay_out(job.files, job.chunks, job.target, cores=cores, warehouse=warehouse)
    frames = [_within(read(part.files), part) for part in layout.parts]
    merged = union([frame.coalesce(1) for frame in frames])
    if len(chunks) == 1:
        writer = merged.sortWithinPartitions(*order).write
    else:
        own = unused("chunk", merged.columns)
        chunked = merged.selectExpr("*", f"{job.chunks.sql('__time')} AS {name(own)}")
        writer = chunked.sortWithinPartitions(name(own), *order).write.partitionBy(own)
    writer = writer.mode("append").options(**parquet_options(job.form))
    writer.option("maxRecordsPerFile", layout.rows_max).parquet(hadoop_path(folder))
    return _flattened(folder)


def _within(frame: DataFrame, part: FileShare) -> DataFrame:
    """Leave out the rows that belong to other parts."""
    bounds = [
        f"__time {than} timestamp_micros({micros(bound)})"
        for than, bound in ((">=", part.since), ("<", part.until))
        if bound is not None
    ]
    return frame.where(" AND ".join(bounds)) if bounds else frame


def read_files(
    session: SparkSession, files: Sequence[DataFile], *, job: Rewrite, warehouse: Path
) -> DataFrame:
    """Read files as one frame with the columns of `job`; a column that a file lacks is null."""
    whole = tuple(job.columns)
    alike: dict[tuple[Column, ...], list[Path]] = {}
    for file in files:
        had = {column.name: column for column in job.written.get(file.path, ())}
        columns = tuple(had.get(column.name, column) for column in whole)
        alike.setdefault(columns, []).append(warehouse / file.path)
    frames = []
    for columns, paths in alike.items():
        frame = read_parquet(session, schema_of(columns, topics=job.topics), paths)
        frames.append(frame if columns == whole else widened(frame, columns, whole))
    return union(frames)


def widened(frame: DataFrame, was: Sequence[Column], columns: Sequence[Column]) -> DataFrame:
    """Convert columns of the types `was` to the types of `columns`, by name; others stay."""
    wanted = [
        f"{wider(name(a.name), a.type, b.type)} AS {name(b.name)}"
        for a, b in zip(was, columns, strict=True)
    ]
    own = [c for c in frame.columns if c not in {column.name for column in was}]
    time, *rest = (name(c) for c in own)
    return frame.selectExpr(time, *wanted, *rest)


def check_rewritten(old: Sequence[DataFile | SegmentFile], new: Sequence[DataFile]) -> None:
    """Check that a rewrite has neither lost nor added a row.

    Raises:
        TaskError: rows or offsets of a partition differ (WRITE_FAILED).
    """
    if merge_spans(old) != merge_spans(new):
        raise TaskError(
            FailureCode.WRITE_FAILED,
            f"the merge of {merge_spans(old)} holds {merge_spans(new)}",
        )


def as_segments(files: Sequence[DataFile], chunks: Chunks) -> tuple[SegmentFile, ...]:
    """Return files in the form that is offered for publishing.

    Raises:
        TaskError: the rows of a file lie in more than one time chunk (a bug of the merge).
    """
    return tuple(_as_segment(file, chunks) for file in files)


def _as_segment(file: DataFile, chunks: Chunks) -> SegmentFile:
    interval = chunks.of(file.time_min)
    if chunks.of(file.time_max) != interval:
        raise TaskError(
            FailureCode.INTERNAL,
            f"{file.path} reaches from {file.time_min} to {file.time_max}: "
            f"more than one chunk by {chunks}",
        )
    return segment_in(file, interval)


def segment_in(file: DataFile, interval: Interval) -> SegmentFile:
    """Return a file whose rows lie in one interval, in the form that is offered for publishing."""
    return SegmentFile(
        path=file.path,
        interval_start=interval[0],
        interval_end=interval[1],
        rows=file.rows,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        time_min=file.time_min,
        time_max=file.time_max,
        spans=file.spans,
    )


def schema_of(columns: Sequence[Column], *, topics: bool) -> StructType:
    """Return the schema of a batch's files."""
    return StructType(
        [
            *fields_of(columns),
            StructField("__partition", IntegerType()),
            StructField("__offset", LongType()),
            *([StructField("__topic", StringType())] if topics else []),
        ]
    )


def layout_of(columns: Sequence[Column], *, topics: bool) -> pa.Schema:
    """Return Arrow's schema of a file that `rewrite` wrote: any column may be null."""
    return pa.schema(
        [
            ("__time", pa.timestamp("us", "UTC")),
            *((column.name, ARROW[column.type]) for column in columns),
            ("__partition", pa.int32()),
            ("__offset", pa.int64()),
            *([("__topic", pa.string())] if topics else []),
        ]
    )


def fields_of(columns: Sequence[Column]) -> list[StructField]:
    """Return the fields that all files of a table have: `__time`, then its columns."""
    time = StructField("__time", TimestampType())
    return [time, *(StructField(column.name, _TYPES[column.type]) for column in columns)]


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all frames, which have the same columns."""
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.union(frame)
    return whole


def _flattened(folder: Path) -> list[Path]:
    """Move files out of `chunk=…` folders, of which readers would make a column."""
    found = [*data_paths(folder), *sorted(folder.glob("*=*/part-*.parquet"))]
    plain = []
    for number, path in enumerate(found):
        plain.append(path.rename(folder / f"segment-{number:05d}.parquet"))
    for emptied in folder.glob("*=*"):
        emptied.rmdir()
    return plain


def unused(wanted: str, taken: Sequence[str]) -> str:
    """Return a name for a column that is not taken."""
    while wanted in taken:
        wanted += "_"
    return wanted
