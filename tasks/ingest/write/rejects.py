"""The rejects file: every offset that a range read and that became no row (rule P25).

One Parquet row stands for a run of consecutive offsets of one partition with one reason.  Offsets
that Kafka itself hides (aborted records, transaction markers, compacted ones) are in neither file.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.contract.messages import RejectsFile
from tasks.ingest.decode.observed import Reject
from tasks.ingest.write.files import sync_file

SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("first", pa.int64(), nullable=False),
        pa.field("last", pa.int64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""`first` and `last` are inclusive."""

Run = tuple[str, int, int, int, str]
"""(topic, partition, first, last, reason): one row of the file."""


def as_runs(rejects: Iterable[Reject]) -> list[Run]:
    """Compress rejects into runs, sorted."""
    each = [
        (r.partition.topic, r.partition.partition, r.offset, r.offset, r.reason.value)
        for r in rejects
    ]
    return joined(each)


def joined(runs: Iterable[Run]) -> list[Run]:
    """Sort runs and join adjacent ones."""
    merged: list[Run] = []
    for run in sorted(runs):
        topic, partition, first, last, reason = run
        if merged:
            *where, begun, ended, why = merged[-1]
            if (*where, ended + 1, why) == (topic, partition, first, reason):
                merged[-1] = (topic, partition, begun, last, reason)
                continue
        merged.append(run)
    return merged


def write_rejects(
    runs: Sequence[Run], path: Path, warehouse: Path, quarantined: int | None = None
) -> RejectsFile | None:
    """Write and sync the file; without rejects write no file and return None."""
    if not runs:
        return None
    columns = list(zip(*runs, strict=True))
    table = pa.table(
        {field.name: pa.array(columns[n], field.type) for n, field in enumerate(SCHEMA)},
        schema=SCHEMA,
    )
    pq.write_table(table, path, compression="zstd")
    digest = sync_file(path)
    return RejectsFile(
        path=path.relative_to(warehouse).as_posix(),
        records=sum(last - first + 1 for _, _, first, last, _ in runs),
        size_bytes=digest.size_bytes,
        sha256=digest.sha256,
        quarantined=quarantined,
    )


def read_rejects(path: Path) -> list[Run]:
    """Read the runs of a rejects file."""
    table = pq.read_table(path, schema=SCHEMA, partitioning=None)
    columns = [table[field.name].to_pylist() for field in SCHEMA]
    return list(zip(*columns, strict=True))
