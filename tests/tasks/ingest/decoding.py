"""What the tests of decoding share: records that never were in Kafka, and what becomes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from types import MappingProxyType
from typing import cast

import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import Column, RowSpec
from tasks.ingest.decode.decode import decode
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import NO_SCHEMAS, Schemas
from tasks.spark.session import SparkRuntime

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TOPIC = "clicks"

Row = dict[str, object]
_folders = count(1)


@dataclass(frozen=True)
class Record:
    """What Kafka would hold of one record."""

    value: bytes | None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] | None = None
    millis: int = int(NOON.timestamp() * 1000)


@dataclass(frozen=True)
class Decoded:
    """One record's row, or why it is none."""

    reason: str | None
    time: datetime | None
    columns: tuple[object, ...]
    bad: bool = False
    unknown: Sequence[str] | None = None


def decoded(
    spark: SparkRuntime,
    spec: RowSpec,
    records: Sequence[Record | bytes | None],
    columns: Sequence[Column | str],
    known: Sequence[str] = (),
    *,
    schemas: Schemas = NO_SCHEMAS,
    kinds: Mapping[str, int] = MappingProxyType({}),
    measures: int = 0,
) -> list[Decoded]:
    """Decode records 0, 1, … of partition 0; the result in their order.  A str is a text column.

    `kinds` are those of discovered columns; the values of so many metrics follow the columns'.
    """
    wanted = [Column(name=c) if isinstance(c, str) else c for c in columns]
    held = [r if isinstance(r, Record) else Record(r) for r in records]
    rows = [
        (0, n, _bytes(r.value), _bytes(r.key), _headers(r), r.millis, TOPIC)
        for n, r in enumerate(held)
    ]
    schema = (
        "p int, o long, v binary, _key binary, "
        "_headers array<struct<key string, value binary>>, _millis long, _topic string"
    )
    held_rows = spark.session.createDataFrame(rows, schema)
    frame = decode(held_rows, spec, wanted, known=known, schemas=schemas, kinds=kinds)
    found = rows_of(spark, frame.selectExpr("*", "unix_micros(t) AS micros").drop("t", "s"))
    assert len(found) == len(records)
    return [_decoded(row, len(wanted) + measures) for row in found]


def judged(
    spark: SparkRuntime,
    values: Sequence[bytes | None],
    *,
    columns: Sequence[Column],
    spec: RowSpec,
    known: Sequence[str] = (),
    straight: bool = True,
) -> list[Row]:
    """Decode values as the records 0, 1, … of partition 0; the rows as they are, in order."""
    rows = [(0, offset, _bytes(v)) for offset, v in enumerate(values)]
    records = spark.session.createDataFrame(rows, "p int, o long, v binary")
    frame = decode(records, spec, columns, known=known, straight=straight)
    found = rows_of(spark, frame.selectExpr("*", "unix_micros(t) AS micros").drop("t", "s"))
    assert len(found) == len(values)
    return found


def reason(row: Row) -> str | None:
    code = row["reason"]
    assert isinstance(code, int)
    return None if code == 0 else list(RejectReason)[code - 1].value


def rows_of(spark: SparkRuntime, frame: DataFrame) -> list[Row]:
    """Return the rows of a frame, in the order of `o`."""
    # Not collect(): PySpark leaves its socket to the garbage collector, which is a warning.
    folder = spark.work_dir / f"decoded-{next(_folders)}"
    frame.write.parquet(folder.as_uri())
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: int(row["o"]))


def _decoded(row: Row, columns: int) -> Decoded:
    why = reason(row)
    micros = row["micros"]
    assert micros is None or isinstance(micros, int)
    if why is not None:
        return Decoded(why, None, ())
    assert micros is not None
    return Decoded(
        reason=None,
        time=datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros),
        columns=tuple(row[f"c{n}"] for n in range(columns)),
        bad=bool(row["bad"]),
        unknown=cast("Sequence[str] | None", row.get("unknown")),
    )


def _bytes(value: bytes | None) -> bytearray | None:
    return None if value is None else bytearray(value)


def _headers(record: Record) -> list[tuple[str, bytearray | None]] | None:
    if record.headers is None:
        return None
    return [(name, _bytes(value)) for name, value in record.headers]
