"""A MiB of a log, read out of many chunks."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from bench.figures.reports.task_logs import chunks_of, segment_store, task_log
from bench.result import Budget, Result, spread
from bench.world import World

NAME = "log-read"
_MIB = 1024 * 1024
_LOGS = 20
_LOG_BYTES = 4 * _MIB
_READS = 200
_COPIES = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
INSERT INTO log_chunks
SELECT printf('%032x', n), printf('other-%08d', n / 64), attempt, (n % 64) * size, size, 0, at,
       'other', data_source, worker, digest, segment, place, stored_bytes
FROM numbers, (SELECT * FROM log_chunks LIMIT 1)
"""


def run(world: World) -> Result:
    """Read at many places, and ask for spans, beside many chunks of other logs."""
    folder, others = world.folder(NAME), world.sizes.log_chunks
    reads, spans = [], []
    with segment_store(folder) as store:
        logs = {f"task-{seed}": task_log(seed, _LOG_BYTES) for seed in range(_LOGS)}
        for subject, text in logs.items():
            store.put_many(chunks_of(subject, text))
        _add_others(folder / "reports.db", others)
        for number in range(_READS):
            subject = f"task-{number % _LOGS}"
            offset = number * 7_919 * 13 % (_LOG_BYTES - _MIB)
            began = time.perf_counter()
            (part,) = store.read(subject, 0, offset, _MIB)
            reads.append((time.perf_counter() - began) * 1e3)
            assert part.content == logs[subject][offset : offset + _MIB]
            began = time.perf_counter()
            span = store.span(subject, 0)
            spans.append((time.perf_counter() - began) * 1e3)
            assert span is not None
            assert span.is_whole
    taken = spread(reads)
    return Result(
        NAME,
        taken.percentile(0.99),
        "ms",
        budget=Budget(100),
        how=(
            f"99th percentile of {_READS} reads of 1 MiB at places of {_LOGS} logs of 4 MiB in "
            f"segment files, beside {others:,} index rows of other logs on SQLite, whose bytes are "
            "not there; without HTTP"
        ),
        notes=(taken.told("ms"), f"span of a log: {spread(spans).told('ms')}"),
    )


def _add_others(file: Path, rows: int) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = -200000")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_COPIES, [rows])
