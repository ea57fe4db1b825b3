"""The product's engine on a real disk, without a JVM: only what Spark writes is written here.

Folders, footers, digests, fsyncs, rejects, the order of all that and what stays after a failure
are the product's own.  Every tenth record is a reject.
"""

from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.contract.offsets import TopicPartition, count
from tasks.ingest.decode.observed import Kept, ObservedRecords, Reject
from tasks.ingest.engine import SparkEngine
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import Schemas
from tasks.ingest.merge import append as product
from tasks.ingest.merge.compaction import CompactionJob
from tasks.ingest.merge.merge import Rewrite
from tasks.ports import BatchJob
from tasks.rows.discovery import ColumnKinds
from tasks.spark.session import SparkRuntime
from tests.tasks.bits import places
from tests.tasks.memory import NOON

_MERGES = "rewrite"


class _NoSpark:
    """What an engine asks of a runtime when no job runs."""

    session = None
    work_dir = Path()

    @property
    def context(self) -> "_NoSpark":
        return self

    @property
    def parser_memory(self) -> "_NoSpark":
        return self

    @property
    def _jsc(self) -> "_NoSpark":
        return self

    def sc(self) -> "_NoSpark":
        return self

    def cancelJobGroupAndFutureJobs(self, group: str) -> None:  # noqa: N802 -- Spark's name
        """Nothing runs of it but what sees by itself that it is cancelled."""

    def bound(self) -> None:
        """Nothing is parsed."""

    def alive(self) -> bool:
        return False

    def setLocalProperty(self, key: str, value: str | None) -> None:  # noqa: N802 -- Spark's name
        """Take it."""

    def setJobGroup(self, group: str, text: str, *, interruptOnCancel: bool) -> None:  # noqa: N802, N803 -- Spark's names
        """Take it."""


class PlainEngine(SparkEngine):
    """Reads the offsets themselves: record n of a partition is the number n."""

    def __init__(self, warehouse: Path, *, text_bytes: int = 0) -> None:
        """`text_bytes` makes rows larger."""
        super().__init__(cast("SparkRuntime", _NoSpark()), str(warehouse), lambda _: "")
        self._text = "x" * text_bytes
        setattr(product, _MERGES, _rewrite)  # the same, without a session

    def _write(
        self,
        job: BatchJob,
        _span: object,
        _found: ColumnKinds,
        folder: Path,
        *,
        schemas: Schemas,  # noqa: ARG002 -- this engine reads JSON alone
    ) -> ObservedRecords:
        folder.mkdir()
        kept, rejects = {}, []
        for partition in sorted(job.start):
            offsets = list(range(job.start[partition], job.end[partition]))
            rows = [offset for offset in offsets if offset % 10]
            rejects += [
                Reject(partition, offset, RejectReason.NULL_VALUE)
                for offset in offsets
                if offset % 10 == 0
            ]
            if rows:
                self._write_file(folder, partition, rows)
                kept[partition] = Kept(len(rows), rows[0], rows[-1])
        records = count(job.start, job.end)
        bits = places(job.start, job.end)
        return ObservedRecords(records, records * 10, 0, kept, tuple(rejects), (), (), digest=bits)

    def _combined(self, work: CompactionJob, folder: Path) -> Path:
        tables = [
            _named(pq.read_table(self._warehouse / path, partitioning=None), shape.topic)
            for shape, paths in work.shapes.items()
            for path in paths
        ]
        whole = pa.concat_tables(tables, promote_options="permissive")
        path = folder / "segment-00000.parquet"
        pq.write_table(whole.sort_by([(name, "ascending") for name in work.order]), path)
        return path

    def _write_file(self, folder: Path, partition: TopicPartition, rows: list[int]) -> None:
        table = pa.table(
            {
                "__time": pa.array([NOON] * len(rows), pa.timestamp("us", tz="UTC")),
                "text": pa.array([f"{self._text}{offset}" for offset in rows]),
                "__partition": pa.array([partition.partition] * len(rows), pa.int32()),
                "__offset": pa.array(rows, pa.int64()),
            }
        )
        path = folder / f"part-{partition.partition}.parquet"
        pq.write_table(table, path, compression="none", use_dictionary=False)


def _named(table: pa.Table, topic: str | None) -> pa.Table:
    if topic is None:
        return table
    return table.append_column("__topic", pa.array([topic] * table.num_rows, pa.string()))


def _rewrite(_session: object, job: Rewrite, *, warehouse: Path, folder: Path) -> list[Path]:
    folder.mkdir()
    tables = [pq.read_table(warehouse / file.path, partitioning=None) for file in job.files]
    written = folder / "part-0.parquet"
    pq.write_table(pa.concat_tables(tables), written, compression="none", use_dictionary=False)
    return [written.rename(folder / "segment-00000.parquet")]
