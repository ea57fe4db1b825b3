"""One look at a real broker for somebody who waits."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import Producer

from supervisor.adapters.kafka.probe import KafkaProbe
from supervisor.adapters.secrets import read_secret
from supervisor.core.planning.wished_offsets import TimedRecord
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.values.errors import SourceUnreadable
from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from tasks.contract.offsets import TopicPartition
from tests.environment.brokers import create_topic, produce
from tests.supervisor.core.snapshots import spec as spec_of_clicks

pytestmark = pytest.mark.kafka

PROBE = KafkaProbe(read_secret)
WITHIN = timedelta(seconds=20)


def source(bootstrap: str, **changed: object) -> KafkaIoConfig:
    servers = {"consumer_properties": {"bootstrap.servers": bootstrap}}
    return spec_of_clicks().io_config.model_copy(update=servers | changed)


def test_a_look_finds_each_partition_and_what_is_not_committed(broker: Broker) -> None:
    create_topic(broker.bootstrap, "probed-a", partitions=2)
    produce(broker.bootstrap, "probed-a", ["x"] * 3, partition=1)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "probed-a"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("probed-a", "y", partition=0)
    producer.flush(30)

    probed = PROBE.look(source(broker.bootstrap, topic="probed-a"), WITHIN)
    producer.abort_transaction(30)

    first, second = (TopicPartition("probed-a", number) for number in (0, 1))
    assert probed.earliest == {first: 0, second: 0}
    assert probed.latest == {first: 1, second: 3}
    assert probed.stable == {first: 0, second: 3}


def test_a_pattern_finds_every_topic_that_matches(broker: Broker) -> None:
    for name in ("probed-many-1", "probed-many-2", "probed-other"):
        create_topic(broker.bootstrap, name, partitions=1)
    many = {"topic": None, "topic_pattern": "probed-many-[0-9]"}
    none = {"topic": None, "topic_pattern": "probed-none-.*"}

    found = PROBE.look(source(broker.bootstrap, **many), WITHIN)

    assert {p.topic for p in found.earliest} == {"probed-many-1", "probed-many-2"}
    with pytest.raises(SourceUnreadable, match=r"matches probed-none-\.\*: create one"):
        PROBE.look(source(broker.bootstrap, **none), WITHIN)


def test_a_topic_that_is_not_there_is_named(broker: Broker) -> None:
    message = r"topic probed-missing does not exist on .*: create one, or correct ioConfig\.topic$"
    with pytest.raises(SourceUnreadable, match=message):
        PROBE.look(source(broker.bootstrap, topic="probed-missing"), WITHIN)


def test_a_time_finds_the_first_committed_record_of_then_or_later(broker: Broker) -> None:
    """Goal: neither a time before 1970 nor an open transaction gives another record."""
    create_topic(broker.bootstrap, "probed-times", partitions=2)
    first, second = (TopicPartition("probed-times", number) for number in (0, 1))
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for millis in (1_000, 2_000, 3_000):
        producer.produce("probed-times", "x", partition=0, timestamp=millis)
    producer.flush(30)
    opened = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "probed-times"})
    opened.init_transactions(30)
    opened.begin_transaction()
    opened.produce("probed-times", "y", partition=1, timestamp=2_000)
    opened.flush(30)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)

    def records(seconds: float) -> dict[TopicPartition, TimedRecord]:
        wanted = source(broker.bootstrap, topic="probed-times")
        at = epoch + timedelta(seconds=seconds)
        return dict(PROBE.look_at(wanted, at, WITHIN).records)

    exact, between, early, late = (records(at) for at in (2, 1.0001, -86_400, 3.5))
    opened.abort_transaction(30)

    assert exact == {first: TimedRecord(1, epoch + timedelta(seconds=2))}
    assert between == exact
    assert early == {first: TimedRecord(0, epoch + timedelta(seconds=1))}
    assert late == {}
    assert second not in exact, "its only record is behind an open transaction"


def test_a_look_at_nobody_ends_in_time() -> None:
    """Goal: whoever waits is told within the time that was given, and a little."""
    nobody = f"{LOOPBACK}:{free_port()}"
    began = time.monotonic()

    with pytest.raises(SourceUnreadable, match=f"no answer from {nobody}"):
        PROBE.look(source(nobody, topic="probed-nobody"), timedelta(seconds=1))

    assert time.monotonic() - began < WITHIN.total_seconds()


def test_a_secret_that_is_not_set_is_named() -> None:
    properties = {
        "bootstrap.servers": "localhost:9092",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "ann",
        "druid.dynamic.config.provider": {
            "type": "environment",
            "variables": {"sasl.password": "TIDEGATE_SECRET_PROBED"},
        },
    }

    with pytest.raises(SourceUnreadable, match="TIDEGATE_SECRET_PROBED"):
        PROBE.look(source("", topic="probed-secret", consumer_properties=properties), WITHIN)
