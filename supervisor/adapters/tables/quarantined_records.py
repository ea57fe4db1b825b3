"""The DuckDB reader of quarantined records: reads errors files one at a time, in little memory.

A query has one thread and `MEMORY`, and is interrupted after `TIMEOUT_S`.  The query itself cuts
long values, so that a page of records is small.  DuckDB is imported at the first query, so an
overlord without queries does not need its memory.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from supervisor.core.tables.bad_records import BadCount
from supervisor.core.tables.path_patterns import pattern_of
from supervisor.core.values.errors import StorageUnavailable
from supervisor.ports.tables.quarantine import RawRecord, RecordPlace, WantedRecords

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "128MB"
TIMEOUT_S = 20.0
AT_ONCE = 2
"""Concurrent queries of this process; others wait, for as long as a query may last."""
HEADERS_MAX = 100
"""The number of headers that are read of a record."""
FILES_AT_ONCE = 500
"""Files that one query counts."""
CELLS_MAX = 100_000
"""Counts that one query returns: each record may have an hour of its own."""
_HOUR = 'CASE epoch_us("__time") WHEN 0 THEN NULL ELSE epoch_us("__time") // 3600000000 END'
"""The epoch stands for records that have no time in Kafka."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE = 'topic, partition, "offset"'


class DuckRecords:
    """Implements `ports.tables.quarantine.RawRecords`; safe to call from many threads."""

    def __init__(self, warehouse: Path) -> None:
        """Paths of files are relative to `warehouse`."""
        self._root = warehouse
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def page(
        self, paths: Sequence[str], wanted: WantedRecords, limit: int, *, bytes_max: int
    ) -> list[RawRecord]:
        """Return the first records, by place.

        Raises:
            StorageUnavailable: a file cannot be read, or others are being read already.
        """
        if not paths:
            return []
        where, values = _condition(wanted)
        cut = f"[1:{int(bytes_max)}]"
        rows = self._rows(
            f'SELECT {_PLACE}, epoch_us("__time"), reason, key{cut}, octet_length(key), '  # noqa: S608 -- constants and numbers
            f"value{cut}, octet_length(value), "
            f"[h.key for h in headers[1:{HEADERS_MAX}]], "
            f"[h.value{cut} for h in headers[1:{HEADERS_MAX}]], len(headers) "
            f"FROM read_parquet($files, hive_partitioning = false) WHERE {where} "
            f"ORDER BY {_PLACE} LIMIT {int(limit)}",
            paths,
            values,
        )
        return [_record(row) for row in rows]

    def counts(self, paths: Sequence[str]) -> dict[str, list[BadCount]]:
        """Return path -> the counts of its records; raises as `page` does.

        Hours are left out where the files of one query have more than CELLS_MAX counts.
        """
        counts: dict[str, list[BadCount]] = {path: [] for path in paths}
        for start in range(0, len(paths), FILES_AT_ONCE):
            some = paths[start : start + FILES_AT_ONCE]
            rows = self._cells(some, _HOUR)
            if len(rows) > CELLS_MAX:
                rows = self._cells(some, "NULL")
            path_of = {str(self._root / path): path for path in some}
            for filename, *cell in rows:
                counts[path_of[str(filename)]].append(_count(cell))
        return counts

    def _cells(self, paths: Sequence[str], hour: str) -> list[tuple[object, ...]]:
        return self._rows(
            f"SELECT filename, topic, partition, reason, {hour} AS hour, count(*) "  # noqa: S608 -- constants and numbers
            "FROM read_parquet($files, hive_partitioning = false, filename = true) "
            f"GROUP BY ALL LIMIT {CELLS_MAX + 1}",
            paths,
            {},
        )

    def _rows(
        self, sql: str, paths: Sequence[str], values: dict[str, object]
    ) -> list[tuple[object, ...]]:
        import duckdb

        files = [pattern_of(str(self._root / path)) for path in paths]
        with self._one_of_few(), _connection() as connection:
            timer = threading.Timer(TIMEOUT_S, connection.interrupt)
            timer.start()
            try:
                return connection.execute(sql, {"files": files, **values}).fetchall()
            except duckdb.Error as error:
                message = str(error).partition("\n")[0]
                raise StorageUnavailable(f"errors files cannot be read: {message}") from error
            finally:
                timer.cancel()

    @contextmanager
    def _one_of_few(self) -> Iterator[None]:
        if not self._free.acquire(timeout=TIMEOUT_S):
            raise StorageUnavailable("others look at errors files: ask again")
        try:
            yield
        finally:
            self._free.release()


@contextmanager
def _connection() -> Iterator["DuckDBPyConnection"]:
    import duckdb

    connection = duckdb.connect(
        config={
            "threads": "1",
            "memory_limit": MEMORY,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
        }
    )
    try:
        yield connection
    finally:
        connection.close()


def _condition(wanted: WantedRecords) -> tuple[str, dict[str, object]]:
    equal = {
        "topic": wanted.topic,
        "partition": wanted.partition,
        "offset": wanted.offset,
        "reason": wanted.reason,
    }
    values: dict[str, object] = {k: v for k, v in equal.items() if v is not None}
    terms = ["true", *(f'"{name}" = ${name}' for name in values)]
    if wanted.after is not None:
        terms.append(f"({_PLACE}) > ($of_topic, $of_partition, $of_offset)")
        topic, partition, offset = wanted.after
        values |= {"of_topic": topic, "of_partition": partition, "of_offset": offset}
    return " AND ".join(terms), values


def _count(cell: Sequence[object]) -> BadCount:
    topic, partition, reason, hour, records = cell
    assert isinstance(partition, int)
    assert isinstance(records, int)
    begin = _EPOCH + timedelta(hours=hour) if isinstance(hour, int) else None
    return BadCount(str(topic), partition, str(reason), begin, records)


def _record(row: tuple[object, ...]) -> RawRecord:
    topic, partition, offset, micros, reason, key, key_bytes, value, value_bytes, *rest = row
    names, contents, number = rest
    assert isinstance(partition, int)
    assert isinstance(offset, int)
    assert isinstance(micros, int)
    headers = zip(_list(names), _list(contents), strict=True)
    return RawRecord(
        place=RecordPlace(str(topic), partition, offset),
        time=_EPOCH + timedelta(microseconds=micros),
        reason=str(reason),
        key=_bytes(key),
        key_bytes=_number(key_bytes),
        value=_bytes(value),
        value_bytes=_number(value_bytes),
        headers=tuple((str(name), _bytes(content)) for name, content in headers),
        headers_number=_number(number),
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
