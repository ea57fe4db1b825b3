"""Kafka as it is: transactions, holes, deleted records, deleted topics, a broker that dies.

A broker of its own, because it is killed, one overlord, one worker.  What is in the topic is told
by an independent reader; what is in the table by the ids in its files.

Slow: a broker of its own dies and comes back, and transactions time out in real time.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from pydantic import JsonValue

from supervisor.adapters.kafka.streams import LOOK_TIMEOUT_S
from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, new_broker, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

WITHIN_S = HANGS_AFTER_S
BIG = 3_000_000


@dataclass(frozen=True)
class Site:
    """The broker and the cluster that reads from it."""

    broker: Broker
    cluster: Cluster

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap

    def apply(self, topic: str, *, automatic: bool = False) -> None:
        """One group that reads until it is told to hand off."""
        document = spec(self.bootstrap, topic, task_count=1, task_duration="PT1H")
        if automatic:
            inner = document["spec"]
            assert isinstance(inner, dict)
            inner["tuningConfig"] = {"type": "kafka", "resetOffsetAutomatically": True}
        self.cluster.apply(document)

    def reads(self, topic: str, ends: dict[str, int] | None = None) -> None:
        """Wait until its tasks have journaled all there is, or up to `ends`."""
        ends = ends or ends_of(self.bootstrap, topic)
        wait_until(lambda: self.cluster.has_read(topic, ends), within_s=WITHIN_S)

    def publish(self, topic: str) -> None:
        """Suspend, and wait until all is published; its end comes hours before its timeouts do."""
        self.cluster.post(topic, "suspend")
        wait_until(lambda: self.cluster.is_suspended_and_quiet(topic), within_s=WITHIN_S)

    def state_why(self, topic: str, word: str) -> str:
        """Wait until the state says a word; return why, of the same answer.

        The next answer may say another: a task of a pass that began before Kafka was looked at
        starts, reads nothing and ends, and as long as it lives the supervisor is RUNNING.
        """
        reasons: list[str] = []

        def says() -> bool:
            status = self.cluster.status(topic)
            reasons[:] = [str(status["why"])]
            return status["detailedState"] == word

        wait_until(says, within_s=WITHIN_S)
        return reasons[0]

    def holds(self, topic: str) -> Counter[str]:
        """Ids of the table."""
        return ids_in_files(self.cluster.files(topic))

    def proves(self, topic: str) -> str:
        """Run `verify`, which finds nothing wrong; return what it said."""
        verified = self.cluster.tidegate("verify", topic)
        assert verified.returncode == 0, verified.stdout + verified.stderr
        return verified.stdout

    def failed(self, topic: str) -> list[dict[str, JsonValue]]:
        return [task for task in self.cluster.tasks(topic) if task["status"] == "FAILED"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    broker = new_broker(tmp_path_factory.mktemp("kafka"))
    broker.start()
    try:
        with running(Cluster(tmp_path_factory.mktemp("cluster"))) as cluster:
            yield Site(broker, cluster)
    finally:
        broker.stop()


def transactional(bootstrap: str, topic: str, name: str) -> Producer:
    """A producer with an open transaction."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"{topic}-{name}",
            "transaction.timeout.ms": 240_000,
            "log_level": 3,
        }
    )
    producer.init_transactions(60)
    producer.begin_transaction()
    return producer


def send(producer: Producer, topic: str, prefix: str, count: int) -> None:
    for number in range(count):
        producer.produce(topic, record(number, prefix), partition=0)
    assert not producer.flush(60)


def ids(prefix: str, count: int, first: int = 0) -> Counter[str]:
    return Counter(f"{prefix}-{number}" for number in range(first, count))


