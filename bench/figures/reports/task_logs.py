"""Logs as tasks write them, in chunks, and a store of segments to put them into."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.core.reports.grave import grave_lines
from supervisor.ports.reports.logs import StoredChunk
from tasks.reporting.record import RecordType, record_id_of

__all__ = ["CHUNK_BYTES", "chunks_of", "segment_store", "task_log"]

CHUNK_BYTES = 64 * 1024
_NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


@contextmanager
def segment_store(folder: Path) -> Iterator[SegmentLogStore]:
    """Open an empty store on SQLite below `folder`; its database is `reports.db`."""
    folder.mkdir(parents=True)
    url = f"sqlite:///{folder / 'reports.db'}"
    migrate_reports(url)
    database = ReportDatabase(url)
    store = SegmentLogStore(database, folder / "logs", "bench", SystemClock())
    yield store
    store.close()
    database.close()


def task_log(seed: int, size: int) -> bytes:
    """Return a task's log: lines of its batches, with numbers at random, of `size` bytes."""
    random_of = random.Random(seed)
    table = f"orders-{seed % 7}"
    whose = (
        f"supervisor={table} data_source={table} generation={table}:{seed} group=1 replica=0 "
        f"attempt=1 task=index_kafka_{table}_{seed:016x} worker=w{seed % 5}"
    )
    lines: list[bytes] = []
    written = number = offset = 0
    at = _NOON
    while written < size:
        at += timedelta(microseconds=random_of.randint(1_000, 6_000_000))
        number += 1
        end = offset + random_of.randint(100, 90_000)
        level = "WARNING" if random_of.randint(1, 100) == 1 else "INFO   "
        line = (
            f"{at:%Y-%m-%dT%H:%M:%S.%f}Z {level} a batch is journaled batch={number} "
            f'from="orders:1 {offset}, orders:3 {offset + 7}" '
            f'to="orders:1 {end}, orders:3 {end + 7}" '
            f"rows={2 * (end - offset)} ms={random_of.randint(100, 6_000)} {whose}\n"
        ).encode()
        lines.append(line)
        written += len(line)
        offset = end
    return b"".join(lines)[:size]


def chunks_of(subject: str, text: bytes, size: int = CHUNK_BYTES) -> Sequence[StoredChunk]:
    """Return a log in chunks of `size` bytes."""
    return [
        StoredChunk(
            record_id=record_id_of(subject, 0, RecordType.LOG_CHUNK, offset),
            subject=subject,
            attempt=0,
            offset=offset,
            content=text[offset : offset + size],
            ends=offset + size >= len(text),
            at=_NOON,
            supervisor="orders",
            data_source="orders",
            worker="w1",
            grave=tuple(grave_lines(text[offset : offset + size], offset)),
        )
        for offset in range(0, len(text), size)
    ]
