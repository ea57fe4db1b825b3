"""A worker is killed and its disk is gone: the logs and reports of its tasks are in the store.

Slow: a worker with Spark reads, ends a range, and is killed.
"""

import shutil
import signal
from pathlib import Path

import httpx
import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.dev.broker import Broker
from supervisor.ports.reports.reports import ReportQuery
from tasks.reporting.record import RecordType, ReportRecord
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import record, spec
from tests.integration.reports.persisters import Persisters
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "lost-worker"
_TASK = "/druid/indexer/v1/task"


class _Store:
    """What the persister has stored, read beside it."""

    def __init__(self, folder: Path, warehouse: Path) -> None:
        database = ReportDatabase(f"sqlite:///{folder}/reports.db")
        self._reports = SqlReports(database)
        self._logs = SegmentLogStore(database, warehouse / ".tidegate", "reader", SystemClock())
        self.close = database.close

    def ends(self) -> list[ReportRecord]:
        """Return the results of tasks."""
        query = ReportQuery(types=frozenset({RecordType.TASK_RESULT}), data_source=TOPIC)
        return [*self._reports.list(query, 1_000)]

    def report(self, task_id: str) -> ReportRecord:
        """Return the one report of a task."""
        query = ReportQuery(types=frozenset({RecordType.TASK_REPORT}), subject=task_id)
        [found] = self._reports.list(query, 10)
        return found

    def has_whole_log(self, task_id: str) -> bool:
        """Return whether nothing is missing of an ended log."""
        span = self._logs.span(task_id, 1)
        return span is not None and span.is_whole

    def has_some_log(self, task_id: str) -> bool:
        """Return whether something of a log is stored."""
        return self._logs.span(task_id, 1) is not None


def _log(cluster: Cluster, task_id: str) -> httpx.Response:
    return cluster.http.get(f"{_TASK}/{task_id}/log")


def _running_task(cluster: Cluster, *, beside: str) -> str | None:
    """Return a task that runs, other than `beside`; None: there is none yet."""
    tasks = cluster.http.get("/druid/indexer/v1/tasks?state=running").json()
    return next((each["id"] for each in tasks if each["id"] != beside), None)


def test_logs_and_reports_outlive_a_worker_and_its_disk(broker: Broker, tmp_path: Path) -> None:
    create_topic(broker.bootstrap, TOPIC)
    produce(broker.bootstrap, TOPIC, [record(number) for number in range(100)])
    produce(broker.bootstrap, TOPIC, ["no json"])
    env = {
        "TIDEGATE_REPORTS_KAFKA": broker.bootstrap,
        "TIDEGATE_REPORTS_PREFIX": "lost.",
        "TIDEGATE_REPORTS_URL": f"sqlite:///{tmp_path}/reports.db",
    }
    cluster = Cluster(tmp_path, more=env)
    own = {"TIDEGATE_WAREHOUSE": str(cluster.warehouse)}
    wanted = spec(broker.bootstrap, TOPIC, task_count=1)
    with Persisters(tmp_path / "persister", env | own) as persisters, running(cluster):
        persisters.start()
        store = _Store(tmp_path, cluster.warehouse)
        cluster.http.post(SUPERVISORS, json=wanted).raise_for_status()
        wait_until(lambda: len(store.ends()) == 1)
        [ended] = store.ends()
        wait_until(lambda: store.has_whole_log(ended.subject))
        wait_until(lambda: _running_task(cluster, beside=ended.subject) is not None)
        runs = _running_task(cluster, beside=ended.subject) or ""
        wait_until(lambda: store.has_some_log(runs))
        kept = (tmp_path / "w1" / "task-logs" / f"{ended.subject}.log").read_bytes()
        cluster.children["w1"].signal(signal.SIGKILL)
        cluster.children["w1"].stop()
        shutil.rmtree(tmp_path / "w1")

        of_ended, of_lost = _log(cluster, ended.subject), _log(cluster, runs)
        report = store.report(ended.subject)
        store.close()

    assert (ended.status, ended.worker, ended.supervisor) == ("SUCCESS", "w1", TOPIC)
    counters = ended.payload["counters"]
    assert isinstance(counters, dict)
    assert (counters["processed"], counters["unparseable"]) == (100, 1)
    assert isinstance(report.payload["samples"], list)
    assert len(report.payload["samples"]) == 1
    assert (of_ended.status_code, of_ended.content) == (httpx.codes.OK, kept)
    assert "X-Tidegate-Log-Missing" not in of_ended.headers
    assert of_lost.status_code == httpx.codes.OK
    assert runs.encode() in of_lost.content
    assert "the rest is at worker w1" in of_lost.headers["X-Tidegate-Log-Missing"]
