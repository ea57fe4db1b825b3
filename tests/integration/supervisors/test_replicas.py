"""Two replicas on two workers: one set of segments, and no file of the loser.

Slow: two workers with Spark start and read the same records.
"""

import os
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import (
    bad_in_files,
    bad_in_topic,
    ends_of,
    ids_in_files,
    ids_in_topic,
    spec,
    streaming,
)
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.pg, pytest.mark.long]


def test_of_two_replicas_one_publishes_and_both_succeed(
    broker: Broker, postgresql_database: str, tmp_path: Path
) -> None:
    """Goal: one winner per range (I3); redundant replicas end SUCCESS (PR #2656, demand 15)."""
    topic = "two-replicas"
    create_topic(broker.bootstrap, topic, partitions=6)
    wanted = spec(broker.bootstrap, topic, replicas=2, task_duration="PT6S")
    cluster = Cluster(tmp_path, metadata_url=postgresql_database)
    with running(cluster, workers=("w1", "w2")):
        flow = streaming(broker.bootstrap, topic, rate_per_s=2_000, total=30_000, bad_every=100)
        with flow as sent:
            cluster.apply(wanted)
            wait_until(lambda: sent.is_set() and len(cluster.publications(topic)) >= 2)
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))

        tasks = cluster.tasks(topic)
        publications = cluster.publications(topic)
        files = cluster.files(topic)
        in_table = ids_in_files(files)
        in_errors = bad_in_files(cluster.files(f"{topic}__errors"))
        wait_until(lambda: _folders(cluster, topic) == _winners(publications))
        verified = cluster.tidegate("verify", topic)
        compared = cluster.compared(topic)

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert in_errors == bad_in_topic(broker.bootstrap, topic)
    assert (sum(in_table.values()), sum(in_errors.values())) == (29_700, 300)
    assert {task["status"] for task in tasks} == {"SUCCESS"}
    assert {_replicas(tasks, str(p["taskId"])) for p in publications} == {2}
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert sum(compared.values()) == len(publications), "each range has one other replica"
    assert compared["same"] > 0, compared
    assert compared["other-rows"] == compared["other-records"] == 0


def _replicas(tasks: list[dict[str, JsonValue]], winner: str) -> int:
    """Return how many tasks read the winner's range; the last range may have been empty."""
    base = winner.rpartition("_")[0]
    return sum(str(task["id"]).rpartition("_")[0] == base for task in tasks)


def _folders(cluster: Cluster, topic: str) -> set[str]:
    data = cluster.warehouse / topic / "data"
    return {folder.name for folder in data.iterdir() if _has_rows(folder)}


def _has_rows(folder: Path) -> bool:
    """Look for a data file; unlike rglob, walk() takes it that the folder goes meanwhile."""
    return any(name.endswith(".parquet") for _, _, names in os.walk(folder) for name in names)


def _winners(publications: list[dict[str, JsonValue]]) -> set[str]:
    return {str(p["taskId"]) for p in publications if p["segments"]}