def test_transactions_end_in_progress_whatever_they_leave_in_the_log(site: Site) -> None:
    """Source: E9 (control records), E10 (aborted), E11 (hanging: the LSO stands)."""
    topic = "transactions"
    create_topic(site.bootstrap, topic, partitions=2)  # the second one stays empty (E12)
    dropped = transactional(site.bootstrap, topic, "dropped")
    send(dropped, topic, "aborted", 40)
    dropped.abort_transaction(60)
    kept = transactional(site.bootstrap, topic, "kept")
    send(kept, topic, "kept", 60)
    kept.commit_transaction(60)
    stable = ends_of(site.bootstrap, topic)
    assert stable == {"0": 102, "1": 0}  # a marker stands last
    hanging = transactional(site.bootstrap, topic, "hanging")
    send(hanging, topic, "hung", 5)
    produce(site.bootstrap, topic, (record(n, "after") for n in range(20)), partition=0)
    site.apply(topic)
    site.reads(topic, stable)
    wait_until(lambda: site.cluster.status(topic)["unstable"] == {"0": 25})
    assert site.cluster.status(topic)["latestOffsets"] == stable

    site.publish(topic)

    assert site.holds(topic) == ids("kept", 60)
    site.cluster.post(topic, "resume")
    wait_until(lambda: site.cluster.has_read(topic, stable), within_s=WITHIN_S)
    tasks = len(site.cluster.tasks(topic))
    hanging.commit_transaction(60)
    site.reads(topic)
    site.publish(topic)
    assert site.holds(topic) == ids("kept", 60) + ids("hung", 5) + ids("after", 20)
    assert site.holds(topic) == ids_in_topic(site.bootstrap, topic)
    assert (len(site.cluster.tasks(topic)), site.failed(topic)) == (tasks, [])
    site.proves(topic)


def test_records_of_several_megabytes_and_holes_of_compaction_are_read(site: Site) -> None:
    """Source: E12; a fetch that is smaller than one record must not stand still."""
    topic = "big-and-compacted"
    create_topic(
        site.bootstrap,
        topic,
        config={
            "max.message.bytes": str(4 * BIG),
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "segment.ms": "100",
            "max.compaction.lag.ms": "100",
        },
    )
    producer = Producer(
        {"bootstrap.servers": site.bootstrap, "message.max.bytes": 4 * BIG, "log_level": 3}
    )
    for number in range(200):
        producer.produce(topic, record(number), key=str(number % 10), partition=0)
    assert not producer.flush(60)
    big = json.loads(record(1, "big")) | {"text": "y" * BIG}
    producer.produce(topic, json.dumps(big), key="big", partition=0)
    assert not producer.flush(60)
    ticks = count()

    def compacted() -> bool:
        # The log is cut into segments, which alone are compacted, when a record comes late enough.
        producer.produce(topic, record(next(ticks), "tick"), key="tick", partition=0)
        assert not producer.flush(60)
        return ids_in_topic(site.bootstrap, topic)["r-0"] == 0

    wait_until(compacted)
    producer.produce(topic, record(7, "last"), key="last", partition=0)
    assert not producer.flush(60)
    site.apply(topic)
    site.reads(topic)

    site.publish(topic)

    table_ids = site.holds(topic)
    assert table_ids["big-1"] == table_ids["last-7"] == 1
    # The cleaner may go on meanwhile: what it leaves is a part of what was read.
    assert ids_in_topic(site.bootstrap, topic) <= table_ids
    assert set(table_ids.values()) == {1}
    assert site.failed(topic) == []


