"""Evaluates many SQL texts in one Spark job."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

import pyarrow.parquet as pq

from tasks.spark.session import SparkRuntime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_folders = count(1)


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def instant(micros_since: int) -> datetime:
    return EPOCH + micros_since * MICROSECOND


def at(text: str) -> datetime:
    """`2024-05-01T10` and the like, in UTC if it says nothing else."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def evaluated(spark: SparkRuntime, cases: Sequence[tuple[str, object]], given: str) -> list[object]:
    """Evaluate each SQL over its value, the column `x` of type `given`."""
    rules = {sql: number for number, sql in enumerate(dict.fromkeys(sql for sql, _ in cases))}
    rows = [(place, rules[sql], value) for place, (sql, value) in enumerate(cases)]
    frame = spark.session.createDataFrame(rows, f"place int, rule int, x {given}")
    chosen = " ".join(f"WHEN {number} THEN {sql}" for sql, number in rules.items())
    folder = spark.work_dir / f"evaluated-{next(_folders)}"
    # Not collect(): PySpark leaves its socket to the garbage collector, which is a warning.
    frame.selectExpr("place", f"CASE rule {chosen} END AS found").write.parquet(folder.as_uri())
    found = sorted(pq.read_table(folder).to_pylist(), key=lambda row: int(row["place"]))
    assert len(found) == len(cases)
    return [row["found"] for row in found]


def times(
    spark: SparkRuntime, cases: Sequence[tuple[str, object]], given: str
) -> list[datetime | None]:
    """Evaluate SQL of type TIMESTAMP."""
    found = evaluated(spark, [(f"unix_micros({sql})", value) for sql, value in cases], given)
    return [instant(value) if isinstance(value, int) else None for value in found]
