"""Processes end in mid-stream, in good order or not: it goes on, nothing is lost or doubled."""

from collections.abc import Callable
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def _stop_everything(cluster: Cluster) -> None:
    assert cluster.stop("w1") == 0
    assert cluster.stop("overlord") == 0
    cluster.start_overlord()
    cluster.start_worker("w1")


def _kill_the_overlord(cluster: Cluster) -> None:
    cluster.kill("overlord")
    cluster.start_overlord()


def _kill_the_worker(cluster: Cluster) -> None:
    cluster.kill("w1")
    cluster.start_worker("w1")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("disturb", [_stop_everything, _kill_the_overlord, _kill_the_worker])
def test_a_process_that_ends_in_mid_stream_costs_no_record(
    broker: Broker, tmp_path: Path, disturb: Callable[[Cluster], None]
) -> None:
    """Goal: after SIGTERM of all, or kill -9 of one, each record is one row (I1, I2)."""
    topic = disturb.__name__.strip("_")
    create_topic(broker.bootstrap, topic, partitions=4)
    with running(Cluster(tmp_path)) as cluster:
        with streaming(broker.bootstrap, topic, rate_per_s=500) as _:
            cluster.apply(spec(broker.bootstrap, topic, task_duration="PT10S"))
            wait_until(lambda: len(cluster.publications(topic)) >= 2, within_s=120)
            wait_until(lambda: _reads(cluster, topic), within_s=60)
            disturb(cluster)
            before = len(cluster.publications(topic))
            wait_until(lambda: len(cluster.publications(topic)) >= before + 3, within_s=150)
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends), within_s=90)
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic), within_s=90)

        in_table = ids_in_files(cluster.files(topic))
        verified = cluster.tidegate("verify", topic)

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _reads(cluster: Cluster, topic: str) -> bool:
    """Whether some task has journaled rows that are not yet published."""
    tasks = cluster.status(topic)["activeTasks"]
    assert isinstance(tasks, list)
    return any(
        isinstance(task, dict)
        and task["currentOffsets"]
        and task["currentOffsets"] != task["startingOffsets"]
        for task in tasks
    )
