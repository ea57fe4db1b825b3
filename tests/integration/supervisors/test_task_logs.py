"""A task's log and reports, read while it runs and after it has published; and a task ended."""

import httpx
import pytest

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TASK = "/druid/indexer/v1/task"
RECORDS = 3_000
LIFE = (
    "the task begins",
    "a batch is journaled",
    "it is to pause",
    "its end is fixed",
    "its segments are written",
    "it asked to publish",
    "the task has succeeded",
)


def _log(cluster: Cluster, task_id: str) -> str:
    answer = cluster.http.get(f"{TASK}/{task_id}/log")
    return answer.text if answer.status_code == httpx.codes.OK else ""


def _processed(cluster: Cluster, task_id: str) -> int:
    answer = cluster.http.get(f"{TASK}/{task_id}/reports")
    assert answer.status_code == httpx.codes.OK, answer.text
    stats = answer.json()["ingestionStatsAndErrors"]["payload"]["rowStats"]
    return int(stats.get("totals", stats)["buildSegments"]["processed"])


def _running(cluster: Cluster, table: str) -> list[str]:
    return [str(row["id"]) for row in cluster.tasks(table) if row["statusCode"] == "RUNNING"]


def test_a_task_tells_of_itself_live_and_after_its_end(broker: Broker, cluster: Cluster) -> None:
    """Goal: ended by hand in between, the table still has each record once."""
    topic = "told-in-logs"
    create_topic(broker.bootstrap, topic, partitions=1)
    with streaming(broker.bootstrap, topic, rate_per_s=1_000, total=RECORDS) as sent:
        cluster.apply(spec(broker.bootstrap, topic, task_duration="PT1H"))
        wait_until(sent.is_set)
    ends = ends_of(broker.bootstrap, topic)
    wait_until(lambda: cluster.has_read(topic, ends))
    [stopped] = _running(cluster, topic)

    assert _processed(cluster, stopped) == RECORDS
    assert "a batch is journaled" in _log(cluster, stopped)
    answer = cluster.http.post(f"{TASK}/{stopped}/shutdown")
    assert answer.status_code == httpx.codes.OK
    wait_until(lambda: bool(_running(cluster, topic)))
    wait_until(lambda: cluster.has_read(topic, ends))
    [task_id] = _running(cluster, topic)
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))

    wait_until(lambda: "the task has succeeded" in _log(cluster, task_id), within_s=20)
    log_text = _log(cluster, task_id)
    assert [part for part in LIFE if part not in log_text] == []
    assert f"supervisor={topic}" in log_text
    assert _processed(cluster, task_id) == RECORDS
    assert "it is to stop" in _log(cluster, stopped)
    assert _processed(cluster, stopped) == RECORDS
    shown = cluster.tidegate("task", "logs", task_id)
    assert (shown.returncode, shown.stdout) == (0, log_text), shown.stderr
    assert ids_in_files(cluster.files(topic)) == ids_in_topic(broker.bootstrap, topic)
