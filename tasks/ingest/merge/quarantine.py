"""Quarantine: the raw bad records, kept unchanged as files of the table `<dataSource>__errors`.

    a batch's rejects ─► the bad ones ─┐ broadcast
    the same records, read again ──────┴─ join ─► <batch>/errors-….parquet       a batch
                                                  <merge>/errors/segment-….parquet  a merge

A batch without bad records costs nothing.  A batch with bad records reads the part of its range
with them a second time, and decodes nothing.  No record passes through Python.
"""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tasks.contract.ingest_spec import BadRecords
from tasks.contract.messages import FailureCode
from tasks.contract.offsets import Offsets, TopicPartition, count
from tasks.ingest.decode.chunks import Chunks
from tasks.ingest.decode.observed import Kept, Reject
from tasks.ingest.decode.transform import from_millis
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.merge.merge import Rewrite, check_rewritten, rewrite_with
from tasks.ingest.merge.sizes import FileTarget, may_stay
from tasks.ingest.spark.partition_index import partition_sql
from tasks.ingest.write.files import (
    Step,
    data_paths,
    describe_with,
    drop_if_empty,
    no_step,
    remove_folder,
    spans_of_topics,
    total_rows,
)
from tasks.ingest.write.write import ROWS_PER_FILE, merge_spans
from tasks.ports import DataFile, MergeJob, TaskError
from tasks.rows.sql.text import texts
from tasks.spark.paths import hadoop_path, read_parquet

_HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
SCHEMA = StructType(
    [
        StructField("__time", TimestampType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("reason", StringType()),
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("headers", ArrayType(_HEADER)),
    ]
)
"""`__time` is the record's time in Kafka; the epoch if that is missing or not a row's time."""

ORDER = ("topic", "partition", "offset")
"""Sort order of the rows, so that statistics of the file lead to a page."""

_RUNS = "topic STRING, partition INT, first BIGINT, last BIGINT, reason STRING"


def bad_ones(rejects: Sequence[Reject]) -> list[Reject]:
    """Return the rejects whose records are bad."""
    return [reject for reject in rejects if not reject.reason.thrown_away]


def range_of(bad: Sequence[Reject]) -> tuple[Offsets, Offsets]:
    """Return the range, exclusive at its end, of bad records: the range of the second read."""
    start: dict[TopicPartition, int] = {}
    end: dict[TopicPartition, int] = {}
    for reject in bad:
        start[reject.partition] = min(start.get(reject.partition, reject.offset), reject.offset)
        end[reject.partition] = max(end.get(reject.partition, 0), reject.offset + 1)
    return start, end


def keep_raw(
    records: DataFrame, bad: Sequence[Reject], rejects: Path, warehouse: Path, step: Step
) -> tuple[DataFile, ...]:
    """Write the bad ones of `records` beside their batch's rejects file; synced and checked.

    `records` is `read_range` of `range_of(bad)` with `beside`.  Runs one job.

    Raises:
        TaskError: a record is gone, as after a compaction of the topic (WRITE_FAILED).
    """
    start, end = range_of(bad)
    work = rejects.parent / "errors"
    rows = _raw(records, rejects, start)
    rows = rows.coalesce(max(1, min(len(start) * 4, count(start, end) // ROWS_PER_FILE)))
    rows.sortWithinPartitions(*ORDER).write.mode("append").parquet(hadoop_path(work))
    paths = [
        path.rename(rejects.with_name(f"errors-{number:05d}.parquet"))
        for number, path in enumerate(data_paths(work))
    ]
    remove_folder(work)
    files = _described(paths, warehouse, step)
    check_raw(files, bad)
    return files


def _raw(records: DataFrame, rejects: Path, start: Offsets) -> DataFrame:
    given = records.selectExpr(
        f"{from_millis('_millis')} AS sent",
        "_topic AS topic",
        f"CAST({partition_sql(start)} AS INT) AS partition",
        "o AS offset",
        *("_key AS key", "v AS value", "_headers AS headers"),
    )
    return given.join(fn.broadcast(_listed(records.sparkSession, rejects)), [*ORDER]).selectExpr(
        # Kafka's clients write -1 for a missing time.
        "CASE WHEN unix_millis(sent) >= 0 THEN sent ELSE timestamp_millis(0) END AS __time",
        *SCHEMA.names[1:],
    )


def _listed(session: SparkSession, rejects: Path) -> DataFrame:
    """Return topic, partition, offset and reason of each bad record in a rejects file."""
    reasons = texts(reason.value for reason in RejectReason if not reason.thrown_away)
    runs = read_parquet(session, _RUNS, [rejects]).where(f"reason IN ({reasons})")
    return runs.selectExpr("topic", "partition", "explode(sequence(first, last)) offset", "reason")


def _described(paths: Sequence[Path], warehouse: Path, step: Step) -> tuple[DataFile, ...]:
    kept = [path for path in paths if not drop_if_empty(path)]
    return tuple(describe_raw(path, warehouse, step) for path in kept)


def check_raw(files: Sequence[DataFile], bad: Sequence[Reject]) -> None:
    """Check that files hold as many records of each partition as are bad, within their bounds.

    Each record was joined with its own offset, so equal numbers mean the same records.

    Raises:
        TaskError: the numbers differ (WRITE_FAILED).
    """
    wanted: dict[TopicPartition, Kept] = {}
    for reject in bad:
        held = wanted.get(reject.partition, Kept(0, reject.offset, reject.offset))
        first, last = min(held.first, reject.offset), max(held.last, reject.offset)
        wanted[reject.partition] = Kept(held.rows + 1, first, last)
    if (actual := merge_spans(files)) != wanted:
        raise TaskError(
            FailureCode.WRITE_FAILED,
            f"bad records are {wanted}, read again they are {actual}",
        )


def merge_raw(
    session: SparkSession,
    files: tuple[DataFile, ...],
    chunks: Chunks,
    target: FileTarget,
    *,
    warehouse: Path,
    folder: Path,
    step: Step,
) -> tuple[DataFile, ...]:
    """Return files of raw records as segments, rewritten into a new `folder` if need be.

    Raises:
        TaskError: the rewritten files hold other records (WRITE_FAILED).
    """
    if not files or may_stay(files, chunks, target):
        return files
    job = Rewrite(files, (), chunks, target)

    def read(some: Sequence[DataFile]) -> DataFrame:
        return read_parquet(session, SCHEMA, (warehouse / file.path for file in some))

    paths = rewrite_with(session, job, read, ORDER, warehouse=warehouse, folder=folder)
    merged = _described(paths, warehouse, step)
    check_rewritten(files, merged)
    return merged


def combine_raw(
    session: SparkSession, paths: Sequence[str], *, warehouse: Path, folder: Path
) -> Path:
    """Write the raw records of published files into one file of a new `folder`; one Spark task."""
    rows = read_parquet(session, SCHEMA, (warehouse / path for path in paths))
    rows = rows.coalesce(1).sortWithinPartitions(*ORDER)
    rows.write.mode("append").parquet(hadoop_path(folder))
    [path] = data_paths(folder)
    return path.rename(folder / "segment-00000.parquet")


def describe_raw(path: Path, warehouse: Path, step: Step = no_step) -> DataFile:
    """Return the description of a file of raw records."""
    return describe_with(path, warehouse, spans_of_topics(path, ""), step)


def number_kept(job: MergeJob) -> int | None:
    """Return the number of bad records of a range, if it keeps all of them; else None.

    A journal that began with an earlier release has only the bad records that were read since.
    """
    if job.spec.tuning.bad_records is not BadRecords.QUARANTINE:
        return None
    numbers = [(entry.counters.unparseable, total_rows(entry.quarantine)) for entry in job.entries]
    return sum(kept for _, kept in numbers) if all(bad == kept for bad, kept in numbers) else None
