"""Logs and reports as a persister stores them, of tasks that never ran."""

from collections.abc import Iterable
from contextlib import closing

from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.reports.incoming import parts_of
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.conformance.reports.log_chunks import line
from tests.conformance.reports.report_stores import NOON, SECOND, report


def whole_log(task: str, owner: tuple[str, str], text: bytes) -> ReportRecord:
    """Return the record of a whole log, as a worker sends it; of a supervisor and its table."""
    kind, (supervisor, table) = RecordType.LOG_CHUNK, owner
    return ReportRecord(
        type=kind,
        record_id=record_id_of(task, 1, kind, 0),
        subject=task,
        attempt=1,
        origin=RecordOrigin.STREAM,
        worker="w1",
        supervisor=supervisor,
        data_source=table,
        at=NOON + 3_600 * SECOND,
        offset=0,
        final=True,
        payload={"text": text.decode()},
    )


def failed_task(name: str) -> list[ReportRecord]:
    """Return log and report of a task that failed, of a supervisor and table of this name."""
    task, why = f"index_kafka_{name}_0123456789abcde_abcdefgh", "the disk is full path=/data"
    lines = line("INFO", "begins") + line("WARNING", "a batch waits", 1) + line("ERROR", why, 2)
    payload = {"failure": "FULL", "detail": why}
    failed = report(
        task,
        NOON,
        status="FAILED",
        supervisor=name,
        data_source=name,
        worker="w1",
        payload=payload,
    )
    return [whole_log(task, (name, name), lines), failed]


def store_records(url: str, records: Iterable[ReportRecord]) -> None:
    """Do what a persister does with records; `url`: of the metadata, a file `metadata.db`."""
    url = url.replace("metadata.db", "reports.db")
    migrate_reports(url)
    database = ReportDatabase(url)
    with closing(SqlReports(database)) as reports:
        for record in records:
            parts = parts_of(record.to_json().encode())
            if parts.chunk is not None:
                SqlLogStore(database).put_many([parts.chunk])
            if parts.report is not None:
                reports.put_many([parts.report])
