"""Processes end in mid-stream, in good order or not: it goes on, nothing is lost or doubled.

Slow: a worker with Spark starts four times.
"""

from pathlib import Path

import pytest

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

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
TOPIC = "restarts"


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


def test_processes_that_end_in_mid_stream_cost_no_record(broker: Broker, tmp_path: Path) -> None:
    """Goal: after SIGTERM of all, and kill -9 of each, each record is one row (I1, I2, P23).

    Or, if it cannot be read, one row of the errors table.
    """
    create_topic(broker.bootstrap, TOPIC, partitions=4)
    with running(Cluster(tmp_path)) as cluster:
        with streaming(broker.bootstrap, TOPIC, rate_per_s=500, bad_every=37) as _:
            cluster.apply(spec(broker.bootstrap, TOPIC, task_duration="PT5S"))
            for disturb in (_kill_the_overlord, _kill_the_worker, _stop_everything):
                _publishes_more(cluster, 2)
                wait_until(lambda: _reads(cluster))
                disturb(cluster)
            _publishes_more(cluster, 3)
        ends = ends_of(broker.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        wait_until(cluster.is_settled)

        in_table = ids_in_files(cluster.files(TOPIC))
        in_errors = bad_in_files(cluster.files(f"{TOPIC}__errors"))
        rows = cluster.tidegate("verify", TOPIC)
        files = cluster.tidegate("verify", "--files", "--strict")

    assert in_table == ids_in_topic(broker.bootstrap, TOPIC)
    assert in_errors == bad_in_topic(broker.bootstrap, TOPIC)
    assert rows.returncode == 0, rows.stdout + rows.stderr
    assert files.returncode == 0, files.stdout + files.stderr


def _publishes_more(cluster: Cluster, number: int) -> None:
    before = len(cluster.publications(TOPIC))
    wait_until(lambda: len(cluster.publications(TOPIC)) >= before + number)


def _reads(cluster: Cluster) -> bool:
    """Whether some task has journaled rows that are not yet published."""
    tasks = cluster.status(TOPIC)["activeTasks"]
    assert isinstance(tasks, list)
    return any(
        isinstance(task, dict)
        and task["currentOffsets"]
        and task["currentOffsets"] != task["startingOffsets"]
        for task in tasks
    )
