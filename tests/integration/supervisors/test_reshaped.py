"""A supervisor is reshaped while records arrive: more groups, more partitions, more replicas.

Slow: groups, partitions and replicas are added one after the other while records come.
"""

from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    NewPartitions,
)
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "reshaped"
_ADMIN_S = 30.0


def _generations(cluster: Cluster) -> list[dict[str, JsonValue]]:
    answer = cluster.http.get(f"/api/v1/supervisors/{TOPIC}/generations", params={"limit": 200})
    assert answer.status_code == httpx.codes.OK, answer.text
    found: list[dict[str, JsonValue]] = answer.json()["generations"]
    return found


def _replicas(generation: dict[str, JsonValue]) -> int:
    attempts = generation["attempts"]
    assert isinstance(attempts, list)
    return len({each["replica"] for each in attempts if isinstance(each, dict)})


def _has_published(cluster: Cluster, *, task_count: int, replicas: int) -> bool:
    """Whether each group of this many has published a range that it read so often."""
    groups = {
        generation["group"]
        for generation in _generations(cluster)
        if generation["publishedBy"] is not None
        and generation["records"]
        and generation["taskCount"] == task_count
        and _replicas(generation) == replicas
    }
    return groups == set(range(task_count))


def _published_partitions(cluster: Cluster) -> set[str]:
    committed = cluster.status(TOPIC)["committedOffsets"]
    assert isinstance(committed, dict)
    return {partition for partition, at in committed.items() if at}


def _add_partitions(bootstrap: str, total: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for future in admin.create_partitions([NewPartitions(TOPIC, total)]).values():
        future.result(_ADMIN_S)


def test_groups_partitions_and_replicas_are_added_while_records_arrive(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: across every seam each record is one row, and no task fails (E7, I1, I2, P14)."""
    create_topic(broker.bootstrap, TOPIC, partitions=2)

    def apply(task_count: int, replicas: int) -> None:
        cluster.apply(
            spec(
                broker.bootstrap,
                TOPIC,
                task_count=task_count,
                replicas=replicas,
                task_duration="PT5S",
            )
        )

    with running(Cluster(tmp_path, light=True, slots=8), workers=("w1", "w2")) as cluster:
        with streaming(broker.bootstrap, TOPIC, rate_per_s=200):
            apply(task_count=1, replicas=1)
            wait_until(lambda: _has_published(cluster, task_count=1, replicas=1))
            apply(task_count=2, replicas=1)
            wait_until(lambda: _has_published(cluster, task_count=2, replicas=1))
            _add_partitions(broker.bootstrap, 5)
            wait_until(lambda: _published_partitions(cluster) == set("01234"))
            apply(task_count=2, replicas=2)
            wait_until(lambda: _has_published(cluster, task_count=2, replicas=2))
        ends = ends_of(broker.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        lag = cluster.status(TOPIC)["aggregateLag"]
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))

        committed = cluster.status(TOPIC)["committedOffsets"]
        in_table = ids_in_files(cluster.files(TOPIC))
        statuses = {task["status"] for task in cluster.tasks(TOPIC)}
        verified = cluster.tidegate("verify", TOPIC)

    assert in_table == ids_in_topic(broker.bootstrap, TOPIC)
    assert (lag, committed) == (0, ends)
    assert statuses == {"SUCCESS"}
    assert verified.returncode == 0, verified.stdout + verified.stderr
