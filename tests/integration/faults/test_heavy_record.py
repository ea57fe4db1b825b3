"""One record that no JVM of its worker can hold: it is found and skipped, and all others are read.

Slow: the JVM of a real worker ends some five times and is started again.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

HEAVY_BYTES = 300 << 20
"""Of one text; some 30 KB on the wire.  The JVM of the test has 600 MB, and needs it twice."""

SMALL_HEAP = {"TIDEGATE_SPARK_HEAP": "600m", "TIDEGATE_WORKER_TIMEOUT": "PT5M"}
ZSTD: dict[str, str | int | bool] = {
    "compression.type": "zstd",
    "message.max.bytes": 2 * HEAVY_BYTES,
    "queue.buffering.max.kbytes": 2 * HEAVY_BYTES >> 10,
}
BEFORE, AFTER = 4, 8
WITHIN_S = 1_500.0


@dataclass
class Restarted:
    """A cluster whose worker is started again whenever it has ended."""

    cluster: Cluster
    topics: tuple[str, ...]
    ends: dict[str, dict[str, int]]
    restarts: int = 0
    whys: set[str] = field(default_factory=set)
    read_first: set[str] = field(default_factory=set)
    """Topics that were read to their end while another one was not."""

    def all_read(self) -> bool:
        child = self.cluster.children["w1"]
        if not child.alive():
            assert child.exit_code() == 1, child.log.read_text()[-4_000:]
            self.restarts += 1
            self.cluster.spawn("w1")
        for topic in self.topics:
            status = self.cluster.status(topic)
            if status["state"] == "UNHEALTHY_TASKS":
                self.whys.add(f"{topic}: {status['why']}")
        done = {t for t in self.topics if self.cluster.has_read(t, self.ends[t])}
        if len(done) < len(self.topics):
            self.read_first |= done
        return len(done) == len(self.topics)


def heavy_record() -> str:
    """Return a sound record that is much larger than the others."""
    return json.dumps(json.loads(record(0, "heavy")) | {"text": "x" * HEAVY_BYTES})


@pytest.mark.timeout(1_800)
def test_a_record_that_ends_the_jvm_each_time_is_skipped_and_nothing_else(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: a worker that would end again and again reads on, and its other table never waits long.

    Source: faults B16.
    """
    heavy, other = "heavy-record", "beside-a-heavy-record"
    for topic in (heavy, other):
        create_topic(broker.bootstrap, topic, partitions=1)
    produce(broker.bootstrap, heavy, (record(n) for n in range(BEFORE)))
    produce(broker.bootstrap, heavy, [heavy_record()], config=ZSTD)
    produce(broker.bootstrap, heavy, (record(n) for n in range(BEFORE, AFTER)))
    produce(broker.bootstrap, other, (record(n) for n in range(500)))
    ends = {topic: ends_of(broker.bootstrap, topic) for topic in (heavy, other)}
    with running(Cluster(tmp_path, more=SMALL_HEAP)) as cluster:
        for topic in (heavy, other):
            cluster.apply(spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H"))
        restarted = Restarted(cluster, (heavy, other), ends)
        wait_until(restarted.all_read, WITHIN_S)
        for topic in (heavy, other):
            _publish(cluster, topic)
        errors = cluster.http.get(f"{SUPERVISORS}/{heavy}/parseErrors").json()
        in_heavy, in_other = (ids_in_files(cluster.files(topic)) for topic in (heavy, other))
        rejected = [_rejected(cluster, topic) for topic in (heavy, other)]

    assert in_heavy == Counter({f"r-{n}": 1 for n in range(AFTER)})
    assert in_other == Counter({f"r-{n}": 1 for n in range(500)})
    assert rejected == [1, 0]
    assert restarted.restarts >= 3
    assert restarted.read_first == {other}
    assert any(f"{heavy}:0 [" in why for why in restarted.whys)
    assert not [why for why in restarted.whys if why.startswith(other)]
    assert [(e["details"][0], e["offset"]) for e in errors] == [("too-large", BEFORE)]


def _publish(cluster: Cluster, topic: str) -> None:
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))


def _rejected(cluster: Cluster, topic: str) -> int:
    return sum(_whole(each["rejected"]) for each in cluster.publications(topic))


def _whole(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value
