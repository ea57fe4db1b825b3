"""A supervisor to which nothing comes holds no slot, and what comes then is read once.

Slow: a supervisor has to rest in real time before it is idle.
"""

from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ids_in_files, ids_in_topic, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "seldom"
OFTEN = {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}


def test_it_rests_while_nothing_comes_and_reads_each_record_once(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: over a rest, a restart of the overlord during it, and what wakes it."""
    create_topic(broker.bootstrap, TOPIC, partitions=2)
    produce(broker.bootstrap, TOPIC, (record(n) for n in range(1_000)))
    with running(Cluster(tmp_path, light=True, more=OFTEN)) as cluster:
        cluster.apply(_idling(broker.bootstrap))
        _comes_to_rest(cluster, 1_000)
        first = ids_in_files(cluster.files(TOPIC))
        cluster.kill("overlord")
        cluster.start_overlord()
        _comes_to_rest(cluster, 1_000)
        workers = cluster.http.get("/druid/indexer/v1/workers").json()
        produce(broker.bootstrap, TOPIC, (record(n) for n in range(1_000, 1_500)))
        wait_until(lambda: cluster.status(TOPIC)["state"] == "RUNNING")
        _comes_to_rest(cluster, 1_500)
        second = ids_in_files(cluster.files(TOPIC))
        verified = cluster.tidegate("verify", TOPIC)

    assert len(first) == 1_000
    assert [each["currCapacityUsed"] for each in workers] == [0]
    assert second == ids_in_topic(broker.bootstrap, TOPIC)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _idling(bootstrap: str) -> dict[str, JsonValue]:
    document = spec(bootstrap, TOPIC, task_duration="PT4S")
    inner = document["spec"]
    assert isinstance(inner, dict)
    source = inner["ioConfig"]
    assert isinstance(source, dict)
    source["idleConfig"] = {"enabled": True, "inactiveAfterMillis": 2_000}
    return document


def _comes_to_rest(cluster: Cluster, records: int) -> None:
    """Wait until all is published and no task is left."""

    def at_rest() -> bool:
        status = cluster.status(TOPIC)
        state = (status["state"], status["healthy"], status["activeTasks"], status["groups"])
        return state == ("IDLE", True, [], []) and len(_ids(cluster)) == records

    wait_until(at_rest)


def _ids(cluster: Cluster) -> list[str]:
    return list(ids_in_files(cluster.files(TOPIC)).elements())