def test_deleted_records_are_told_by_number_and_lost_only_on_record(site: Site) -> None:
    """Source: E4."""
    topic = "deleted-records"
    create_topic(site.bootstrap, topic, partitions=1)
    produce(site.bootstrap, topic, (record(n) for n in range(100)))
    site.apply(topic)
    site.reads(topic)
    site.publish(topic)
    produce(site.bootstrap, topic, (record(n) for n in range(100, 200)))
    delete_before(site, topic, 150)
    site.cluster.post(topic, "resume")
    why = site.state_why(topic, "OFFSETS_UNREADABLE")
    assert f"{topic}:0: the next offset to read is 100, Kafka holds 150 to 200" in why
    assert "50 records are lost" in why
    tasks = len(site.cluster.tasks(topic))

    site.apply(topic, automatic=True)
    site.reads(topic)
    site.publish(topic)

    assert tasks <= 3  # the first range, and who tried before Kafka was looked at again
    assert site.holds(topic) == ids("r", 100) + ids("r", 200, first=150)
    gaps = site.cluster.ledger(topic)["gaps"]
    assert isinstance(gaps, list)
    assert [{k: g[k] for k in ("from", "to", "kind")} for g in gaps if isinstance(g, dict)] == [
        {"from": 100, "to": 150, "kind": "lost"}
    ]
    assert "50 offsets declared" in site.proves(topic)


def delete_before(site: Site, topic: str, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": site.bootstrap, "log_level": 0})
    for done in admin.delete_records([TopicPartition(topic, 0, offset)]).values():
        done.result(30)


def test_a_topic_that_was_made_anew_waits_for_a_reset(site: Site) -> None:
    """Source: E6, E7: with fewer partitions, and more records than were read before."""
    topic = "made-anew"
    create_topic(site.bootstrap, topic, partitions=2)
    produce(site.bootstrap, topic, (record(n) for n in range(100)))
    site.apply(topic)
    site.reads(topic)
    site.publish(topic)
    site.cluster.post(topic, "resume")
    delete_topic(site, topic)
    gone = site.state_why(topic, "TOPIC_GONE")
    refused = site.cluster.http.post(f"{SUPERVISORS}/{topic}/reset")
    create_topic(site.bootstrap, topic, partitions=1)
    produce(site.bootstrap, topic, (record(n, "new") for n in range(150)))
    anew = site.state_why(topic, "TOPIC_CHANGED")
    tasks = len(site.cluster.tasks(topic))

    for why in (gone, anew):
        assert f"{topic}:0 stands at 50, {topic}:1 stands at 50" in why
        assert f"`tidegate supervisor reset {topic}`" in why
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/topic-missing")
    reset = site.cluster.tidegate("supervisor", "reset", topic, "--yes")

    assert reset.returncode == 0, reset.stderr
    assert f"{topic}:1: from 50 to nowhere" in reset.stdout
    site.reads(topic)
    site.publish(topic)
    assert site.holds(topic) == ids("r", 100) + ids("new", 150)
    assert tasks <= 4  # no crash loop: the first range, the resumed one, and one more look at each
    site.proves(topic)


def delete_topic(site: Site, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": site.bootstrap, "log_level": 0})
    for done in admin.delete_topics([topic]).values():
        done.result(30)


def test_no_task_fails_while_the_broker_is_dead(site: Site) -> None:
    """Source: E2; kill -9, and a start on the same data."""
    topic = "dead-broker"
    create_topic(site.bootstrap, topic, partitions=2)
    produce(site.bootstrap, topic, (record(n) for n in range(500)))
    site.apply(topic)
    site.reads(topic)
    tasks = {str(task["id"]) for task in site.cluster.tasks(topic)}
    site.broker.kill()
    site.state_why(topic, "LOST_CONTACT_WITH_STREAM")
    began = time.monotonic()
    assert site.cluster.http.get(f"{SUPERVISORS}/{topic}/status").status_code == 200
    refused = site.cluster.http.post(f"{SUPERVISORS}/{topic}/reset")
    waited = time.monotonic() - began

    site.broker.start()
    produce(site.bootstrap, topic, (record(n) for n in range(500, 1_000)))
    site.reads(topic)
    site.publish(topic)

    assert refused.status_code == 503
    assert waited < LOOK_TIMEOUT_S, "the API waits for Kafka"
    assert {str(task["id"]) for task in site.cluster.tasks(topic)} == tasks
    assert site.failed(topic) == []
    assert site.holds(topic) == ids("r", 1_000)
    site.proves(topic)
