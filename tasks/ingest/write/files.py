"""Parquet files on disk: their footers, and their durability.

    written ──► read the footer ──► fsync the file ──► size, digest ──► fsync the folders

Spark's local writes sync nothing by themselves (rule P20).
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.contract.ingest_spec import DEFAULT_FORMAT, FileFormat
from tasks.contract.messages import FailureCode, OffsetSpan
from tasks.durable_files import make_folder
from tasks.ports import DataFile, TaskError

_CHUNK_BYTES = 1 << 20
_README = "README.txt"
_README_TEXT = """\
Only the published list of files is this table.

Files below data/ are written in their final place before they are published: a file here may be
unpublished, may be a replica's second copy of the same records, or may be about to be deleted.
Ask Tidegate for the list (GET /api/v1/datasources/<name>/files, or `tidegate query`), and never
read the folder by a pattern such as data/**/*.parquet.
"""


Step = Callable[[], None]
"""Called when work outside Spark jobs, which may take minutes, goes on; its error ends the work."""


@dataclass(frozen=True)
class Digest:
    """Size in bytes and SHA-256 of a file."""

    size_bytes: int
    sha256: str


def local_folder(warehouse: str) -> Path:
    """Return the warehouse's folder.

    Raises:
        TaskError: the warehouse is a URL other than `file:` (not supported yet).
    """
    scheme, colon, rest = warehouse.partition("://")
    if not colon:
        return Path(warehouse).absolute()
    if scheme != "file":
        raise TaskError(
            FailureCode.WRITE_FAILED,
            f"warehouse {warehouse!r}: only a local folder is built yet, no {scheme} store",
        )
    return Path(rest).absolute()


def prepare_folder(warehouse: Path, data_source: str, task_id: str) -> Path:
    """Create `<warehouse>/<data source>/data/<task>` and return it; its README is written once."""
    folder = warehouse / data_source / "data" / task_id
    make_folder(warehouse)  # the fsyncs of a batch go up to it, and no further
    folder.mkdir(parents=True, exist_ok=True)
    readme = warehouse / data_source / _README
    if not readme.exists():
        half = readme.with_name(f".{_README}.{task_id}")
        half.write_text(_README_TEXT)
        half.replace(readme)  # two tasks may write it at once: both write the same, whole file
    return folder


def remove_folder(folder: Path) -> None:
    """Delete a folder that no journal names, if it exists."""
    if folder.exists():
        shutil.rmtree(folder)


def no_step() -> None:
    """Do nothing."""


def describe(path: Path, warehouse: Path, topic: str, step: Step = no_step) -> DataFile | None:
    """Sync and describe one Parquet file; a file without rows is deleted, and the result is None.

    `topic` is the topic of its rows, unless they name their own.
    """
    if drop_if_empty(path):
        return None
    return describe_with(path, warehouse, _spans(path, pq.read_metadata(path), topic), step)


def drop_if_empty(path: Path) -> bool:
    """Delete a Parquet file without rows; return whether it was deleted."""
    empty = bool(pq.read_metadata(path).num_rows == 0)
    if empty:
        path.unlink()
    return empty


def describe_with(
    path: Path, warehouse: Path, spans: tuple[OffsetSpan, ...], step: Step = no_step
) -> DataFile:
    """Sync one Parquet file with rows; describe it as standing for `spans`."""
    footer = pq.read_metadata(path)
    low, high = _instants(path, footer)
    digest = sync_file(path, step)
    return DataFile(
        path=path.relative_to(warehouse).as_posix(),
        rows=footer.num_rows,
        size_bytes=digest.size_bytes,
        sha256=digest.sha256,
        time_min=low,
        time_max=high,
        spans=spans,
    )


def sync_file(path: Path, step: Step = no_step) -> Digest:
    """Make a file's content durable and return its size and digest."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return _digest(file, step)


def digest_of(path: Path, step: Step = no_step) -> Digest:
    """Return the size and digest of a durable file."""
    with path.open("rb") as file:
        return _digest(file, step)


def _digest(file: BufferedReader, step: Step) -> Digest:
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK_BYTES):
        digest.update(chunk)
        step()
    return Digest(file.tell(), digest.hexdigest())


