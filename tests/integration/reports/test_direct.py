"""Workers send to a persister by HTTP, without a topic: what it was away for, it gets afterwards.

Slow: a worker with Spark reads and ends a range.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.dev.broker import Broker
from supervisor.ports.reports.reports import ReportQuery
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.sending.doors import Doors
from tasks.sending.http_transport import HttpTransport
from tasks.sending.log_tail import LogPiece, LogTail
from tasks.sending.sender import Sender, SenderOptions
from tasks.sending.spool import Spool
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import record, spec
from tests.integration.reports.persisters import PersisterProcess, Persisters
from tests.waiting import wait_until

pytestmark = pytest.mark.process

KEY = "a-key-for-the-door"
TOKEN = "a-token-of-operators"
DOOR = {"TIDEGATE_REPORTS_KEY": KEY, "TIDEGATE_TOKEN": TOKEN}
_QUICK = SenderOptions(look_s=0.05, backoff_min_s=0.05, backoff_max_s=0.2)
_TASK = "/druid/indexer/v1/task"


def _record(seq: int) -> ReportRecord:
    subject = f"task-{seq % 7}"
    return ReportRecord(
        type=RecordType.PROGRESS,
        record_id=record_id_of(subject, 0, RecordType.PROGRESS, seq),
        subject=subject,
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=seq,
        supervisor="orders",
        payload={"rows": seq, "padding": "x" * 500},
    )


def _log_record(piece: LogPiece) -> ReportRecord:
    return ReportRecord(
        type=RecordType.LOG_CHUNK,
        record_id=record_id_of(piece.task, 0, RecordType.LOG_CHUNK, piece.offset),
        subject=piece.task,
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        offset=piece.offset,
        final=piece.ends,
        supervisor="orders",
        payload={"text": piece.text},
    )


def _urls(*persisters: PersisterProcess) -> Sequence[str]:
    return [str(each.http.base_url).rstrip("/") for each in persisters]


def test_what_a_persister_was_away_or_killed_for_is_stored_once(tmp_path: Path) -> None:
    (tmp_path / "task-logs").mkdir()
    log = b"".join(b"2026-11-28T10:00:00Z INFO    line n=%d\n" % n for n in range(20_000))
    (tmp_path / "task-logs" / "task-a.log").write_bytes(log)
    doors = Doors()
    sender = Sender(
        Spool(tmp_path / "spool"),
        LogTail(tmp_path / "task-logs", lambda _: False),
        HttpTransport(lambda: doors.addresses, KEY, part_bytes=20_000),
        _log_record,
        _QUICK,
    )
    with Persisters(tmp_path, DOOR) as persisters:
        sender.start()
        for seq in range(1_500):
            assert sender.offer(_record(seq), 800)
        wait_until(lambda: "no persister's address" in sender.status().trouble)
        first = persisters.start()
        doors.hear(_urls(first))
        wait_until(lambda: first.metric("tidegate_persister_stored_total") > 100)
        first.kill()
        for seq in range(1_500, 3_000):
            assert sender.offer(_record(seq), 800)
        wait_until(lambda: sender.status().trouble != "")
        second = persisters.start()
        doors.hear(_urls(first, second))
        wait_until(lambda: sender.status().spool_bytes == 0)
        wait_until(lambda: LogTail(tmp_path / "task-logs", lambda _: False).is_whole("task-a"))
        mismatches = second.metric("tidegate_persister_mismatch_total")
    sender.stop()

    database = ReportDatabase(f"sqlite:///{tmp_path}/reports.db")
    reports = SqlReports(database).list(ReportQuery(supervisor="orders"), 10_000)
    logs = SegmentLogStore(database, tmp_path / "warehouse" / ".tidegate", "reader", SystemClock())
    parts = logs.read("task-a", 0, 0, 10 * len(log))
    database.close()
    assert sorted(each.seq or 0 for each in reports) == list(range(3_000))
    assert b"".join(each.content for each in parts) == log
    assert mismatches == 0


def test_the_key_of_the_door_opens_nothing_else(tmp_path: Path) -> None:
    body = _record(1).to_json()
    with Persisters(tmp_path, DOOR) as persisters:
        http = persisters.start().http
        path, key = "/internal/v1/reports", {"Authorization": f"Bearer {KEY}"}
        answers = [
            http.post(path, content=body).status_code,
            http.post(path, content=body, headers={"Authorization": "Bearer other"}).status_code,
            http.post(path, content=body, headers=key).status_code,
            http.post("/pause", headers=key).status_code,
            http.post("/resume", headers=key).status_code,
            http.post("/pause", headers={"Authorization": f"Bearer {TOKEN}"}).status_code,
        ]

    assert answers == [401, 401, 200, 401, 401, 200]


@pytest.mark.kafka
@pytest.mark.long
def test_a_worker_hears_where_the_persister_is_and_its_tasks_are_read_without_it(
    broker: Broker, tmp_path: Path
) -> None:
    topic = "direct-reports"
    create_topic(broker.bootstrap, topic)
    produce(broker.bootstrap, topic, [*(record(number) for number in range(100)), "no json"])
    cluster = Cluster(tmp_path)
    stores = {
        "TIDEGATE_REPORTS_URL": f"sqlite:///{tmp_path}/reports.db",
        "TIDEGATE_WAREHOUSE": str(cluster.warehouse),
    }
    with Persisters(tmp_path / "persister", DOOR | stores) as persisters, cluster:
        [url] = _urls(persisters.start())
        cluster.more = stores | {"TIDEGATE_REPORTS_PERSISTER": url}
        cluster.start_overlord()
        cluster.more = {"TIDEGATE_REPORTS_KEY": KEY}
        cluster.start_worker()
        cluster.http.post(SUPERVISORS, json=spec(broker.bootstrap, topic, task_count=1))
        database = ReportDatabase(stores["TIDEGATE_REPORTS_URL"])
        reports = SqlReports(database)
        query = ReportQuery(types=frozenset({RecordType.TASK_REPORT}), data_source=topic)
        wait_until(lambda: len(reports.list(query, 10)) > 0)
        [report, *_] = reports.list(query, 10)
        logs = SegmentLogStore(database, cluster.warehouse / ".tidegate", "reader", SystemClock())

        def is_whole() -> bool:
            span = logs.span(report.subject, report.attempt)
            return span is not None and span.is_whole

        wait_until(is_whole)
        database.close()
        kept = (tmp_path / "w1" / "task-logs" / f"{report.subject}.log").read_bytes()
        cluster.kill("w1")
        log = cluster.http.get(f"{_TASK}/{report.subject}/log")

    assert report.status == "SUCCESS"
    assert (log.status_code, log.content) == (httpx.codes.OK, kept)
    assert KEY not in _all_logs(tmp_path)


def _all_logs(folder: Path) -> str:
    """Return all that the processes have logged."""
    return "".join(path.read_text() for path in folder.rglob("*.log"))
