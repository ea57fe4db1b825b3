"""Writing of judged rows to Parquet, with counts from the same pass and a check of the files.

A batch counts only if its write returned normally *and* the observation agrees with the files
(rule P21): after a cancelled job an observation is empty, without an error.
"""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as fn

from tasks.contract.ingest_spec import DEFAULT_FORMAT, Column, FileFormat
from tasks.contract.messages import FailureCode, SegmentFile
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.ingest.decode.observed import (
    METRIC,
    Kept,
    ObservedRecords,
    metric_sql,
    read_metric,
    seen_sql,
)
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.spark.jobs import await_metric
from tasks.ingest.spark.partition_index import partition_sql, topic_sql
from tasks.ingest.spark.sql import IS_ROW, extra_columns_of
from tasks.ingest.write.files import parquet_options
from tasks.ports import DataFile, TaskError
from tasks.rows.sql.text import name
from tasks.spark.paths import hadoop_path

ROWS_PER_FILE = 100_000
"""A batch has one more file for each so many records, up to one file per reading task."""


def write_rows(
    judged: DataFrame,
    columns: Sequence[Column],
    folder: Path,
    *,
    start: Offsets,
    files_max: int,
    reasons: Sequence[RejectReason],
    topics: bool = False,
    form: FileFormat = DEFAULT_FORMAT,
    digested: Sequence[int] = (),
    order: Sequence[str] = (),
) -> ObservedRecords:
    """Write the rows of `decode`'s frame into a new `folder` and return the observations.

    Files have `__time`, the columns in order, `__partition`, `__offset`, and with `topics`
    `__topic`; by its type each column may be null.  Records that became no row for one of
    `reasons` are sampled.  `digested` are the numbers of the columns in the digest.  Each file is
    sorted by `order`, SQL.  Runs one Spark job.
    """
    observation = Observation()
    held = judged.columns
    metric = metric_sql(start, extra_columns_of(held), reasons)
    rows = (
        judged.selectExpr(*seen_sql(held, start, digested))
        .observe(observation, fn.expr(metric))
        .where(IS_ROW)
        .selectExpr(
            _optional("t", "__time"),
            *(_optional(f"c{number}", column.name) for number, column in enumerate(columns)),
            _optional(f"CAST({partition_sql(start)} AS INT)", "__partition"),
            _optional("CAST(o AS BIGINT)", "__offset"),
            *([_optional(topic_sql(start), "__topic")] if topics else []),
        )
        .coalesce(files_max)
    )
    if order:
        rows = rows.sortWithinPartitions(*order)
    # The folder is new.  Still "append", because a late task of a cancelled try may have created it
    # again a moment ago.  The check against the observation decides in any case.
    rows.write.mode("append").options(**parquet_options(form)).parquet(hadoop_path(folder))
    return read_metric(await_metric(observation, METRIC), start, reasons)


def _optional(sql: str, column: str) -> str:
    """Make Spark treat a column as nullable; return its SQL.

    Spark writes a column as REQUIRED if it can prove that it has no null (a count, a constant), but
    as OPTIONAL after a re-read.  Pages of both kinds cannot share a schema.
    """
    return f"CASE WHEN {IS_ROW} THEN {sql} END AS {name(column)}"


def check_rows(
    observed: ObservedRecords, files: Sequence[DataFile], start: Offsets, end: Offsets
) -> None:
    """Check that files and observation agree, and only have offsets in `[start, end)`.

    Raises:
        TaskError: they differ; the batch must not count (WRITE_FAILED).
    """
    written = merge_spans(files)
    if written != observed.kept:
        raise TaskError(
            FailureCode.WRITE_FAILED,
            f"the files hold {written}, but the job observed {observed.kept}",
        )
    bounds = [(p, offset) for p, kept in written.items() for offset in (kept.first, kept.last)]
    seen = bounds + [(reject.partition, reject.offset) for reject in observed.rejects]
    outside = [(p, offset) for p, offset in seen if not start[p] <= offset < end[p]]
    if outside:
        raise TaskError(FailureCode.READ_FAILED, f"offsets outside the range: {outside[:5]}")
    if observed.records != observed.rows + len(observed.rejects):
        raise TaskError(
            FailureCode.READ_FAILED,
            f"{observed.records} records, but {observed.rows} rows "
            f"and {len(observed.rejects)} rejects",
        )


def merge_spans(files: Sequence[DataFile | SegmentFile]) -> dict[TopicPartition, Kept]:
    """Return, per partition, the rows and offset bounds over all files."""
    kept: dict[TopicPartition, Kept] = {}
    for span in (span for file in files for span in file.spans):
        partition = TopicPartition(span.topic, span.partition)
        here = Kept(span.rows, span.first, span.last)
        if (before := kept.get(partition)) is not None:
            first, last = min(before.first, here.first), max(before.last, here.last)
            here = Kept(before.rows + here.rows, first, last)
        kept[partition] = here
    return kept
