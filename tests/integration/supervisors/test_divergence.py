"""Two real workers of which one makes other rows of the same records (B11).

Slow: two workers read until their replicas differ, and hand off.
"""

from collections import Counter
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.chaos.processes.light_worker import DRIFT
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]


def test_of_two_replicas_that_differ_one_publishes_and_an_alert_is_raised(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: the table holds each record once, from one of them, and people hear of the other.

    Source: B11.
    """
    topic = "replicas-that-differ"
    create_topic(broker.bootstrap, topic, partitions=2)
    cluster = Cluster(tmp_path, light=True)
    with running(cluster, workers=("w1",)):
        cluster.more = {DRIFT: "-drifted"}
        cluster.start_worker("w2")
        # Until it is seen: of some ranges one replica still reads when the other publishes.
        with streaming(broker.bootstrap, topic, rate_per_s=500):
            cluster.apply(spec(broker.bootstrap, topic, replicas=2, task_duration="PT5S"))
            wait_until(lambda: _differing(cluster, topic) != [])
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))
        # A replica that was just asking to publish may come late, and is told of then.
        wait_until(lambda: _is_counted(cluster, topic))

        publications = cluster.publications(topic)
        ranges = _differing(cluster, topic)
        in_table = ids_in_files(cluster.files(topic))
        warnings = cluster.status(topic)["warnings"]
        explained = cluster.tidegate("supervisor", "explain", topic)
        audit = cluster.tidegate("audit", "--supervisor", topic)
        compared = cluster.compared(topic)

    read = Counter(name.removesuffix("-drifted") for name in in_table.elements())
    assert read == ids_in_topic(broker.bootstrap, topic), "each record once, by one of them"
    winners = {str(p["generationId"]): p["taskId"] for p in publications}
    for one in ranges:
        assert winners[str(one["id"])] == one["publishedBy"]
        others = one["diverged"]
        assert isinstance(others, list)
        assert len(others) == 1
        other = others[0]
        assert isinstance(other, dict)
        assert other["found"] == "other-rows"
        assert other["taskId"] != one["publishedBy"]
        assert other["digest"] != one["digest"]
    assert "different rows" in str(warnings)
    assert "different rows" in explained.stdout
    assert "alert" in audit.stdout
    assert compared["same"] == compared["other-records"] == 0


def _is_counted(cluster: Cluster, topic: str) -> bool:
    """Whether as many differences are counted as ranges tell of."""
    return cluster.compared(topic)["other-rows"] == len(_differing(cluster, topic))


def _differing(cluster: Cluster, topic: str) -> list[dict[str, JsonValue]]:
    answer = cluster.http.get(f"/api/v1/supervisors/{topic}/generations")
    if answer.status_code != 200:
        return []
    return [one for one in answer.json()["generations"] if one["diverged"]]
