"""The engine of a worker: `tasks.ports.Engine` on one Spark application and a local warehouse.

    <warehouse>/<data source>/data/<task>/b<number>-<incarnation>/part-….parquet   a batch
                                                                 /rejects.parquet
                                         /m<incarnation>/segment-….parquet         a merge
                                         /rejects-<incarnation>.parquet

A folder is removed before it is written: what lies there was left by a crash, and no journal
names it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tasks.contract import Column, Counters, FailureCode, IngestSpec, RejectsFile
from tasks.ingest import files as disk
from tasks.ingest.decode import OWN_COLUMNS, RejectReason, decode
from tasks.ingest.failures import judge
from tasks.ingest.jobs import Jobs, Run
from tasks.ingest.merge import Rewrite, as_segment, check_rewritten, may_stay, rewrite
from tasks.ingest.observed import Observed
from tasks.ingest.rejects import Run as RejectRun
from tasks.ingest.rejects import as_runs, joined, read_rejects, write_rejects
from tasks.ingest.source import peek_keys, read_range
from tasks.ingest.write import ROWS_PER_FILE, check_rows, write_rows
from tasks.kafka_client import ReadSecret, java_properties
from tasks.offsets import Offsets, count
from tasks.ports import (
    BatchCancelled,
    BatchJob,
    DataFile,
    JournalEntry,
    MergeJob,
    MergeResult,
    StreamUnavailable,
    TaskError,
)
from tasks.spark_session import FINISHING_POOL, LIVE_POOL, SparkRuntime

COLUMNS_MAX = 1_000
"""A discovered table has no more columns; further keys are counted as errors of their rows."""
