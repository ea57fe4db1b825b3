"""Widened copies of published files, in which columns have the present types of their table.

    <warehouse>/<table>/widened/<digest of the file's path>/<digest of the casts>.parquet

A copy is written once and atomically.  It is deleted together with the file that it is a copy of.
A half-written copy of a killed process is deleted when the next copy of that file is written.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.core.tables.exports import Cast, ExportedFile
from supervisor.core.tables.widening import cast_sql
from supervisor.core.values.errors import ExportUnavailable

_BATCH_ROWS = 64 * 1024
_HALF = ".half"
"""The suffix of a copy that is being written."""
_ARROW: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "double": pa.float64(),
        "array<double>": pa.list_(pa.float64()),
        "array<string>": pa.list_(pa.string()),
    }
)
"""Widened column type -> Arrow type; other column types become text."""


class LocalCopies:
    """See `ports.tables.exports.Copies`."""

    def __init__(self, warehouse: Path, failpoint: Callable[[str], None] = lambda _: None) -> None:
        """`reach` is called with the name of each failpoint that is passed."""
        self._warehouse = warehouse
        self._failpoint = failpoint

    def size_of(self, data_source: str, file: ExportedFile) -> int | None:
        """Return the size of a copy in bytes; None: there is no copy yet."""
        try:
            return (self._warehouse / data_source / file.path).stat().st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ExportUnavailable(f"{file.path} of {data_source}: {error}") from error

    def make(self, data_source: str, file: ExportedFile) -> int:
        """Write and sync a copy; return its size in bytes."""
        root = self._warehouse / data_source
        place = root / file.path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _drop_left(place.parent)
            self._write(root / file.source, place, file.casts)
            for folder in (place.parent, place.parent.parent, root):
                _sync(folder)
            return place.stat().st_size
        except (OSError, pa.ArrowException, duckdb.Error) as error:
            raise ExportUnavailable(f"{file.source} of {data_source}: {error}") from error

    def _write(self, source: Path, place: Path, casts: tuple[Cast, ...]) -> None:
        half = place.with_name(f"{place.name}.{uuid4().hex}{_HALF}")
        try:
            with half.open("xb") as mine:
                with suppress(OSError):  # without file locks, nobody deletes half-written copies
                    fcntl.flock(mine, fcntl.LOCK_EX)
                _cast(source, half, casts)
                _sync(half)
                self._failpoint("export:copying")
                half.replace(place)
        finally:
            half.unlink(missing_ok=True)


def _drop_left(folder: Path) -> None:
    """Delete half-written copies of killed processes; a process that still writes holds a lock."""
    for half in folder.glob(f"*{_HALF}"):
        with suppress(OSError), half.open("rb") as found:  # locked by its writer, or deleted
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            half.unlink()


def _cast(source: Path, target: Path, casts: tuple[Cast, ...]) -> None:
    with pq.ParquetFile(source) as read, _connection() as connection:
        schema = read.schema_arrow.remove_metadata()  # Spark's metadata has the types from before
        there = [cast for cast in casts if cast.name in schema.names]
        for cast in there:
            grown = pa.field(cast.name, _ARROW.get(cast.wanted, pa.string()))
            schema = schema.set(schema.get_field_index(cast.name), grown)
        with pq.ParquetWriter(target, schema, compression="zstd") as writer:
            for batch in read.iter_batches(_BATCH_ROWS):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                columns |= _grown(connection, columns, there)
                writer.write_table(pa.table(columns).cast(schema))


def _grown(
    connection: duckdb.DuckDBPyConnection, columns: Mapping[str, pa.Array], casts: list[Cast]
) -> dict[str, pa.ChunkedArray]:
    """Return name -> values with the table's type; a copy keeps the order of rows of its file."""
    if not casts:
        return {}
    own = pa.table({f"c{n}": columns[cast.name] for n, cast in enumerate(casts)})
    connection.register("own", own)
    expressions = (f"{cast_sql(f'c{n}', c.was, c.wanted)} AS c{n}" for n, c in enumerate(casts))
    cast = connection.sql(f"SELECT {', '.join(expressions)} FROM own").to_arrow_table()  # noqa: S608 -- no name of a column is in it
    connection.unregister("own")
    return {each.name: cast[f"c{n}"] for n, each in enumerate(casts)}


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:  # rows stay in their order
        connection.execute("SET enable_external_access = false")
        yield connection


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
