"""Concatenation of Parquet files by their row groups: nothing is decoded, sorted or encoded anew.

    files of a batch that are large, sorted, of one time chunk ─┐
      and have the schema of a rewritten one                    │
    the others ──► rewritten, sorted (`merge`) ─────────────────┴─ per chunk ─► few large files

So the files of a catch-up are written once and copied once, at the speed of the disk.  Pages are
copied unchanged, so all of them must fit the one schema of the new footer: in their types, and in
which columns may be null.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tasks.contract.messages import FailureCode
from tasks.ingest.merge.merge import Rewrite, layout_of, rewrite
from tasks.ingest.merge.sizes import is_part, packed
from tasks.ingest.write.files import Step, describe, no_step
from tasks.ports import DataFile, TaskError
from tasks.spark.paths import hadoop_path

_ROW_GROUP_BYTES = 128 * 1024 * 1024
_PADDING_BYTES_MAX = 8 * 1024 * 1024
_INDEX_CHARS = 64
"""Parquet's own defaults; they concern blocks of HDFS and new pages, and here are neither."""


def put_together(
    session: SparkSession,
    job: Rewrite,
    alike: Collection[str],
    *,
    topic: str,
    warehouse: Path,
    folder: Path,
    step: Step,
) -> tuple[DataFile, ...]:
    """Return few files with all rows; new files lie in `folder`, each in one time chunk.

    `alike` are the paths of the files that have exactly the columns of `job`.  `topic` is the
    topic of the rows, unless they name their own.  `step` is called for each copied file, and
    while its digest is computed.
    """
    layout = layout_of(job.columns, topics=job.topics)
    parts = [
        file
        for file in job.files
        if file.path in alike
        and is_part(file, job.chunks, job.target)
        and pq.read_schema(warehouse / file.path).equals(layout)  # older workers' differ
    ]
    others = tuple(file for file in job.files if file not in parts)
    if others:
        written = rewrite(session, replace(job, files=others), warehouse=warehouse, folder=folder)
        described = [describe(path, warehouse, topic, step) for path in written]
        parts += [file for file in described if file is not None]
    else:
        folder.mkdir()
    whole: list[DataFile] = []
    for number, group in enumerate(packed(parts, job.chunks, job.target)):
        if len(group) == 1:
            whole += group
            continue
        path = folder / f"whole-{number:05d}.parquet"
        append(session, [warehouse / file.path for file in group], path, step)
        file = describe(path, warehouse, topic, step)
        assert file is not None, "it has the rows of several"
        whole.append(file)
        for part in (warehouse / file.path for file in group):
            if part.parent == folder:
                part.unlink()
    return tuple(whole)


def append(session: SparkSession, paths: Sequence[Path], into: Path, step: Step = no_step) -> None:
    """Copy the row groups of files with one schema into a new file, one after the other.

    Raises:
        Py4JJavaError: a file cannot be read or written.
        TaskError: the files have several schemas (INTERNAL), which the writer would not notice.

    Source: `ParquetFileWriter.appendFile` of parquet-java, which Spark ships.
    """
    jvm = session.sparkContext._jvm  # noqa: SLF001 -- no API of PySpark does it
    assert jvm is not None, "the session runs"
    parquet, path_of = jvm.org.apache.parquet.hadoop, jvm.org.apache.hadoop.fs.Path
    conf = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 -- as above
    located = [path_of(hadoop_path(path)) for path in (*paths, into)]
    inputs = [parquet.util.HadoopInputFile.fromPath(path, conf) for path in located[:-1]]
    metas = []
    for each in inputs:
        reader = parquet.ParquetFileReader.open(each)
        metas.append(reader.getFileMetaData())  # only the footer is ever read
        reader.close()
    schema = metas[0].getSchema()
    for path, meta in zip(paths, metas, strict=True):
        if not meta.getSchema().equals(schema):
            why = f"{path} has {meta.getSchema()}, others have {schema}"
            raise TaskError(FailureCode.INTERNAL, why)
    writer = parquet.ParquetFileWriter(
        parquet.util.HadoopOutputFile.fromPath(located[-1], conf),
        schema,
        getattr(parquet, "ParquetFileWriter$Mode").CREATE,
        _ROW_GROUP_BYTES,
        _PADDING_BYTES_MAX,
        _INDEX_CHARS,
        2**31 - 1,  # statistics are copied whole, too
        True,
    )
    try:
        writer.start()
        for each in inputs:
            step()
            writer.appendFile(each)
        writer.end(metas[0].getKeyValueMetaData())
    finally:
        writer.close()  # a full disk would leave it open
