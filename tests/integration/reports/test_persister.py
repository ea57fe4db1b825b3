"""Records of a worker's sender arrive in the store, by topics or by HTTP, through a kill.

Slow: three persisters follow each other.
"""

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
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.log_tail import LogPiece, LogTail
from tasks.sending.sender import Sender, SenderOptions
from tasks.sending.spool import Spool
from tasks.sending.transport import Outgoing
from tests.integration.reports.persisters import Persisters
from tests.waiting import wait_until

__all__ = ["log_record", "record_of"]

pytestmark = [pytest.mark.kafka, pytest.mark.process]


def record_of(subject: str, seq: int) -> ReportRecord:
    return ReportRecord(
        type=RecordType.PROGRESS,
        record_id=record_id_of(subject, 0, RecordType.PROGRESS, seq),
        subject=subject,
        origin=RecordOrigin.STREAM,
        at=datetime.now(UTC),
        seq=seq,
        supervisor="orders",
        payload={"rows": seq},
    )


def log_record(piece: LogPiece) -> ReportRecord:
    return ReportRecord(
        type=RecordType.LOG_CHUNK,
        record_id=record_id_of(piece.task, 0, RecordType.LOG_CHUNK, piece.offset),
        subject=piece.task,
        origin=RecordOrigin.STREAM,
        at=datetime.now(UTC),
        offset=piece.offset,
        final=piece.ends,
        supervisor="orders",
        payload={"text": piece.text},
    )


def _lines(number: int) -> bytes:
    return b"".join(
        b"2026-11-28T10:00:00.%06dZ %-7s a line of a log n=%d\n"
        % (each, b"ERROR" if each % 100 == 0 else b"INFO", each)
        for each in range(number)
    )


@pytest.mark.long
def test_reports_and_logs_of_a_sender_are_stored_through_two_kills(
    broker: Broker, tmp_path: Path
) -> None:
    (tmp_path / "task-logs").mkdir()
    log = _lines(20_000)
    for name in ("task-a", "task-b"):
        (tmp_path / "task-logs" / f"{name}.log").write_bytes(log)
    client = {"bootstrap.servers": broker.bootstrap}
    sender = Sender(
        Spool(tmp_path / "spool"),
        LogTail(tmp_path / "task-logs", lambda _: False),
        KafkaTransport(client, "kills.completed.default", "worker-1"),
        log_record,
        SenderOptions(look_s=0.05),
    )
    env = {
        "TIDEGATE_REPORTS_KAFKA": broker.bootstrap,
        "TIDEGATE_REPORTS_PREFIX": "kills.",
        "TIDEGATE_REPORTS_INSTANCE": "the-same",
    }
    with Persisters(tmp_path, env) as persisters:
        first = persisters.start()  # it makes the topics
        sender.start()
        for seq in range(3_000):
            record = record_of(f"task-{seq % 7}", seq)
            assert sender.offer(record, len(record.to_json()))
        wait_until(lambda: first.metric("tidegate_persister_stored_total") > 100)
        first.kill()
        second = persisters.start()
        wait_until(lambda: second.metric("tidegate_persister_stored_total") > 10)
        second.kill()
        third = persisters.start()
        wait_until(lambda: sender.status().spool_bytes == 0)
        wait_until(lambda: third.lag() == 0)
    sender.stop()

    database = ReportDatabase(f"sqlite:///{tmp_path}/reports.db")
    reports = SqlReports(database).list(ReportQuery(supervisor="orders"), 10_000)
    assert sorted(each.seq or 0 for each in reports) == list(range(3_000))
    logs = SegmentLogStore(database, tmp_path / "warehouse" / ".tidegate", "reader", SystemClock())
    for name in ("task-a", "task-b"):
        span = logs.span(name, 0)
        assert span is not None
        assert span.is_whole
        parts = logs.read(name, 0, 0, 10 * len(log))
        assert b"".join(each.content for each in parts) == log
    database.close()


@pytest.mark.long
def test_p16_one_of_two_is_killed_and_the_other_serves_all_partitions(
    broker: Broker, tmp_path: Path
) -> None:
    """Source: reports, P16."""
    env = {"TIDEGATE_REPORTS_KAFKA": broker.bootstrap, "TIDEGATE_REPORTS_PREFIX": "p16."}
    client = {"bootstrap.servers": broker.bootstrap}
    name = "tidegate_persister_assigned_partitions"
    with Persisters(tmp_path, env) as persisters:
        one = persisters.start(TIDEGATE_REPORTS_INSTANCE="one")
        other = persisters.start(TIDEGATE_REPORTS_INSTANCE="other")
        wait_until(lambda: one.metric(name) > 0 and one.metric(name) == other.metric(name))
        transport = KafkaTransport(client, "p16.completed.default", "worker-1")
        transport.send([_outgoing(seq) for seq in range(500)])
        one.kill()
        transport.send([_outgoing(seq) for seq in range(500, 1_000)])
        transport.close()
        wait_until(lambda: other.metric(name) == 6)
        wait_until(lambda: other.lag() == 0)

    database = ReportDatabase(f"sqlite:///{tmp_path}/reports.db")
    reports = SqlReports(database).list(ReportQuery(supervisor="orders"), 10_000)
    database.close()
    assert sorted(each.seq or 0 for each in reports) == list(range(1_000))


def _outgoing(seq: int) -> Outgoing:
    record = record_of(f"task-{seq % 7}", seq)
    return Outgoing(record.subject, record.to_json().encode())


def test_records_by_http_have_an_outcome_each_and_bad_ones_are_kept_for_people(
    tmp_path: Path,
) -> None:
    good = [record_of("task-h", seq).to_json() for seq in range(3)]
    body = "\n".join([good[0], '{"foo": "bar"}', good[1], good[0]]) + "\n"
    with Persisters(tmp_path, {"TIDEGATE_TOKEN": "a-token-for-tests"}) as persisters:
        process = persisters.start()
        refused = process.http.post("/internal/v1/reports", content=body)
        mine = {"Authorization": "Bearer a-token-for-tests"}
        stored = process.http.post("/internal/v1/reports", content=body, headers=mine)
        paused = process.http.post("/pause", headers=mine)
        not_now = process.http.post("/internal/v1/reports", content=good[2], headers=mine)
        resumed = process.http.post("/resume", headers=mine)
        again = process.http.post("/internal/v1/reports", content=good[2], headers=mine)

    assert refused.status_code == httpx.codes.UNAUTHORIZED
    outcomes = stored.json()["outcomes"]
    assert (outcomes[1], outcomes[2]) == ("rejected", "stored")
    assert sorted([outcomes[0], outcomes[3]]) == ["conflict", "stored"]
    assert paused.json()["state"] == "STOPPED"
    assert not_now.status_code == httpx.codes.SERVICE_UNAVAILABLE
    assert "tidegate reports resume" in not_now.json()["detail"]
    assert resumed.json()["state"] == "RUNNING"
    assert again.json() == {"outcomes": ["stored"]}
    (letters,) = (tmp_path / "data" / "dead-letters").iterdir()
    assert "unknown version" in letters.read_text()