def sync_folders(folder: Path, warehouse: Path) -> None:
    """Make the entries of `folder`, and of its parents up to the warehouse, durable.

    All folders each time: an earlier attempt may have created one without a sync.
    """
    for path in (folder, *folder.parents):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if path == warehouse:
            return


def parquet_options(wanted: FileFormat) -> dict[str, str]:
    """Return the options of Spark's writer; only those that differ from its defaults."""
    options: dict[str, str] = {}
    if not wanted.compressed:
        options["compression"] = "uncompressed"
    elif wanted.zstd_level != DEFAULT_FORMAT.zstd_level:
        options["parquet.compression.codec.zstd.level"] = str(wanted.zstd_level)
    if not wanted.dictionary:
        options["parquet.enable.dictionary"] = "false"
    # Parquet's option takes the path of a leaf: for a list that of its elements.
    leaves = (leaf for column in wanted.plain for leaf in (column, f"{column}.list.element"))
    return options | {f"parquet.enable.dictionary#{leaf}": "false" for leaf in leaves}


def data_paths(folder: Path) -> list[Path]:
    """Return the Parquet files that Spark wrote into `folder`, sorted by name."""
    return sorted(folder.glob("part-*.parquet"))


def total_rows(files: Iterable[DataFile]) -> int:
    """Count the rows of files."""
    return sum(file.rows for file in files)


def _bounds(path: Path, footer: pq.FileMetaData, column: str) -> tuple[object, object]:
    """Return least and greatest value of a column, from the footer if it has them."""
    index = footer.schema.names.index(column)
    found = [footer.row_group(g).column(index).statistics for g in range(footer.num_row_groups)]
    if all(statistics is not None and statistics.has_min_max for statistics in found):
        return min(s.min for s in found), max(s.max for s in found)
    values = pq.read_table(path, columns=[column], partitioning=None)[column]
    bounds = pc.min_max(values).as_py()
    return bounds["min"], bounds["max"]


def _instants(path: Path, footer: pq.FileMetaData) -> tuple[datetime, datetime]:
    low, high = _bounds(path, footer, "__time")
    assert isinstance(low, datetime)
    assert isinstance(high, datetime)
    return low.astimezone(UTC), high.astimezone(UTC)


def _spans(path: Path, footer: pq.FileMetaData, topic: str) -> tuple[OffsetSpan, ...]:
    if "__topic" in footer.schema.names:
        return spans_of_topics(path)
    low, high = _bounds(path, footer, "__partition")
    if low == high:
        first, last = _bounds(path, footer, "__offset")
        whole = {"partition": low, "first": first, "last": last, "rows": footer.num_rows}
        return (OffsetSpan.model_validate({"topic": topic, **whole}),)
    table = pq.read_table(path, columns=["__partition", "__offset"], partitioning=None)
    grouped = table.group_by("__partition").aggregate(
        [("__offset", "min"), ("__offset", "max"), ("__offset", "count")]
    )
    return tuple(
        OffsetSpan(
            topic=topic,
            partition=row["__partition"],
            first=row["__offset_min"],
            last=row["__offset_max"],
            rows=row["__offset_count"],
        )
        for row in sorted(grouped.to_pylist(), key=lambda row: row["__partition"])
    )


def spans_of_topics(path: Path, prefix: str = "__") -> tuple[OffsetSpan, ...]:
    """Return the offsets that the rows name; `prefix` begins the names of those columns."""
    topic, partition, offset = (f"{prefix}{name}" for name in ("topic", "partition", "offset"))
    table = pq.read_table(path, columns=[topic, partition, offset], partitioning=None)
    grouped = table.group_by([topic, partition]).aggregate(
        [(offset, "min"), (offset, "max"), (offset, "count")]
    )
    return tuple(
        OffsetSpan(
            topic=row[topic],
            partition=row[partition],
            first=row[f"{offset}_min"],
            last=row[f"{offset}_max"],
            rows=row[f"{offset}_count"],
        )
        for row in sorted(grouped.to_pylist(), key=lambda row: (row[topic], row[partition]))
    )
