"""Compaction: the published files of one time chunk, rewritten as one file, sorted anew.

    each input as published? ─► its columns ─► one frame per kind of file ─► one sorted file
          └─ rows and bounds of each partition, times ──────── the same? ─────────────┘

A column that a file lacks is null, and a narrower type is widened, as in a merge.  Rolled-up rows
are put together, but no two of them become one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from tasks.contract.ids import is_safe_name
from tasks.contract.ingest_spec import Column, FileFormat
from tasks.contract.messages import (
    CompactionInput,
    DesiredCompaction,
    FailureCode,
    OffsetSpan,
    SegmentFile,
)
from tasks.ingest.decode.chunks import Interval
from tasks.ingest.merge.merge import (
    ARROW,
    SORTED_BY,
    check_rewritten,
    fields_of,
    segment_in,
    union,
    widened,
)
from tasks.ingest.merge.quarantine import SCHEMA, combine_raw, describe_raw
from tasks.ingest.merge.rollup import describe_counted
from tasks.ingest.write.files import (
    Digest,
    Step,
    data_paths,
    describe,
    digest_of,
    parquet_options,
)
from tasks.ingest.write.write import merge_spans
from tasks.ports import DataFile, TaskError
from tasks.rows.discovery import common
from tasks.rows.row_plan import OWN_COLUMNS, RECORDS
from tasks.rows.sql.text import name, text
from tasks.spark.paths import hadoop_path, read_parquet

_ROLLED_UP = ("__time", RECORDS)
_COLUMNS_NAMED = 10


@dataclass(frozen=True)
class Shape:
    """The common form of files that are read as one frame."""

    columns: tuple[Column, ...]
    """The columns of the new file, each with the type that these files have."""
    topic: str | None = None
    """The topic of all rows, which the new file has to name; None: rows name theirs, or none."""


@dataclass(frozen=True)
class CompactionJob:
    """The work of one compaction, after its inputs were examined."""

    inputs: tuple[SegmentFile, ...]
    columns: tuple[Column, ...]
    sketches: tuple[str, ...]
    """Rollup columns of no column type, whose bytes are kept."""
    shapes: Mapping[Shape, Sequence[str]]
    """Shape -> paths of the files with that shape."""
    rolled_up: bool
    topics: bool
    """Whether each row of the new file names its topic."""
    form: FileFormat
    raw: bool = False
    """Whether the files have raw records, instead of columns of a spec."""

    @property
    def order(self) -> tuple[str, ...]:
        """The columns by which the rows are sorted."""
        return ("__time", *(column.name for column in self.columns[:SORTED_BY]))


@dataclass(frozen=True)
class _Footer:
    """The facts about one input beside its rows' own columns."""

    file: SegmentFile
    columns: tuple[Column, ...]
    sketches: tuple[str, ...]
    rolled_up: bool
    names_topic: bool


def compaction_of(order: DesiredCompaction, warehouse: Path, step: Step) -> CompactionJob:
    """Return the work to do, after one read of every input.  `step` is called on the way.

    Raises:
        TaskError: an input is missing or not as it was published (READ_FAILED), or these files
            cannot become one (REFUSED).
    """
    _check_order(order)
    for some in order.inputs:
        step()
        _check_whole(some.file, warehouse, step)
    if order.raw:
        return _raw(order, warehouse)
    footers = tuple(_footer(some, order, warehouse) for some in order.inputs)
    rolled_up = {footer.rolled_up: footer.file.path for footer in footers}
    if len(rolled_up) > 1:
        raise _refused(
            f"the rows of {rolled_up[True]} are rolled up, those of {rolled_up[False]} are not: "
            "such rows cannot lie in one file"
        )
    spans = [span for footer in footers for span in footer.file.spans]
    several = any(f.names_topic for f in footers) or len({span.topic for span in spans}) > 1
    topics = several and True not in rolled_up
    shapes: dict[Shape, list[str]] = {}
    for footer in footers:
        topic = _one_topic(footer.file) if topics and not footer.names_topic else None
        shapes.setdefault(Shape(footer.columns, topic), []).append(footer.file.path)
    return CompactionJob(
        inputs=tuple(some.file for some in order.inputs),
        columns=order.columns,
        sketches=tuple(dict.fromkeys(s for footer in footers for s in footer.sketches)),
        shapes=shapes,
        rolled_up=True in rolled_up,
        topics=topics,
        form=order.files,
    )


