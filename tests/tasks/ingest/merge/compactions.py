"""What the tests of compactions share: published files, and orders to rewrite them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.contract.ingest_spec import Column
from tasks.contract.messages import CompactionInput, DesiredCompaction, SegmentFile
from tasks.ingest.merge.merge import segment_in
from tasks.ingest.merge.quarantine import describe_raw
from tasks.ingest.write.files import describe
from tasks.rows.discovery import common

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
HOUR = (NOON, NOON + timedelta(hours=1))
ID = "compaction-1"
Row = dict[str, object]

_TYPES = {
    "string": pa.string(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "json": pa.string(),
    "array<long>": pa.list_(pa.int64()),
    "array<double>": pa.list_(pa.float64()),
    "array<string>": pa.list_(pa.string()),
}


def at(second: int) -> datetime:
    return NOON + timedelta(seconds=second)


def published(
    warehouse: Path,
    number: int,
    rows: Sequence[Row],
    columns: Mapping[str, str],
    *,
    topic: str = "clicks",
) -> CompactionInput:
    """Write a published file of one hour; rows that name a topic are written with `__topic`.

    Rows are `__time`, values by column, `__partition` and `__offset`.
    """
    path = warehouse / f"clicks/data/task-{number}/segment-00000.parquet"
    path.parent.mkdir(parents=True)
    own = {"__partition": pa.int32(), "__offset": pa.int64(), "__topic": pa.string()}
    held = {n: kind for n, kind in own.items() if n in rows[0]}
    stored = {name: _TYPES[kind] for name, kind in columns.items()}
    schema = pa.schema({"__time": pa.timestamp("us", tz="UTC"), **stored, **held})
    pq.write_table(pa.Table.from_pylist(list(rows), schema), path)
    file = describe(path, warehouse, topic)
    assert file is not None
    declared = tuple(
        Column.model_validate({"name": n, "type": kind}) for n, kind in columns.items()
    )
    return CompactionInput(file=segment_in(file, HOUR), columns=declared)


_HEADER = pa.struct({"key": pa.string(), "value": pa.binary()})
_RAW = pa.schema(
    {
        "__time": pa.timestamp("us", tz="UTC"),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "reason": pa.string(),
        "key": pa.binary(),
        "value": pa.binary(),
        "headers": pa.list_(_HEADER),
    }
)


def raw_published(warehouse: Path, number: int, places: Sequence[tuple[int, int]]) -> SegmentFile:
    """Write a published file of raw records, by partition and offset."""
    path = warehouse / f"clicks/data/task-{number}/errors/segment-00000.parquet"
    path.parent.mkdir(parents=True)
    rows = [
        {
            "__time": at(offset),
            "topic": "clicks",
            "partition": partition,
            "offset": offset,
            "reason": "not-json",
            "key": None if offset % 2 else b"\xff",
            "value": b"broken %d" % offset,
            "headers": [{"key": "h", "value": b"\x00"}] if offset % 3 else None,
        }
        for partition, offset in places
    ]
    pq.write_table(pa.Table.from_pylist(rows, _RAW), path)
    return segment_in(describe_raw(path, warehouse), HOUR)


def raw_order_of(*files: SegmentFile) -> DesiredCompaction:
    """The order that an overlord would give for an errors table."""
    return order_of().model_copy(
        update={
            "data_source": "clicks__errors",
            "inputs": tuple(CompactionInput(file=file, columns=()) for file in files),
            "raw": True,
        }
    )


def order_of(*inputs: CompactionInput, compaction_id: str = ID) -> DesiredCompaction:
    """The order that an overlord would give."""
    return DesiredCompaction(
        compaction_id=compaction_id,
        token=f"token of {compaction_id}",
        data_source="clicks",
        inputs=inputs,
        columns=common(some.columns for some in inputs),
    )


def rows_in(warehouse: Path, *files: SegmentFile) -> list[Row]:
    """Every row of files, in their order."""
    tables = (pq.read_table(warehouse / file.path, partitioning=None) for file in files)
    return [row for table in tables for row in table.to_pylist()]


def bag(rows: Sequence[Row]) -> Counter[str]:
    """Rows as a multiset, whatever the order of their columns; a null is as good as no column."""
    texts = (sorted((k, repr(v)) for k, v in row.items() if v is not None) for row in rows)
    return Counter(map(str, texts))


def folders_below(warehouse: Path) -> set[str]:
    """The folders of tasks and compactions."""
    return {path.name for path in (warehouse / "clicks" / "data").iterdir()}
