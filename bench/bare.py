"""The baseline: one Spark job as anybody would write it, with nothing of ours in it.

It reads the same range, decodes JSON into the same columns and writes zstd Parquet.  It judges
no record, counts nothing, syncs and digests no file, and nothing is journaled.
"""

import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.records import Filled

SCHEMA = (
    "id STRING, time TIMESTAMP, user STRING, page STRING, country STRING, device STRING, "
    "latency_ms BIGINT, bytes BIGINT, price DOUBLE"
)
COLUMNS = ("id", "user", "page", "country", "device", "latency_ms", "bytes", "price")


def write_decoded(
    session: SparkSession, bootstrap: str, filled: Filled, rows: int, folder: Path
) -> None:
    """Read the first `rows` records of a topic, decode and write them."""
    _decoded(session, bootstrap, filled, rows).write.parquet(folder.as_uri())


def write_sorted(
    session: SparkSession, bootstrap: str, filled: Filled, rows: int, folder: Path
) -> None:
    """As `write_decoded`, into one sorted file per core, as a merge would leave them."""
    cores = session.sparkContext.defaultParallelism
    decoded = _decoded(session, bootstrap, filled, rows).coalesce(cores)
    decoded.sortWithinPartitions("__time", *COLUMNS[:3]).write.parquet(folder.as_uri())


def read(session: SparkSession, bootstrap: str, filled: Filled, rows: int) -> DataFrame:
    """Return the first `rows` records of a topic, as Spark's connector gives them."""
    ends = {str(partition): end for partition, end in filled.ends(rows).items()}
    return (
        session.read.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("assign", json.dumps({filled.topic: [int(p) for p in ends]}))
        .option("startingOffsets", json.dumps({filled.topic: dict.fromkeys(ends, 0)}))
        .option("endingOffsets", json.dumps({filled.topic: ends}))
        .load()
    )


def _decoded(session: SparkSession, bootstrap: str, filled: Filled, rows: int) -> DataFrame:
    records = read(session, bootstrap, filled, rows)
    parsed = records.selectExpr(
        f"from_json(CAST(value AS STRING), '{SCHEMA}') AS j", "partition", "offset"
    )
    columns = (f"j.{column} AS {column}" for column in COLUMNS)
    return parsed.selectExpr(
        "j.time AS __time", *columns, "partition AS __partition", "offset AS __offset"
    )
