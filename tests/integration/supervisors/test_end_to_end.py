"""The main job with real parts: records in, a table out, each record exactly once.

Slow: 200,000 records come at a steady pace over three handoffs.
"""

import pytest

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_every_record_becomes_one_row_over_several_handoffs(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: 200,000 records, 6 partitions, 2 groups, at least 3 handoffs each, then suspended."""
    topic = "many-handoffs"
    create_topic(broker.bootstrap, topic, partitions=6)
    with streaming(broker.bootstrap, topic, rate_per_s=5_000, total=200_000) as sent:
        cluster.apply(spec(broker.bootstrap, topic, task_duration="PT10S"))
        wait_until(lambda: sent.is_set() and _handoffs(cluster, topic) >= 3, within_s=240)
    ends = ends_of(broker.bootstrap, topic)
    wait_until(lambda: cluster.has_read(topic, ends))
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))

    in_table = ids_in_files(cluster.files(topic))
    verified = cluster.tidegate("verify", topic)

    in_topic = ids_in_topic(broker.bootstrap, topic)
    assert len(in_topic) == 200_000
    assert in_table == in_topic
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _handoffs(cluster: Cluster, topic: str) -> int:
    """Return how often the group that did so least often has handed off and published."""
    published: dict[str, int] = {"even": 0, "odd": 0}
    for publication in cluster.publications(topic):
        start = publication["start"]
        assert isinstance(start, dict)
        published["even" if f"{topic}:0" in start else "odd"] += 1
    return min(published.values())
