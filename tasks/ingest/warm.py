"""Warm-up: a first batch and a first merge on generated records, before those of users.

A JVM that has just started takes five seconds for work that later takes half a second.
"""

import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from tasks.contract.ingest_spec import Column, Granularity, RowSpec
from tasks.contract.offsets import TopicPartition
from tasks.ingest.decode.chunks import Chunks
from tasks.ingest.decode.decode import decode
from tasks.ingest.formats.parse import reasons_of
from tasks.ingest.merge.merge import Rewrite, rewrite
from tasks.ingest.merge.sizes import FileTarget
from tasks.ingest.write.files import data_paths, describe
from tasks.ingest.write.write import write_rows

_ROUNDS = 3
_ROWS = 2_000
_BYTES = 1_000_000


def warm_up(session: SparkSession, folder: Path) -> None:
    """Write, check and merge `_ROUNDS` generated batches below `folder`, then remove it."""
    shutil.rmtree(folder, ignore_errors=True)
    partition, spec = TopicPartition("warm", 0), RowSpec()
    columns = (Column(name="a", type="long"), Column(name="b", type="double"), Column(name="c"))
    record = (
        "CASE WHEN id % 100 = 0 THEN 'x' ELSE concat('{\"timestamp\":', 1700000000000 + id, "
        '\',"a":\', id, \',"b":0.5,"c":"\', id, \'"}\') END'
    )
    try:
        files = []
        for number in range(_ROUNDS):
            records = session.range(_ROWS).selectExpr(
                "0 AS p", "id AS o", f"CAST({record} AS BINARY) AS v"
            )
            judged = decode(records, spec, columns, known=())
            into = folder / str(number)
            write_rows(
                judged,
                columns,
                into,
                start={partition: 0},
                files_max=1,
                reasons=reasons_of(spec),
                digested=range(len(columns)),
            )
            described = [describe(path, folder, partition.topic) for path in data_paths(into)]
            files += [file for file in described if file is not None]
        work = Rewrite(tuple(files), columns, Chunks(Granularity.HOUR), FileTarget(_ROWS, _BYTES))
        rewrite(session, work, warehouse=folder, folder=folder / "merged")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
