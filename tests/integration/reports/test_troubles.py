"""Trouble in the way of reports while a stream is read: its tasks notice nothing.

`scripts/prove troubles` keeps the brokers or the store of reports away for ten minutes.

Slow: each trouble has a cluster of its own, and lasts as long as tasks need to end.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import AdminClient
from pydantic import JsonValue

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.ports.reports.reports import ReportQuery
from tasks.reporting.record import RecordType
from tests.chaos.processes.proxy import FaultProxy, Mode
from tests.environment.brokers import create_topic, new_broker
from tests.environment.postgres import Server
from tests.environment.small_disks import can_mount, make_read_only, mounted
from tests.integration.cluster import Cluster, running
from tests.integration.faults.test_kafka_permissions import SECRET, permit, permit_groups
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.integration.reports.judge import SeenRun
from tests.integration.reports.persisters import PersisterProcess, Persisters
from tests.security.brokers import PASSWORD, USER, StrictBroker
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

AWAY_S = float(os.environ.get("TIDEGATE_TEST_AWAY_S", "8"))
"""How long the brokers or the store of reports are away, at least."""
RATE = int(os.environ.get("TIDEGATE_TEST_RATE", "100"))
DOOR = {"TIDEGATE_REPORTS_KEY": "a-key-for-the-door"}
Trouble = Callable[[], None]


def _nothing() -> None:
    """Make no trouble."""


@dataclass
class _Ingestion:
    """A stream that a worker reads while there is trouble, and then without it."""

    broker: Broker
    cluster: Cluster
    topic: str
    spec: dict[str, JsonValue]
    killed: set[str] = field(default_factory=set)

    def run(self, begin: Trouble, end: Trouble, *, restarts: bool = False) -> bool:
        """Read on through a trouble; return whether all was read while it lasted."""
        cluster = self.cluster
        cluster.apply(self.spec)
        with streaming(self.broker.bootstrap, self.topic, rate_per_s=RATE):
            wait_until(lambda: len(cluster.publications(self.topic)) > 0)
            begin()
            if restarts:
                # One that has just ended may not have been reported yet: its result has no status.
                self.killed |= {str(each["id"]) for each in self.cluster.tasks(self.topic)}
                cluster.kill("w1")
                cluster.start_worker("w1")
            before, away_until = len(cluster.publications(self.topic)), _Timer(AWAY_S)
            wait_until(lambda: len(cluster.publications(self.topic)) > before + 1)
            wait_until(away_until.is_over, AWAY_S + 60)
        ends = ends_of(self.broker.bootstrap, self.topic)
        wait_until(lambda: cluster.has_read(self.topic, ends))
        caught_up = cluster.status(self.topic)["aggregateLag"] == 0
        end()
        cluster.post(self.topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(self.topic))
        return caught_up

    def seen(self, *, caught_up: bool, stored: "_Stored | None" = None) -> SeenRun:
        """Return the run as it is now."""
        tasks = self.cluster.tasks(self.topic)
        ended = {
            str(each["id"]): str(each["statusCode"])
            for each in tasks
            if each["statusCode"] != "RUNNING"
        }
        run = SeenRun(
            ids_in_topic(self.broker.bootstrap, self.topic),
            ids_in_files(self.cluster.files(self.topic)),
            ended,
            caught_up,
            killed=self.killed,
        )
        return run if stored is None else stored.seen(run)

    def metric(self, name: str) -> float:
        """Return the sum of a metric of the worker."""
        url = f"http://{LOOPBACK}:{self.cluster.worker_port('w1')}/metrics"
        lines = httpx.get(url, timeout=30).text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


class _Timer:
    """Knows when so many seconds are over."""

    def __init__(self, seconds: float) -> None:
        self._clock = SystemClock()
        self._began, self._seconds = self._clock.now(), seconds

    def is_over(self) -> bool:
        return (self._clock.now() - self._began).total_seconds() >= self._seconds


class _Stored:
    """What persisters have stored, read beside them."""

    def __init__(self, url: str, warehouse: Path) -> None:
        self._database = ReportDatabase(url)
        self._reports = SqlReports(self._database)
        folder = warehouse / ".tidegate"
        self._logs = SegmentLogStore(self._database, folder, "reader", SystemClock())

    def seen(self, run: SeenRun) -> SeenRun:
        """Return a run with what is stored of its tasks."""
        results: dict[str, list[str | None]] = {}
        for each in self._of(RecordType.TASK_RESULT):
            results.setdefault(each[0], []).append(each[1])
        reports = Counter(subject for subject, _ in self._of(RecordType.TASK_REPORT))
        whole = {task for task in run.ended if self._is_whole(task)}
        known = (run.in_topic, run.in_table, run.ended, run.caught_up)
        return SeenRun(*known, results, reports, whole, run.killed)

    def _of(self, kind: RecordType) -> list[tuple[str, str | None]]:
        records = self._reports.list(ReportQuery(types=frozenset({kind})), 100_000)
        return [(each.subject, each.status) for each in records]

    def _is_whole(self, task: str) -> bool:
        spans = (self._logs.span(task, attempt) for attempt in (1, 2, 3))
        return any(span is not None and span.is_whole for span in spans)

    def number(self) -> int:
        """Return how many results are stored."""
        return len(self._of(RecordType.TASK_RESULT))

    def close(self) -> None:
        self._logs.close()
        self._database.close()


@contextmanager
def _ingesting(
    broker: Broker, folder: Path, topic: str, more: dict[str, str]
) -> Iterator[_Ingestion]:
    create_topic(broker.bootstrap, topic, partitions=2)
    cluster = Cluster(folder / "cluster", light=True, more=more)
    wanted = spec(broker.bootstrap, topic, task_duration="PT3S", task_count=1)
    with running(cluster):
        yield _Ingestion(broker, cluster, topic, wanted)


def _arrived(ingestion: _Ingestion, stored: _Stored, *, caught_up: bool) -> SeenRun:
    """Wait until nothing more is missing in the store, and return the run."""

    def lacking() -> list[str]:
        return ingestion.seen(caught_up=caught_up, stored=stored).faults_of_reports()

    try:
        wait_until(lambda: lacking() == [])
    except AssertionError as late:
        raise AssertionError(f"the store does not have: {lacking()}") from late
    return ingestion.seen(caught_up=caught_up, stored=stored)


def test_the_brokers_of_reports_are_away_and_a_worker_dies_meanwhile(
    broker: Broker, tmp_path: Path
) -> None:
    own = new_broker(tmp_path / "reports-broker")
    own.start()
    warehouse = tmp_path / "cluster" / "warehouse"
    url = f"sqlite:///{tmp_path}/reports.db"
    env = {
        "TIDEGATE_REPORTS_KAFKA": own.bootstrap,
        "TIDEGATE_REPORTS_URL": url,
        "TIDEGATE_REPORTS_PREFIX": "away.",
    }
    with ExitStack() as stack:
        stack.callback(own.stop)
        persisters = Persisters(tmp_path, env | {"TIDEGATE_WAREHOUSE": str(warehouse)})
        stack.enter_context(persisters).start()
        ingestion = stack.enter_context(_ingesting(broker, tmp_path, "reports-away", env))
        caught_up = ingestion.run(own.kill, own.start, restarts=True)
        stored = _Stored(url, warehouse)
        run = _arrived(ingestion, stored, caught_up=caught_up)
        stored.close()
    assert run.faults_of_ingestion() == []
    assert run.faults_of_reports() == []


@pytest.mark.pg
def test_the_store_of_reports_is_away_and_slow(
    broker: Broker, postgres_server: Server, tmp_path: Path
) -> None:
    warehouse = tmp_path / "cluster" / "warehouse"
    with ExitStack() as stack:
        url = stack.enter_context(postgres_server.database())
        proxy = stack.enter_context(FaultProxy((LOOPBACK, postgres_server.port)))
        own = {"TIDEGATE_REPORTS_KAFKA": broker.bootstrap, "TIDEGATE_REPORTS_PREFIX": "no-store."}
        through = url.replace(f":{postgres_server.port}/", f":{proxy.port}/")
        env = own | {"TIDEGATE_REPORTS_URL": through, "TIDEGATE_WAREHOUSE": str(warehouse)}
        persister = stack.enter_context(Persisters(tmp_path, env)).start()
        ingestion = stack.enter_context(_ingesting(broker, tmp_path, "reports-no-store", own))

        def back() -> None:
            proxy.set(Mode.DELAY, delay_s=0.01)
            _resumed(persister)

        caught_up = ingestion.run(lambda: proxy.set(Mode.CUT), back)
        stored = _Stored(url, warehouse)
        run = _arrived(ingestion, stored, caught_up=caught_up)
        stored.close()
    assert run.faults_of_ingestion() == []
    assert run.faults_of_reports() == []


def _resumed(persister: PersisterProcess) -> None:
    """Have a persister go on, also if it gave up."""
    persister.http.post("/resume")


def _without_room(broker: Broker, folder: Path, *, read_only: bool) -> None:
    """The disk counts what it does not take, and no task waits for it."""
    nowhere = f"http://{LOOPBACK}:{free_port()}"
    spool = folder / "cluster" / "w1" / "reports"
    spool.mkdir(parents=True)
    with mounted(spool, size="4k"):
        if read_only:
            make_read_only(spool)
        more = {"TIDEGATE_REPORTS": "direct", "TIDEGATE_REPORTS_PERSISTER": nowhere}
        topic = f"reports-disk-{'read-only' if read_only else 'full'}"
        with _ingesting(broker, folder, topic, more) as ingestion:
            caught_up = ingestion.run(_nothing, _nothing)
            lost = "tidegate_worker_report_dropped_total"
            wait_until(lambda: ingestion.metric(lost) > 0)
            run = ingestion.seen(caught_up=caught_up)
            logs = [*(folder / "cluster" / "w1" / "task-logs").glob("*.log")]
            logged = (folder / "cluster" / "logs" / "w1.log").read_text()
    assert "the disk of reports takes nothing" in logged
    assert run.faults_of_ingestion() == []
    assert len(logs) >= len(run.ended)


if can_mount():

    @pytest.mark.parametrize("read_only", [False, True])
    def test_the_spools_disk_is_full_or_read_only(
        broker: Broker, tmp_path: Path, *, read_only: bool
    ) -> None:
        _without_room(broker, tmp_path, read_only=read_only)


def test_reports_are_off(broker: Broker, tmp_path: Path) -> None:
    with _ingesting(broker, tmp_path, "reports-off", {"TIDEGATE_REPORTS": "off"}) as ingestion:
        caught_up = ingestion.run(_nothing, _nothing)
        run = ingestion.seen(caught_up=caught_up)
        assert ingestion.metric("tidegate_worker_report_spool_bytes") == 0
        answer = ingestion.cluster.http.get("/api/v1/reports")
        assert answer.status_code == httpx.codes.NOT_FOUND
    assert run.faults_of_ingestion() == []
    assert not (tmp_path / "cluster" / "w1" / "reports").exists()


def test_kafka_is_read_only_and_reports_go_by_http(tmp_path: Path) -> None:
    """A persister that is killed meanwhile; and Kafka has no topic but the one that is read."""
    strict, topic = StrictBroker(tmp_path / "strict"), "permitted"
    strict.start()
    warehouse = tmp_path / "cluster" / "warehouse"
    url = f"sqlite:///{tmp_path}/reports.db"
    stores = {"TIDEGATE_REPORTS_URL": url, "TIDEGATE_WAREHOUSE": str(warehouse)}
    with ExitStack() as stack:
        stack.callback(strict.stop)
        permit_groups(strict)
        persisters = stack.enter_context(Persisters(tmp_path, DOOR | stores))
        first, second = persisters.start(), persisters.start()
        doors = ",".join(f"http://{LOOPBACK}:{each.port}" for each in (first, second))
        more = DOOR | {SECRET: PASSWORD, "TIDEGATE_REPORTS_PERSISTER": doors}
        more["TIDEGATE_REPORTS_URL"] = url
        ingestion = stack.enter_context(_ingesting(strict, tmp_path, topic, more))
        permit(strict)
        ingestion.spec = _read_only(strict, topic)
        caught_up = ingestion.run(first.kill, _nothing)
        stored = _Stored(url, warehouse)
        run = _arrived(ingestion, stored, caught_up=caught_up)
        stored.close()
        topics = set(AdminClient({"bootstrap.servers": strict.bootstrap}).list_topics().topics)
    assert run.faults_of_ingestion() == []
    assert run.faults_of_reports() == []
    assert {each for each in topics if not each.startswith("__")} == {topic}
    shutil.rmtree(tmp_path / "strict", ignore_errors=True)


def _read_only(broker: StrictBroker, topic: str) -> dict[str, JsonValue]:
    wanted = spec(broker.bootstrap, topic, task_duration="PT3S", task_count=1)
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    io_config = sections["ioConfig"]
    assert isinstance(io_config, dict)
    variables: dict[str, JsonValue] = {"sasl.password": SECRET}
    io_config["consumerProperties"] = {
        "bootstrap.servers": broker.address("AUTH"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "druid.dynamic.config.provider": {"type": "environment", "variables": variables},
    }
    return wanted
