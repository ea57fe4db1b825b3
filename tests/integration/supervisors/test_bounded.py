"""A supervisor of fixed ranges: it reads them once, whatever comes after, and is COMPLETED.

Slow: it reads a topic to its bound over a kill.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce, read_all
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ids_in_files, record, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

THERE, LATER = 6_000, 6_000
START, END, MORE = 100, 3_500, 4_500


def test_a_range_is_read_once_whatever_happens_meanwhile(broker: Broker, tmp_path: Path) -> None:
    """Goal: exactly the offsets that were asked for, over handoffs and kill -9 of the worker.

    The end lies beyond the topic's end at first; of three partitions two are named.
    """
    topic = "bounded"
    create_topic(broker.bootstrap, topic, partitions=3)
    produce(broker.bootstrap, topic, (record(n) for n in range(THERE)))
    with running(Cluster(tmp_path, light=True)) as cluster:
        cluster.apply(_bounded(broker.bootstrap, topic, END))
        wait_until(lambda: len(cluster.publications(topic)) >= 1)
        before = cluster.status(topic)
        cluster.kill("w1")
        with streaming(broker.bootstrap, topic, rate_per_s=2_000, total=LATER):
            cluster.start_worker("w1")
            wait_until(lambda: cluster.status(topic)["state"] == "COMPLETED")
        first = ids_in_files(cluster.files(topic))
        done = cluster.status(topic)
        cluster.stop("overlord")
        cluster.start_overlord()
        wait_until(lambda: cluster.status(topic)["state"] == "COMPLETED")
        cluster.apply(_bounded(broker.bootstrap, topic, END))
        again = cluster.status(topic)
        verified = cluster.tidegate("verify", topic)

        produce(broker.bootstrap, topic, (record(n, "m") for n in range(LATER)))
        cluster.apply(_bounded(broker.bootstrap, topic, MORE))
        wait_until(lambda: _is_committed_to(cluster, topic, MORE))
        wait_until(lambda: cluster.status(topic)["state"] == "COMPLETED")
        second = ids_in_files(cluster.files(topic))

    assert before["state"] == "RUNNING", "its end was not there yet"
    assert first == _ids(broker.bootstrap, topic, END)
    assert (done["healthy"], done["activeTasks"], done["groups"]) == (True, [], [])
    assert (done["aggregateLag"], done["minimumLag"]) == (0, {"0": 0, "2": 0})
    assert (again["state"], again["version"]) == ("COMPLETED", 1)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert second == _ids(broker.bootstrap, topic, MORE)


def _bounded(bootstrap: str, topic: str, end: int) -> dict[str, JsonValue]:
    wanted = spec(bootstrap, topic, task_count=2, task_duration="PT5S")
    inner = wanted["spec"]
    assert isinstance(inner, dict)
    source = inner["ioConfig"]
    assert isinstance(source, dict)
    bounds: dict[str, JsonValue] = {
        "startSequenceNumbers": {"0": START, "2": START},
        "endSequenceNumbers": {"0": end, "2": end},
    }
    return {
        **wanted,
        "spec": {
            **inner,
            "ioConfig": {**source, "boundedStreamConfig": bounds},
            "tuningConfig": {
                "type": "kafka",
                "maxTotalRows": 1_000,
                "batchRowsMax": 400,
                "batchRowsMin": 100,
            },
        },
    }


def _is_committed_to(cluster: Cluster, supervisor_id: str, end: int) -> bool:
    return cluster.status(supervisor_id)["committedOffsets"] == {"0": end, "2": end}


def _ids(bootstrap: str, topic: str, end: int) -> Counter[str]:
    """The ids of the ranges, as another reader finds them; the topic has no holes."""
    values = read_all(bootstrap, topic)
    return Counter(json.loads(v)["id"] for p in (0, 2) for v in values[p][START:end])
