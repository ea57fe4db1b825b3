"""Batches of reports into a database, by turns with a bare loop of the driver's own."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg

from bench.result import Spread, spread
from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.entries import ReportEntry, entries_of
from supervisor.adapters.reports.schema import REPORTS
from supervisor.adapters.reports.sql import SqlReports
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of

BATCH = 500
_TURN = 10
"""Batches of one side in a row."""
_NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
_NAMES = [column.name for column in REPORTS.columns]
_INTO = f"INSERT INTO reports ({', '.join(_NAMES)}) VALUES "  # noqa: S608 -- our own columns

Write = Callable[[Sequence[ReportRecord]], object]


@dataclass(frozen=True)
class ReportRates:
    """Records per second of each turn, and the bytes of a body."""

    stored: Spread
    bare: Spread
    body_bytes: int


def measure_reports(url: str, bare_url: str, turns: int) -> ReportRates:
    """Store batches of new reports in two empty databases, by turns; the first turns are no part.

    The bare loop inserts the same columns into the same tables by `executemany`, a commit a batch.
    """
    for each in (url, bare_url):
        migrate_reports(each)
    stored, bare = [], []
    with closing(SqlReports(ReportDatabase(url))) as store, closing(_bare(bare_url)) as loop:
        for turn in range(turns + 1):
            records = _records(turn)
            stored.append(_rate(store.put_many, records))
            bare.append(_rate(loop.write, records))
    return ReportRates(spread(stored[1:]), spread(bare[1:]), len(entries_of(records)[0].body))


def _rate(write: Write, records: Sequence[ReportRecord]) -> float:
    began = time.perf_counter()
    for start in range(0, len(records), BATCH):
        write(records[start : start + BATCH])
    return len(records) / (time.perf_counter() - began)


@dataclass(frozen=True)
class _BareLoop:
    connection: sqlite3.Connection | psycopg.Connection[tuple[object, ...]]
    mark: str

    def write(self, records: Sequence[ReportRecord]) -> None:
        """Insert a batch and commit."""
        rows = [_row_of(entry, self.mark) for entry in entries_of(records)]
        places = ", ".join([self.mark] * len(_NAMES))
        statement = f"{_INTO} ({places}) ON CONFLICT DO NOTHING"
        with closing(self.connection.cursor()) as cursor:
            cursor.executemany(statement, rows)
        self.connection.commit()

    def close(self) -> None:
        self.connection.close()


def _bare(url: str) -> _BareLoop:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.execute("PRAGMA synchronous = FULL")
        return _BareLoop(connection, "?")
    return _BareLoop(psycopg.connect(url, options="-c search_path=reports"), "%s")


def _row_of(entry: ReportEntry, mark: str) -> tuple[object, ...]:
    record = entry.record
    return (
        record.record_id,
        record.type.value,
        record.subject,
        record.attempt,
        record.origin.value,
        record.worker,
        record.supervisor,
        record.data_source,
        record.status,
        f"{record.at:%Y-%m-%d %H:%M:%S.%f}" if mark == "?" else record.at,
        record.place,
        record.final,
        entry.digest,
        entry.body,
    )


def _records(turn: int) -> Sequence[ReportRecord]:
    first = turn * _TURN * BATCH
    return [_record(number) for number in range(first, first + _TURN * BATCH)]


def _record(number: int) -> ReportRecord:
    """Return the report of a task, of some 1,000 supervisors on some 20 workers."""
    subject = f"index_kafka_clicks_{number}"
    return ReportRecord(
        type=RecordType.TASK_RESULT,
        record_id=record_id_of(subject, 1, RecordType.TASK_RESULT, 0),
        subject=subject,
        attempt=1,
        origin=RecordOrigin.STREAM,
        worker=f"worker-{number % 20}",
        supervisor=f"clicks-{number % 1_000}",
        data_source=f"clicks-{number % 1_000}",
        status="FAILED" if number % 100 == 0 else "SUCCESS",
        at=_NOON + timedelta(milliseconds=10 * number),
        seq=0,
        final=True,
        payload={
            "rows": {"processed": 1_000 + number, "unparseable": number % 7, "thrownAway": 0},
            "batches": [number % 100 / 10] * 20,
            "warnings": ["the quick brown fox jumps over the lazy dog, and again, and on"] * 5,
        },
    )