def _raw(order: DesiredCompaction, warehouse: Path) -> CompactionJob:
    for some in order.inputs:
        names = _schema(some.file.path, warehouse).names
        if names != SCHEMA.names:
            raise _refused(f"{some.file.path} has no raw records, but columns {_named(names)}")
    return CompactionJob(
        inputs=tuple(some.file for some in order.inputs),
        columns=(),
        sketches=(),
        shapes={},
        rolled_up=False,
        topics=False,
        form=order.files,
        raw=True,
    )


def combine(session: SparkSession, job: CompactionJob, *, warehouse: Path, folder: Path) -> Path:
    """Write the rows of all inputs into one file of a new `folder`; one Spark task."""
    if job.raw:
        paths = [file.path for file in job.inputs]
        return combine_raw(session, paths, warehouse=warehouse, folder=folder)
    frames = [_frame(session, job, shape, warehouse) for shape in job.shapes]
    rows = union(frames).coalesce(1).sortWithinPartitions(*map(name, job.order))
    rows.write.mode("append").options(**parquet_options(job.form)).parquet(hadoop_path(folder))
    [path] = data_paths(folder)
    return path.rename(folder / "segment-00000.parquet")


def checked(job: CompactionJob, path: Path, warehouse: Path, step: Step) -> SegmentFile:
    """Sync the new file, check that it holds the rows of the inputs, and return it.

    Raises:
        TaskError: rows, or offsets of a partition, or times differ (WRITE_FAILED).
    """
    file: DataFile | None
    if job.raw:
        file = describe_raw(path, warehouse, step)
    elif job.rolled_up:
        file = describe_counted(path, warehouse, _spans(job.inputs), step)
    else:
        file = describe(path, warehouse, job.inputs[0].spans[0].topic, step)
    check_rewritten(job.inputs, [file] if file else [])
    assert file is not None, "files without rows are never published"
    wanted = (
        sum(old.rows for old in job.inputs),
        min(old.time_min for old in job.inputs),
        max(old.time_max for old in job.inputs),
    )
    if (file.rows, file.time_min, file.time_max) != wanted:
        raise TaskError(
            FailureCode.WRITE_FAILED,
            f"{file.path} has {file.rows} rows from {file.time_min} to {file.time_max}; those "
            f"that it is made of have {wanted[0]} from {wanted[1]} to {wanted[2]}",
        )
    return segment_in(file, _interval(job.inputs[0]))


def _check_order(order: DesiredCompaction) -> None:
    files = [some.file for some in order.inputs]
    if not files:
        raise _refused("there is no file to compact")
    if len({file.path for file in files}) < len(files):
        raise _refused("a file is listed twice: its rows would be there twice")
    if len({_interval(file) for file in files}) > 1:
        raise _refused("the files are of several time chunks")
    own = (order.data_source, "data", order.compaction_id)
    for file in files:
        parts = tuple(file.path.split("/"))
        if not all(is_safe_name(part) for part in parts):
            raise _refused(f"{file.path!r} cannot be the path of a published file")
        if parts[: len(own)] == own:
            raise _refused(f"{file.path} lies in the folder that the new file is written to")


def _check_whole(file: SegmentFile, warehouse: Path, step: Step) -> None:
    try:
        actual = digest_of(warehouse / file.path, step)
    except FileNotFoundError:
        raise TaskError(FailureCode.READ_FAILED, f"{file.path} is not there") from None
    except OSError as error:
        raise TaskError(FailureCode.READ_FAILED, f"{file.path}: {error.strerror}") from error
    expected = Digest(file.size_bytes, file.sha256)
    if actual != expected:
        raise TaskError(
            FailureCode.READ_FAILED,
            f"{file.path} is not what was published: it has {actual.size_bytes} bytes with SHA-256 "
            f"{actual.sha256}, published were {expected.size_bytes} with {expected.sha256}",
        )


