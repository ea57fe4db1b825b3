"""Kafka as a task sees it: a real broker, and no broker at all."""

import time

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from supervisor.dev.broker import Broker
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol
from tasks.contract.messages import FailureCode
from tasks.contract.offsets import TopicPartition
from tasks.kafka.stream import CutOff, KafkaStream, environment_secret, settled
from tasks.ports import StreamTimeout, StreamView, TaskError
from tests.environment.brokers import create_topic, produce
from tests.waiting import wait_until


def partitions(topic: str, number: int) -> list[TopicPartition]:
    return [TopicPartition(topic, n) for n in range(number)]


@pytest.mark.kafka
def test_a_look_brings_offsets_and_the_topics_id(broker: Broker) -> None:
    create_topic(broker.bootstrap, "seen", partitions=2)
    produce(broker.bootstrap, "seen", [b"x"] * 7, partition=1)

    view = KafkaStream().look(
        KafkaClient(bootstrap_servers=broker.bootstrap), partitions("seen", 2)
    )

    first, second = partitions("seen", 2)
    assert view.earliest == {first: 0, second: 0}
    assert view.stable == {first: 0, second: 7}
    assert set(view.topic_ids) == {"seen"}
    assert view.topic_ids["seen"]


@pytest.mark.kafka
def test_records_of_an_open_transaction_are_not_stable(broker: Broker) -> None:
    """Source: protocol rule P10."""
    create_topic(broker.bootstrap, "open", partitions=1)
    stream, client = KafkaStream(), KafkaClient(bootstrap_servers=broker.bootstrap)
    [partition] = partitions("open", 1)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "t"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("open", b"x")
    producer.flush(30)
    assert stream.look(client, [partition]).stable == {partition: 0}

    producer.commit_transaction(30)

    # One record and the transaction's marker.
    wait_until(lambda: stream.look(client, [partition]).stable == {partition: 2})


@pytest.mark.kafka
def test_a_recreated_topic_has_another_id(broker: Broker) -> None:
    """Source: protocol rule P11."""
    create_topic(broker.bootstrap, "again", partitions=1)
    stream, client = KafkaStream(), KafkaClient(bootstrap_servers=broker.bootstrap)
    before = stream.look(client, partitions("again", 1)).topic_ids
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics(["again"])["again"].result(30)
    create_topic(broker.bootstrap, "again", partitions=1)

    assert stream.look(client, partitions("again", 1)).topic_ids != before


@pytest.mark.kafka
@pytest.mark.parametrize("missing", [("absent", 0), ("few", 5)])
def test_a_topic_or_partition_that_does_not_exist_is_a_fact(
    broker: Broker, missing: tuple[str, int]
) -> None:
    if missing[0] == "few":
        create_topic(broker.bootstrap, "few", partitions=1)
    client = KafkaClient(bootstrap_servers=broker.bootstrap)

    with pytest.raises(TaskError, match=missing[0]) as caught:
        KafkaStream(timeout_s=30, patience_s=1).look(client, [missing])

    assert caught.value.code is FailureCode.OFFSETS_UNREADABLE


def test_a_look_that_was_cut_off_takes_nothing_back() -> None:
    """Source: a run on a busy machine, whose last try had 0.1 s left."""
    missing = TaskError(FailureCode.OFFSETS_UNREADABLE, "absent:0 does not exist")
    answers = iter([missing, CutOff("no answer within the deadline")])

    def look() -> StreamView:
        raise next(answers)

    with pytest.raises(TaskError, match="absent"):
        settled(look, time.monotonic() + 0.9)


def test_a_topic_that_comes_while_it_is_looked_for_is_there() -> None:
    view = StreamView({}, {}, {"new": "id"})
    there = iter([False, True])

    def look() -> StreamView:
        if not next(there):
            raise TaskError(FailureCode.OFFSETS_UNREADABLE, "new does not exist")
        return view

    assert settled(look, time.monotonic() + 60) == view


def test_no_broker_is_an_answer_within_the_deadline() -> None:
    """Source: faults R11: no Kafka call without a deadline."""
    client = KafkaClient(bootstrap_servers="127.0.0.1:1")
    began = time.monotonic()

    with pytest.raises(StreamTimeout):
        KafkaStream(timeout_s=0.5).look(client, partitions("any", 1))

    assert time.monotonic() - began < 5


def test_a_secret_that_this_worker_does_not_have_refuses_the_task() -> None:
    client = KafkaClient(
        bootstrap_servers="127.0.0.1:1",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl_mechanism=SaslMechanism.PLAIN,
        sasl_username="u",
        sasl_password=SecretRef(environment="TIDEGATE_SECRET_NOT_SET_HERE"),
    )

    with pytest.raises(TaskError, match="TIDEGATE_SECRET_NOT_SET_HERE") as caught:
        KafkaStream().look(client, partitions("any", 1))

    assert caught.value.code is FailureCode.REFUSED


def test_a_secret_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_SECRET_ONE", "s3cret")

    assert environment_secret(SecretRef(environment="TIDEGATE_SECRET_ONE")) == "s3cret"


def test_properties_that_the_client_refuses_refuse_the_task() -> None:
    client = KafkaClient(
        bootstrap_servers="127.0.0.1:1",
        security_protocol=SecurityProtocol.SSL,
        ssl_ca_pem="no certificate",
    )

    with pytest.raises(TaskError) as caught:
        KafkaStream().look(client, partitions("any", 1))

    assert caught.value.code is FailureCode.REFUSED
