"""A supervisor that lags goes on at the end of its topic, and another reads the rest: each once.

Slow: two supervisors of one worker with Spark read the same topic to its end.
"""

import json
import signal
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

TOPIC, BEFORE, LATER = "caught-up-beside", 6_000, 1_000


def test_each_record_is_read_by_one_of_the_two(broker: Broker, tmp_path: Path) -> None:
    """Goal: over ranges that are published, read and not read at all when it is asked for."""
    create_topic(broker.bootstrap, TOPIC, partitions=2)
    produce(broker.bootstrap, TOPIC, (record(n) for n in range(BEFORE)))
    with running(Cluster(tmp_path, more=_PATIENT)) as cluster:
        cluster.apply(_lagging(broker.bootstrap))
        wait_until(lambda: len(cluster.publications(TOPIC)) >= 1, within_s=300)
        cluster.freeze("w1")  # else it may catch up while the command starts
        ran = cluster.tidegate(*_COMMAND)
        cluster.children["w1"].signal(signal.SIGCONT)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        backfill = json.loads(ran.stdout)
        own = backfill["backfillSupervisorId"]
        produce(broker.bootstrap, TOPIC, (record(n, "m") for n in range(LATER)))
        ends = ends_of(broker.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends), within_s=300)
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        wait_until(lambda: cluster.status(own)["state"] == "COMPLETED", within_s=300)
        verified = {name: cluster.tidegate("verify", name) for name in (TOPIC, own)}
        ids = ids_in_files(cluster.files(TOPIC))

    assert all(part["skipped"] > 0 for part in backfill["partitions"]), "it did not lag"
    assert [part["from"] > 0 for part in backfill["backfill"]] == [True, True]
    assert ids == ids_in_topic(broker.bootstrap, TOPIC)
    assert set(ids.values()) == {1}
    for answer in verified.values():
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert "proven" in answer.stdout
    assert f"{own} reads what is skipped" in verified[TOPIC].stderr


_PATIENT = {"TIDEGATE_WORKER_TIMEOUT": "PT10M"}
"""No task is replaced while its worker is stopped."""
_COMMAND = ("supervisor", "reset", TOPIC, "--to-latest", "--backfill", "--yes", "-o", "json")


def _lagging(bootstrap: str) -> dict[str, JsonValue]:
    """A spec that reads little at a time, and publishes often."""
    wanted = spec(bootstrap, TOPIC, task_count=1, task_duration="PT1H")
    inner = wanted["spec"]
    assert isinstance(inner, dict)
    tuning: JsonValue = {
        "type": "kafka",
        "maxTotalRows": 2_000,
        "batchRowsMax": 500,
        "batchRowsMin": 100,
    }
    return {**wanted, "spec": {**inner, "tuningConfig": tuning}}
