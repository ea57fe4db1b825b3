"""Records by a real broker: all of a batch or none counts, and what is away is named."""

import pytest

from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing, TransportAway
from tests.environment.brokers import create_topic, read_all

pytestmark = pytest.mark.kafka


def _transport(bootstrap: str, topic: str, within_s: float = 30.0) -> KafkaTransport:
    return KafkaTransport({"bootstrap.servers": bootstrap}, topic, "worker-1", within_s)


def test_a_batch_is_in_the_topic_when_it_counts_as_sent(broker: Broker) -> None:
    topic = "completed.sent"
    create_topic(broker.bootstrap, topic, partitions=4)
    transport = _transport(broker.bootstrap, topic)
    bodies = [b'{"seq": %d}' % number for number in range(500)]

    transport.send([Outgoing(f"task-{n % 7}", body) for n, body in enumerate(bodies)])
    transport.close()
    transport.send([Outgoing("task-1", b"after a close")])

    read = [body for held in read_all(broker.bootstrap, topic).values() for body in held]
    assert sorted(read) == sorted([*bodies, b"after a close"])
    assert transport.refused_total == 0


def test_a_record_that_is_too_large_is_left_out_and_counted(broker: Broker) -> None:
    topic = "completed.small"
    create_topic(broker.bootstrap, topic, config={"max.message.bytes": "2000"})
    transport = _transport(broker.bootstrap, topic)
    noise = b"".join(b"%x" % (n * n) for n in range(4_000))

    transport.send([Outgoing("a", b"first")])
    transport.send([Outgoing("a", noise)])
    transport.send([Outgoing("a", b"last")])

    assert read_all(broker.bootstrap, topic) == {0: [b"first", b"last"]}
    assert transport.refused_total == 1


def test_a_broker_that_is_away_is_named_with_what_to_check() -> None:
    transport = _transport(f"{LOOPBACK}:1", "completed.default", within_s=2.0)

    with pytest.raises(TransportAway, match=r"check bootstrap\.servers"):
        transport.send([Outgoing("a", b"1")])
    transport.close()
