"""How a batch ends that does not end well: cancelled, unreadable, unwritable; no file stays.

Slow: each test is a batch of Spark, and some wait for brokers that do not answer.
"""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from supervisor.dev.broker import Broker
from tasks.contract.kafka_client import SaslMechanism, SecretRef
from tasks.contract.messages import FailureCode
from tasks.ingest.engine import SparkEngine
from tasks.ports import BatchCancelled, StreamTimeout, TaskError
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import (
    batch,
    paths_below,
    places_of,
    record,
    spec_for,
)
from tests.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]


def test_a_cancelled_batch_leaves_no_file_and_can_be_read_again(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(n) for n in range(100_000)])
    job = batch(spec_for(broker.bootstrap), topic, {0: (0, 100_000)})
    folder = tmp_path / "clicks" / "data" / job.task_id / "b0-1"
    ended: list[BaseException] = []

    def read() -> None:
        try:
            engine.read_batch(job)
        except BatchCancelled as cancelled:
            ended.append(cancelled)

    reader = threading.Thread(target=read)
    reader.start()
    wait_until(lambda: any(folder.rglob("part-*")))  # its job writes
    engine.cancel(job.task_id)
    reader.join(30)

    assert not reader.is_alive()
    assert [type(error) for error in ended] == [BatchCancelled]
    assert not folder.exists()
    assert len(places_of(tmp_path, engine.read_batch(job).files)) == 100_000


def test_a_cancel_that_comes_before_the_job_counts(
    spark: SparkRuntime, broker: Broker, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: between the start of a batch and its job lie moments in which nothing can be killed."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(0)])
    job = batch(spec_for(broker.bootstrap), topic, {0: (0, 1)})
    engine = SparkEngine(spark, str(tmp_path), lambda _: cancelled_meanwhile())
    # The engine looks up secrets just before the job: a handy moment.
    login = {
        "sasl_mechanism": SaslMechanism.PLAIN,
        "sasl_username": "u",
        "sasl_password": SecretRef(environment="TIDEGATE_SECRET_X"),
    }
    client = job.spec.kafka.model_copy(update=login)
    job = batch(job.spec.model_copy(update={"kafka": client}), topic, {0: (0, 1)})

    def cancelled_meanwhile() -> str:
        engine.cancel(job.task_id)
        return ""

    with pytest.raises(BatchCancelled):
        engine.read_batch(job)

    assert paths_below(tmp_path) == {"clicks/README.txt"}
    # The thread's next job is none of the run's: Spark refuses all jobs of a cancelled group.
    assert spark.session.range(3).count() == 3


def test_a_cancel_of_a_task_that_runs_nothing_does_nothing(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(0)])
    job = batch(spec_for(broker.bootstrap), topic, {0: (0, 1)})

    engine.cancel(job.task_id)

    assert engine.read_batch(job).counters.processed == 1


def test_tasks_read_side_by_side(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topics = [new_topic(1) for _ in range(4)]
    for topic in topics:
        produce(broker.bootstrap, topic, [record(n) for n in range(500)])
    spec = spec_for(broker.bootstrap)
    rows: dict[str, int] = {}

    def read(topic: str) -> None:
        entry = engine.read_batch(batch(spec, topic, {0: (0, 500)}))
        rows[topic] = len(places_of(tmp_path, entry.files))

    readers = [threading.Thread(target=read, args=(topic,)) for topic in topics]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)

    assert rows == dict.fromkeys(topics, 500)


def test_a_task_of_many_partitions_keeps_its_consumers_whatever_a_batch_reads(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: what a poll may bring goes by the task's partitions, never by those of one batch."""
    many, few = 40, 3
    topic, spec = new_topic(many), spec_for(broker.bootstrap)
    for number in range(2):
        for partition in range(many if number == 0 else few):
            produce(broker.bootstrap, topic, [record(number)], partition=partition)
    whole = dict.fromkeys(range(many), (0, 1))
    rest = {p: (1, 2 if p < few else 1) for p in range(many)}

    entries = [
        engine.read_batch(batch(spec, topic, ranges, number=n))
        for n, ranges in enumerate((whole, rest))
    ]

    assert [len(places_of(tmp_path, entry.files)) for entry in entries] == [many, few]


def test_offsets_that_kafka_has_deleted_cannot_be_read(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a short read is a failure with the numbers, never a shorter batch (fault G10)."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(n) for n in range(100)])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.delete_records([TopicPartition(topic, 0, 60)]).values():
        done.result(30)

    with pytest.raises(TaskError) as failed:
        engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (10, 100)}))

    assert failed.value.code is FailureCode.OFFSETS_UNREADABLE
    assert f"{topic}:0 [10, 100)" in str(failed.value)
    assert paths_below(tmp_path) == {"clicks/README.txt"}


def test_offsets_that_do_not_exist_yet_cannot_be_read(
    spark: SparkRuntime, broker: Broker, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(n) for n in range(10)])
    engine = quick(spark, tmp_path)

    with pytest.raises((TaskError, StreamTimeout)):
        engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 20)}))

    assert paths_below(tmp_path) == {"clicks/README.txt"}


def test_a_topic_that_does_not_exist_cannot_be_read(
    spark: SparkRuntime, broker: Broker, tmp_path: Path
) -> None:
    job = batch(spec_for(broker.bootstrap), "no-such-topic", {0: (0, 20)})

    with pytest.raises((TaskError, StreamTimeout)):
        quick(spark, tmp_path).read_batch(job)


def test_brokers_that_do_not_answer_are_no_failure_of_the_task(
    spark: SparkRuntime, tmp_path: Path
) -> None:
    job = batch(spec_for("127.0.0.1:9"), "clicks", {0: (0, 20)})

    with pytest.raises(StreamTimeout, match=r"clicks:0 \[0, 20\)"):
        quick(spark, tmp_path).read_batch(job)


def quick(spark: SparkRuntime, warehouse: Path) -> SparkEngine:
    """An engine that waits for brokers for two seconds."""
    return SparkEngine(spark, str(warehouse), lambda _: "", poll_timeout=timedelta(seconds=2))


def test_a_folder_that_cannot_be_written_is_told_as_such(
    spark: SparkRuntime, broker: Broker, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(0)])
    (tmp_path / "clicks").write_text("a file where the table's folder should be")

    with pytest.raises(TaskError) as failed:
        quick(spark, tmp_path).read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 1)}))

    assert failed.value.code is FailureCode.WRITE_FAILED


def test_an_object_store_is_refused_until_it_is_built(spark: SparkRuntime) -> None:
    with pytest.raises(TaskError, match="s3"):
        SparkEngine(spark, "s3://bucket/warehouse", lambda _: "")
