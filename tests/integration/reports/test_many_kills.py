"""Persisters die, freeze and lose their database at random places: every record is stored once.

`scripts/prove reports` runs it with 10,000 reports, a gibibyte of logs and 50 kills.

Slow: a persister starts after each kill.
"""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx
import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.dev.broker import Broker
from supervisor.ports.reports.reports import ReportQuery
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.log_tail import LogTail
from tasks.sending.sender import Sender, SenderOptions
from tasks.sending.spool import Spool, SpoolBounds
from tests.chaos.processes.proxy import FaultProxy, Mode
from tests.environment.postgres import Server
from tests.integration.reports.persisters import PersisterProcess, Persisters
from tests.integration.reports.test_persister import log_record, record_of
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.pg, pytest.mark.chaos, pytest.mark.long]

KILLS = int(os.environ.get("TIDEGATE_TEST_KILLS", "4"))
REPORTS = int(os.environ.get("TIDEGATE_TEST_RECORDS", "1000"))
LOG_MIB = int(os.environ.get("TIDEGATE_TEST_LOG_MIB", "8"))
MIB = 1024 * 1024
WITHIN_S = 3_600.0
"""Ends only a run that hangs."""
STORED = "tidegate_persister_stored_total"
BAD = ("dead_letter", "mismatch")


def _log(number: int) -> bytes:
    """A mebibyte of lines, whole ones, that are others in each log."""
    line = b"2026-11-28T10:00:00.%06dZ INFO    log %d line %d " + b"x" * 60 + b"\n"
    lines = b"".join(line % (each, number, each) for each in range(9_000))
    return lines[:MIB].rpartition(b"\n")[0] + b"\n"


def _stored(process: PersisterProcess) -> float:
    try:
        return process.metric(STORED)
    except (httpx.HTTPError, AssertionError):
        return -1.0


@dataclass
class _Run:
    """A sender, two persisters, and what happens to them."""

    folder: Path
    persisters: Persisters
    proxy: FaultProxy
    sender: Sender
    pair: list[PersisterProcess] = field(default_factory=list)
    chance: Random = field(default_factory=lambda: Random(11))
    reports: int = 0
    logs: int = 0

    def start(self, which: int) -> PersisterProcess:
        return self.persisters.start(TIDEGATE_REPORTS_INSTANCE=f"p-{which}")

    def send(self, kill: int) -> None:
        """Hand out a share of the reports and logs."""
        for seq in range(self.reports, REPORTS * kill // KILLS):
            record = record_of(f"task-{seq % 7}", seq)
            assert self.sender.offer(record, len(record.to_json()))
            self.reports = seq + 1
        for number in range(self.logs, LOG_MIB * kill // KILLS):
            (self.folder / f"log-{number}.log").write_bytes(_log(number))
            self.logs = number + 1

    def kill(self, kill: int) -> None:
        """Send a share, kill one at a random place, some with more trouble, and start it again."""
        which = self.chance.randrange(2)
        one, other = self.pair[which], self.pair[1 - which]
        wanted = _stored(one) + self.chance.randrange(1, 40)
        match kill % 5:
            case 1:  # the database is slow from here on
                self.proxy.set(Mode.DELAY, delay_s=0.01)
            case 2:  # it is away, and comes back
                self.proxy.set(Mode.CUT)
                self.send(kill)
                wait_until(lambda: "BACKING_OFF" in {each.state() for each in self.pair})
                self.proxy.set(Mode.PASS)
            case 3:  # the other one stands still, while this one dies
                other.child.signal(signal.SIGSTOP)
        self.send(kill)
        wait_until(
            lambda: _stored(one) >= wanted or self.sender.status().spool_bytes == 0, WITHIN_S
        )
        one.kill()
        other.child.signal(signal.SIGCONT)
        self.pair[which] = self.start(which)

    def finish(self) -> list[float]:
        """Wait until all is stored; return what no persister should have counted."""
        self.proxy.set(Mode.PASS)
        tail = LogTail(self.folder, lambda _: False)
        wait_until(lambda: self.sender.status().spool_bytes == 0, WITHIN_S)
        wait_until(lambda: all(tail.is_whole(f"log-{n}") for n in range(LOG_MIB)), WITHIN_S)
        wait_until(lambda: [each.lag() for each in self.pair] == [0, 0], WITHIN_S)
        names = [f"tidegate_persister_{name}_total" for name in BAD]
        return [each.metric(name) for each in self.pair for name in names]


def test_every_record_is_stored_once_whatever_dies(
    broker: Broker, postgres_server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "task-logs"
    folder.mkdir()
    sender = Sender(
        Spool(tmp_path / "spool", SpoolBounds(total_bytes=512 * MIB)),
        LogTail(folder, lambda _: False),
        KafkaTransport({"bootstrap.servers": broker.bootstrap}, "many.completed.a", "worker-1"),
        log_record,
        SenderOptions(look_s=0.05),
    )
    with (
        postgres_server.database() as url,
        FaultProxy(("127.0.0.1", postgres_server.port)) as proxy,
        Persisters(tmp_path, {}) as persisters,
    ):
        persisters.env = {
            "TIDEGATE_REPORTS_KAFKA": broker.bootstrap,
            "TIDEGATE_REPORTS_PREFIX": "many.",
            "TIDEGATE_REPORTS_TOPIC": "a",
            "TIDEGATE_REPORTS_URL": url.replace(f":{postgres_server.port}/", f":{proxy.port}/"),
        }
        run = _Run(folder, persisters, proxy, sender)
        run.pair = [run.start(each) for each in (0, 1)]
        sender.start()
        for number in range(1, KILLS + 1):
            run.kill(number)
        bad = run.finish()
        sender.stop()
        _check(tmp_path, url)
    assert bad == [0, 0, 0, 0]


def _check(tmp_path: Path, url: str) -> None:
    """Compare ids and bytes with what was sent."""
    database = ReportDatabase(url)
    reports, numbers = SqlReports(database), list[int]()
    for each in range(7):
        query = ReportQuery(subject=f"task-{each}")
        numbers += [one.seq or 0 for one in reports.list(query, REPORTS)]
    assert sorted(numbers) == list(range(REPORTS))
    logs = SegmentLogStore(database, tmp_path / "warehouse" / ".tidegate", "reader", SystemClock())
    for number in range(LOG_MIB):
        span = logs.span(f"log-{number}", 0)
        assert span is not None
        assert span.is_whole
        parts = logs.read(f"log-{number}", 0, 0, 2 * MIB)
        assert b"".join(each.content for each in parts) == _log(number)
    logs.close()
    database.close()
