"""Everything is killed again and again, nobody cleans up: no file is left that nothing names.

Slow: a worker is killed six times, and grace times run out.
"""

import os
import random
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import START_WITHIN_S, Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.pg, pytest.mark.chaos, pytest.mark.long]
KILLS = int(os.environ.get("TIDEGATE_TEST_KILLS", "6"))
SPARK = bool(os.environ.get("TIDEGATE_TEST_SPARK"))
"""Workers with their JVMs, by hand: each needs half a minute to come back on a small machine."""
SEED = 20
NAMES = ("overlord", "w1", "w2")
WEIGHTS = (4, 3, 3)


@pytest.mark.timeout(1800)
def test_after_kills_and_the_grace_time_the_warehouse_holds_what_is_named(
    broker: Broker, postgresql_database: str, tmp_path: Path
) -> None:
    """Goal: workers and overlords killed at random in mid-stream, replicas 2; no orphan (P23)."""
    topic = "no-orphans"
    create_topic(broker.bootstrap, topic, partitions=6)
    wanted = spec(broker.bootstrap, topic, replicas=2, task_duration="PT10S")
    cluster = Cluster(
        tmp_path,
        metadata_url=postgresql_database,
        more={"TIDEGATE_SWEEP_PERIOD": "PT10S", "TIDEGATE_WORKER_TIMEOUT": "PT8S"},
        light=not SPARK,
    )
    with running(cluster, workers=("w1", "w2")):
        with streaming(broker.bootstrap, topic, rate_per_s=300):
            cluster.apply(wanted)
            _lose_a_worker(cluster, topic)
            _kill_at_random(cluster, topic)
            wait_until(lambda: all(cluster.serves(name) for name in NAMES))
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.leads() and cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))
        wait_until(cluster.is_settled)

        files = cluster.tidegate("verify", "--files", "--strict")
        rows = cluster.tidegate("verify", topic)
        in_table = ids_in_files(cluster.files(topic))
        tasks = cluster.tasks(topic)

    assert files.returncode == 0, files.stdout + files.stderr
    assert rows.returncode == 0, rows.stdout + rows.stderr
    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert "FAILED" in _statuses(tasks)


def _lose_a_worker(cluster: Cluster, topic: str) -> None:
    """Let one stay away until its tasks are given up: else all may be gone on with."""
    _waits_until_more_is_read(cluster, topic)
    cluster.kill("w1")
    wait_until(lambda: "FAILED" in _statuses(cluster.tasks(topic)))
    cluster.spawn("w1")


def _statuses(tasks: list[dict[str, JsonValue]]) -> set[JsonValue]:
    return {task["status"] for task in tasks}


def _kill_at_random(cluster: Cluster, topic: str) -> None:
    """Kill one of the processes whenever the reading has got on, and start it again at once."""
    chance = random.Random(SEED)
    for _ in range(KILLS):
        _waits_until_more_is_read(cluster, topic)
        [victim] = chance.choices(NAMES, WEIGHTS)
        cluster.kill(victim)
        cluster.spawn(victim)


def _waits_until_more_is_read(cluster: Cluster, topic: str) -> None:
    before = _read_so_far(cluster, topic)
    # Both workers may have been killed, one after the other: then one has to start first.
    within_s = START_WITHIN_S + 60
    wait_until(lambda: _read_so_far(cluster, topic) > before, within_s=within_s)


def _read_so_far(cluster: Cluster, topic: str) -> int:
    """Return the sum of the positions that the running tasks have told; 0: nobody says."""
    try:
        tasks = cluster.status(topic)["activeTasks"]
    except (httpx.HTTPError, AssertionError):
        return 0  # the overlord is away, or does not lead yet
    assert isinstance(tasks, list)
    best: dict[str, int] = {}
    for task in tasks:
        assert isinstance(task, dict)
        current = task["currentOffsets"]
        assert isinstance(current, dict)
        for partition, offset in current.items():
            best[partition] = max(best.get(partition, 0), int(str(offset)))
    return sum(best.values())
