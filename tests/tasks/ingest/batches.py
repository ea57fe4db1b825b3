"""What the tests of batches and merges share: jobs, and what files on disk hold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    Granularity,
    IngestSpec,
    TimestampSpec,
    Tuning,
)
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.messages import SegmentFile
from tasks.contract.offsets import TopicPartition
from tasks.ingest.engine import SparkEngine
from tasks.ports import BatchJob, DataFile, JournalEntry

COLUMNS = (Column(name="id", type="long"), Column(name="user"))


def spec_for(
    bootstrap: str,
    *,
    columns: Sequence[Column] = COLUMNS,
    granularity: Granularity = Granularity.DAY,
    segment_rows_max: int = 5_000_000,
    segment_bytes: int = 2**28,
    discovery: Discovery | None = None,
) -> IngestSpec:
    return IngestSpec(
        data_source="clicks",
        kafka=KafkaClient(bootstrap_servers=bootstrap),
        timestamp=TimestampSpec(column="t", format="millis"),
        columns=tuple(columns),
        discovery=discovery or (Discovery.NOTHING if columns else Discovery.TEXTS),
        segment_granularity=granularity,
        tuning=Tuning(segment_rows_max=segment_rows_max, segment_bytes=segment_bytes),
    )


def batch(
    spec: IngestSpec,
    topic: str,
    ranges: Mapping[int, tuple[int, int]],
    *,
    number: int = 0,
    columns: Sequence[str] = (),
    kinds: Mapping[str, int] = MappingProxyType({}),
) -> BatchJob:
    """A batch of task `task-<topic>` over `[from, to)` per partition."""
    return BatchJob(
        task_id=f"task-{topic}",
        incarnation=1,
        number=number,
        spec=spec,
        start={TopicPartition(topic, p): start for p, (start, _) in ranges.items()},
        end={TopicPartition(topic, p): end for p, (_, end) in ranges.items()},
        columns=tuple(columns),
        kinds=kinds,
    )


def record(number: int, time_ms: int = 1_700_000_000_000) -> str:
    return f'{{"t":{time_ms},"id":{number},"user":"user-{number}"}}'


def table_of(warehouse: Path, files: Sequence[DataFile | SegmentFile]) -> pa.Table:
    tables = [pq.read_table(warehouse / file.path, partitioning=None) for file in files]
    return pa.concat_tables(tables, promote_options="default")


def places_of(warehouse: Path, files: Sequence[DataFile]) -> Counter[tuple[int, int]]:
    """Every row's (partition, offset), with how often it is there."""
    table = table_of(warehouse, files).select(["__partition", "__offset"])
    return Counter((row["__partition"], row["__offset"]) for row in table.to_pylist())


def rejected(warehouse: Path, entry: JournalEntry) -> list[tuple[int, int, int, str]]:
    """(partition, first, last, reason) of an entry's rejects file."""
    if entry.rejects is None:
        return []
    rows = pq.read_table(warehouse / entry.rejects.path).to_pylist()
    return [(row["partition"], row["first"], row["last"], row["reason"]) for row in rows]


def paths_below(warehouse: Path) -> set[str]:
    return {str(p.relative_to(warehouse)) for p in warehouse.rglob("*") if p.is_file()}


def read_in(
    engine: SparkEngine, spec: IngestSpec, topic: str, bounds: Sequence[int]
) -> tuple[JournalEntry, ...]:
    """Read partition 0 in batches from bound to bound."""
    entries: list[JournalEntry] = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        known = entries[-1].columns if entries else ()
        job = batch(spec, topic, {0: (start, end)}, number=number, columns=known)
        entries.append(engine.read_batch(job))
    return tuple(entries)
