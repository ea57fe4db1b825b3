"""Each origin has its report and its log in the store, by real processes over a real broker.

Slow: two workers read, one of them is killed, and a table is compacted.
"""

from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.dev.broker import Broker
from supervisor.ports.reports.reports import ReportQuery
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import record, spec
from tests.integration.reports.persisters import Persisters
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "all-origins"
TASK = "/druid/indexer/v1/task"
_ENDS = frozenset({RecordType.TASK_RESULT})
_REPORTS = frozenset({RecordType.TASK_REPORT})


class _Shelf:
    """The stores of a persister, read beside it."""

    def __init__(self, url: str, warehouse: Path) -> None:
        self._database = ReportDatabase(url)
        self._reports = SqlReports(self._database)
        folder = warehouse / ".tidegate"
        self._logs = SegmentLogStore(self._database, folder, "reader", SystemClock())

    def ends(self, origin: RecordOrigin) -> Sequence[ReportRecord]:
        return self._reports.list(ReportQuery(types=_ENDS, origin=origin), 1_000)

    def reports(self, origin: RecordOrigin) -> Sequence[ReportRecord]:
        return self._reports.list(ReportQuery(types=_REPORTS, origin=origin), 1_000)

    def has(self, end: ReportRecord) -> bool:
        """Whether the report and the whole log of what has ended are stored, too."""
        query = ReportQuery(types=_REPORTS, subject=end.subject, attempt=end.attempt)
        return len(self._reports.list(query, 10)) == 1 and self.is_whole(end)

    def is_whole(self, end: ReportRecord) -> bool:
        span = self._logs.span(end.subject, end.attempt)
        return span is not None and span.is_whole

    def has_some(self, task: str) -> bool:
        return self._logs.span(task, 1) is not None

    def close(self) -> None:
        self._logs.close()
        self._database.close()


def _whole(shelf: _Shelf, origin: RecordOrigin, status: str, number: int = 1) -> set[str]:
    """Wait for so many ends of an origin with report and log; return what they are about."""

    def there() -> set[str]:
        ends = [each for each in shelf.ends(origin) if each.status == status]
        return {each.subject for each in ends if shelf.has(each)}

    wait_until(lambda: len(there()) >= number)
    return there()


def test_each_origin_has_its_report_and_its_log_in_the_store(
    broker: Broker, tmp_path: Path
) -> None:
    """Source: reports, "each origin has its report and log in the store"."""
    create_topic(broker.bootstrap, TOPIC)
    url, cluster = f"sqlite:///{tmp_path}/reports.db", Cluster(tmp_path / "c", light=True)
    cluster.more = {
        "TIDEGATE_REPORTS_KAFKA": broker.bootstrap,
        "TIDEGATE_REPORTS_PREFIX": "origins.",
        "TIDEGATE_REPORTS_URL": url,
    }
    own = {**cluster.more, "TIDEGATE_WAREHOUSE": str(cluster.warehouse)}
    wanted = _wanted(broker)
    with Persisters(tmp_path / "p", own) as persisters, running(cluster, ("w1", "w2")):
        persisters.start()
        shelf = _Shelf(url, cluster.warehouse)
        cluster.apply(wanted)
        for turn in range(2):
            first = turn * 100
            produce(broker.bootstrap, TOPIC, [record(n) for n in range(first, first + 100)])
            wait_until(lambda turn=turn: len(cluster.publications(TOPIC)) > turn)  # type: ignore[misc]  # bound

        # A replica that won, and one that lost.
        won = {str(each["taskId"]) for each in cluster.publications(TOPIC)}
        ended = _whole(shelf, RecordOrigin.STREAM, "SUCCESS", 4)
        assert won & ended
        assert ended - won

        compaction = _others(cluster, shelf)

        # A worker that is killed: what it had sent is there.
        wait_until(lambda: _at(cluster, "w2") is not None)
        lost = _at(cluster, "w2") or ""
        wait_until(lambda: shelf.has_some(lost))
        cluster.kill("w2")

        # A replica that failed: the light worker reads no such record.
        produce(broker.bootstrap, TOPIC, ["no json"])
        [failed, *_] = _whole(shelf, RecordOrigin.STREAM, "FAILED")
        for task in (compaction, "day:one", "day:one%2Fpack", failed, lost):
            answer = cluster.http.get(f"{TASK}/{task}/log")
            assert (answer.status_code, answer.content != b"") == (httpx.codes.OK, True)
        shelf.close()


def _wanted(broker: Broker) -> dict[str, JsonValue]:
    """Return a spec with the one column that a light worker writes; a compaction sorts by all."""
    wanted = spec(broker.bootstrap, TOPIC, task_count=1, replicas=2, task_duration="PT5S")
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    schema = sections["dataSchema"]
    assert isinstance(schema, dict)
    schema["dimensionsSpec"] = {"dimensions": ["id"]}
    return wanted


def _others(cluster: Cluster, shelf: _Shelf) -> str:
    """See a compaction, an execution with its step, and a supervisor; return the compaction."""
    table = f"/api/v1/datasources/{TOPIC}"
    begun = cluster.http.post(f"{table}/compact", json={"interval": "2026-01-01/2026-02-01"})
    assert begun.status_code in {httpx.codes.OK, httpx.codes.ACCEPTED}, begun.text
    [compaction, *_] = _whole(shelf, RecordOrigin.COMPACTION, "SUCCESS")
    flow = {"flow": "day", "steps": [{"name": "pack", "type": "noop"}]}
    wait_until(lambda: cluster.http.post("/api/v1/flows", json=flow).status_code == 200)
    cluster.http.post("/api/v1/flows/day/executions", json={"key": "one"}).raise_for_status()
    assert "day:one" in _whole(shelf, RecordOrigin.EXECUTION, "SUCCESS")
    steps = {each.subject for each in shelf.ends(RecordOrigin.EXECUTION)}
    assert "day:one/pack" in steps
    wait_until(lambda: len(shelf.reports(RecordOrigin.SUPERVISOR)) > 0)
    assert {each.subject for each in shelf.reports(RecordOrigin.SUPERVISOR)} == {TOPIC}
    return compaction


def _at(cluster: Cluster, worker: str) -> str | None:
    """Return a task that runs at a worker; None: none does now."""
    for each in cluster.tasks(TOPIC):
        location = each["location"]
        port = location.get("port") if isinstance(location, dict) else None
        if each["statusCode"] == "RUNNING" and port == cluster.worker_port(worker):
            return str(each["id"])
    return None