def _footer(some: CompactionInput, order: DesiredCompaction, warehouse: Path) -> _Footer:
    """Return the facts of an input, with its own types of the new file's columns."""
    path = some.file.path
    schema = _schema(path, warehouse)
    rolled_up = "__offset" not in schema.names
    if rolled_up and RECORDS not in schema.names:
        raise _refused(
            f"{path} tells neither offsets nor counts: no file of this kind is compacted"
        )
    own = _ROLLED_UP if rolled_up else OWN_COLUMNS
    declared = {column.name: column for column in some.columns}
    here = {field.name: field.type for field in schema if field.name not in own}
    sketches = [n for n, kind in here.items() if n not in declared and kind == pa.binary()]
    unknown = [n for n in here if n not in declared and n not in sketches]
    if unknown:
        raise _refused(f"{path} has columns that nobody told of: {_named(unknown)}")
    other = [n for n, kind in here.items() if n in declared and kind != ARROW[declared[n].type]]
    if other:
        raise _refused(f"{path} has columns of other types than was told: {_named(other)}")
    had = {n: declared[n] for n in here if n in declared}
    whole = {column.name: column for column in order.columns}
    narrower = [n for n, c in had.items() if n not in whole or not _holds(whole[n], c)]
    narrower += [n for n in sketches if n in whole]
    if narrower:
        raise _refused(f"the new file's columns cannot hold those of {path}: {_named(narrower)}")
    columns = tuple(had.get(column.name, column) for column in order.columns)
    return _Footer(some.file, columns, tuple(sketches), rolled_up, "__topic" in schema.names)


def _schema(path: str, warehouse: Path) -> pa.Schema:
    try:
        return pq.read_schema(warehouse / path)
    except (OSError, pa.ArrowException) as error:
        raise TaskError(FailureCode.READ_FAILED, f"{path} is no Parquet file: {error}") from error


def _holds(column: Column, was: Column) -> bool:
    both = [column], [was]
    return (column,) in (common(both), common(both, declared={column.name}))


def _frame(session: SparkSession, job: CompactionJob, shape: Shape, warehouse: Path) -> DataFrame:
    own = [StructField(RECORDS, LongType())]
    if not job.rolled_up:
        own = [StructField("__partition", IntegerType()), StructField("__offset", LongType())]
    names_topic = job.topics and shape.topic is None
    schema = [
        *fields_of(shape.columns),
        *(StructField(sketch, BinaryType()) for sketch in job.sketches),
        *own,
        *([StructField("__topic", StringType())] if names_topic else []),
    ]
    paths = (warehouse / path for path in job.shapes[shape])
    frame = read_parquet(session, StructType(schema), paths)
    if shape.columns != job.columns:
        frame = widened(frame, shape.columns, job.columns)
    if shape.topic is not None:
        frame = frame.selectExpr("*", f"{text(shape.topic)} AS __topic")
    return frame


def _one_topic(file: SegmentFile) -> str:
    topics = sorted({span.topic for span in file.spans})
    if len(topics) != 1:
        raise _refused(f"rows of {file.path} do not say which of {topics} they come from")
    return topics[0]


def _spans(files: Sequence[SegmentFile]) -> tuple[OffsetSpan, ...]:
    return tuple(
        OffsetSpan(topic=p.topic, partition=p.partition, first=k.first, last=k.last, rows=k.rows)
        for p, k in sorted(merge_spans(files).items())
    )


def _interval(file: SegmentFile) -> Interval:
    return file.interval_start, file.interval_end


def _named(columns: Sequence[str]) -> str:
    rest = len(columns) - _COLUMNS_NAMED
    return ", ".join(columns[:_COLUMNS_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _refused(why: str) -> TaskError:
    return TaskError(FailureCode.REFUSED, why)
