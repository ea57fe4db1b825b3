"""Parquet files put together by their row groups: nothing is decoded, sorted or coded anew.

    files of a batch that are large, sorted, of one time chunk ─┐
    the others ──► rewritten, sorted (`merge`) ─────────────────┴─ per chunk ─► few large files

So what a catch-up has read is written once and copied once, at the speed of the disk.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from tasks.ingest.files import describe
from tasks.ingest.merge import Rewrite, rewrite
from tasks.ingest.sizes import is_part, packed
from tasks.ports import DataFile

_ROW_GROUP_BYTES = 128 * 1024 * 1024
_PADDING_BYTES_MAX = 8 * 1024 * 1024
_INDEX_CHARS = 64
"""As Parquet's own defaults are; of blocks of HDFS, and of what is written anew: nothing is."""


def put_together(
    session: SparkSession,
    job: Rewrite,
    alike: Collection[str],
    *,
    topic: str,
    warehouse: Path,
    folder: Path,
) -> tuple[DataFile, ...]:
    """Return few files with the rows of all; new ones lie in `folder`, each in one chunk.

    `alike` are the paths of the files that have exactly the columns of `job`.  `topic` is that of
    the rows, unless they name their own.
    """
    parts = [f for f in job.files if f.path in alike and is_part(f, job.chunks, job.target)]
    others = tuple(file for file in job.files if file not in parts)
    if others:
        written = rewrite(session, replace(job, files=others), warehouse=warehouse, folder=folder)
        described = [describe(path, warehouse, topic) for path in written]
        parts += [file for file in described if file is not None]
    else:
        folder.mkdir()
    whole: list[DataFile] = []
    for number, group in enumerate(packed(parts, job.chunks, job.target)):
        if len(group) == 1:
            whole += group
            continue
        path = folder / f"whole-{number:05d}.parquet"
        append(session, [warehouse / file.path for file in group], path)
        file = describe(path, warehouse, topic)
        assert file is not None, "it has the rows of several"
        whole.append(file)
        for part in (warehouse / file.path for file in group):
            if part.parent == folder:
                part.unlink()
    return tuple(whole)


def append(session: SparkSession, paths: Sequence[Path], into: Path) -> None:
    """Copy the row groups of files with one schema into a new file, one after the other.

    Raises:
        Py4JJavaError: a file cannot be read or written, or its schema is another.

    Source: `ParquetFileWriter.appendFile` of parquet-java, which Spark ships.
    """
    jvm = session.sparkContext._jvm  # noqa: SLF001 -- no API of PySpark does it
    assert jvm is not None, "the session runs"
    parquet, path_of = jvm.org.apache.parquet.hadoop, jvm.org.apache.hadoop.fs.Path
    conf = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 -- as above
    inputs = [parquet.util.HadoopInputFile.fromPath(path_of(path.as_uri()), conf) for path in paths]
    first = parquet.ParquetFileReader.open(inputs[0])
    try:
        meta = first.getFooter().getFileMetaData()
    finally:
        first.close()
    writer = parquet.ParquetFileWriter(
        parquet.util.HadoopOutputFile.fromPath(path_of(into.as_uri()), conf),
        meta.getSchema(),
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
            writer.appendFile(each)
        writer.end(meta.getKeyValueMetaData())
    finally:
        writer.close()  # a full disk would leave it open
