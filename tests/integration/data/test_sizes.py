"""Ranges that end for their size or their age, long before taskDuration is over.

Slow: records have to come for as long as several ranges take.
"""

from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

RECORDS = 12_000
ROWS = 1_500


def test_full_ranges_are_published_while_reading_goes_on(broker: Broker, tmp_path: Path) -> None:
    """Goal: maxTotalRows bounds what a range holds, also after kill -9 of its worker.

    The rows of a range are those of its journal: a worker that goes on from it counts on.
    """
    topic = "sizes"
    create_topic(broker.bootstrap, topic, partitions=2)
    wanted = _limited(
        spec(broker.bootstrap, topic, task_count=2, task_duration="PT1H"),
        maxTotalRows=ROWS,
        batchRowsMax=500,
        batchRowsMin=100,
    )
    with running(Cluster(tmp_path, light=True)) as cluster:
        with streaming(broker.bootstrap, topic, rate_per_s=800, total=RECORDS) as sent:
            cluster.apply(wanted)
            wait_until(lambda: len(cluster.publications(topic)) >= 2)
            cluster.kill("w1")
            cluster.start_worker("w1")
            wait_until(lambda: sent.is_set() and len(cluster.publications(topic)) >= 4)
        full = cluster.publications(topic)
        reasons = _reasons(cluster, topic)
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))

        in_table = ids_in_files(cluster.files(topic))
        tasks = cluster.tasks(topic)

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert sum(in_table.values()) == RECORDS
    assert all(_rows(p) >= ROWS for p in full), [_rows(p) for p in full]
    assert reasons, "a plan says why"
    assert all(why.startswith(f"maxTotalRows of {ROWS:,} is reached") for why in reasons), reasons
    assert {task["status"] for task in tasks} == {"SUCCESS"}, "no task was replaced"


def test_a_full_time_chunk_is_published_while_reading_goes_on(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: maxRowsPerSegment bounds what a range holds of one chunk, also after kill -9."""
    topic = "chunks"
    create_topic(broker.bootstrap, topic, partitions=1)
    wanted = _limited(
        spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H"),
        maxRowsPerSegment=ROWS,
        batchRowsMax=500,
        batchRowsMin=100,
    )
    with running(Cluster(tmp_path, light=True)) as cluster:
        with streaming(broker.bootstrap, topic, rate_per_s=800, total=RECORDS // 2) as sent:
            cluster.apply(wanted)
            wait_until(lambda: len(cluster.publications(topic)) >= 1)
            cluster.kill("w1")
            cluster.start_worker("w1")
            wait_until(lambda: sent.is_set() and len(cluster.publications(topic)) >= 2)
        full = cluster.publications(topic)
        reasons = _reasons(cluster, topic)
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))
        in_table = ids_in_files(cluster.files(topic))

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert sum(in_table.values()) == RECORDS // 2
    assert all(_rows(p) >= ROWS for p in full), [_rows(p) for p in full]
    assert reasons, "a plan says why"
    assert all(why.startswith(f"maxRowsPerSegment of {ROWS:,} is reached") for why in reasons), (
        reasons
    )


def test_a_period_ends_ranges_before_task_duration(broker: Broker, tmp_path: Path) -> None:
    """Goal: intermediateHandoffPeriod publishes in between, and holds at once when it is set."""
    topic = "periods"
    create_topic(broker.bootstrap, topic, partitions=1)
    long = spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H")
    with running(Cluster(tmp_path, light=True)) as cluster:
        with streaming(broker.bootstrap, topic, rate_per_s=200):
            cluster.apply(long)
            wait_until(lambda: bool(_tasks_that_read(cluster, topic)))
            [reader] = _tasks_that_read(cluster, topic)
            cluster.apply(_limited(long, intermediateHandoffPeriod="PT3S"))
            wait_until(lambda: len(cluster.publications(topic)) >= 3)
        first = cluster.publications(topic)[0]
        reasons = _reasons(cluster, topic)
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))
        in_table = ids_in_files(cluster.files(topic))

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert first["taskId"] == reader, "the task that read when the limit came was not disturbed"
    assert set(reasons) == {"intermediateHandoffPeriod of 3 s is over"}


@pytest.mark.spark
def test_limits_of_size_and_age_hold_for_a_worker_with_spark(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: each limit ends ranges of itself; the successor reads on where its range ended."""
    topic = "limits-with-spark"
    create_topic(broker.bootstrap, topic, partitions=2)
    long = spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H")
    live: dict[str, JsonValue] = {"batchRowsMax": 200, "batchRowsMin": 50}
    with streaming(broker.bootstrap, topic, rate_per_s=100):
        cluster.apply(_limited(long, maxTotalRows=400, **live))
        wait_until(lambda: len(cluster.publications(topic)) >= 2)
        full = cluster.publications(topic)
        by_size = set(_reasons(cluster, topic))
        cluster.apply(_limited(long, intermediateHandoffPeriod="PT4S", **live))
        wait_until(lambda: _PERIOD in _reasons(cluster, topic))
        wait_until(lambda: len(cluster.publications(topic)) >= len(full) + 2)
    ends = ends_of(broker.bootstrap, topic)
    wait_until(lambda: cluster.has_read(topic, ends))
    reasons = set(_reasons(cluster, topic))
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))

    ranges = cluster.publications(topic)
    assert ids_in_files(cluster.files(topic)) == ids_in_topic(broker.bootstrap, topic)
    assert by_size
    assert all(why.startswith("maxTotalRows of 400 is reached") for why in by_size), by_size
    assert reasons - {_PERIOD} == {why for why in reasons if why.startswith("maxTotalRows")}
    assert all(_rows(one) >= 400 for one in full), [_rows(one) for one in full]
    assert len({one["taskId"] for one in ranges}) == len(ranges)
    for one, following in pairwise(ranges):
        assert following["start"] == one["end"]


_PERIOD = "intermediateHandoffPeriod of 4 s is over"


def _limited(wanted: dict[str, JsonValue], **tuning: JsonValue) -> dict[str, JsonValue]:
    inner = wanted["spec"]
    assert isinstance(inner, dict)
    return {**wanted, "spec": {**inner, "tuningConfig": {"type": "kafka", **tuning}}}


def _reasons(cluster: Cluster, supervisor_id: str) -> list[str]:
    """Return why handoffs began, as the stored plans tell."""
    answer = cluster.http.get(f"/api/v1/supervisors/{supervisor_id}/plans", params={"limit": 200})
    assert answer.status_code == httpx.codes.OK, answer.text
    actions = (action for plan in answer.json()["plans"] for action in plan["actions"])
    return [action["why"] for action in actions if action["action"] == "BeginHandoff"]


def _rows(publication: dict[str, JsonValue]) -> int:
    rows = publication["rows"]
    assert isinstance(rows, int)
    return rows


def _tasks_that_read(cluster: Cluster, supervisor_id: str) -> list[JsonValue]:
    tasks = cluster.status(supervisor_id)["activeTasks"]
    assert isinstance(tasks, list)
    found = [t for t in tasks if isinstance(t, dict)]
    return [t["id"] for t in found if t["currentOffsets"] not in ({}, t["startingOffsets"])]
